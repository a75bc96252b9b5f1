"""Secrets go, everything else stays."""

import base64
import hashlib
import uuid

import pytest

from batonpass.handoff import gitleaks
from batonpass.handoff.redact import RULES, _redact, cut, redact

# Put together here so that no scanner takes this file for a leak.
LETTERS = "Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr9St0Uv1Wx2Yz3Ab4Cd5Ef6Gh7Ij8Kl9Mn0"
SECRETS = {
    "private-key": "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq9\nabcd+/==\n-----END RSA PRIVATE KEY-----",
    "url-password": "hunter2",
    "authorization": "abcdef0123456789abcdef",
    "anthropic-key": f"sk-ant-api03-{LETTERS}",
    "openai-key": f"sk-proj-{LETTERS}",
    "aws-access-key": "AKIA" + "IOSFODNN7EXAMPLQ",
    "github-token": f"ghp_{LETTERS[:36]}",
    "gitlab-token": f"glpat-{LETTERS[:20]}",
    "slack-token": "xoxb-" + "123456789012-abcdefghijkl",
    "slack-webhook": "T00000000/B00000000/" + LETTERS[:24],
    "google-key": f"AIza{LETTERS[:35]}",
    "google-oauth": f"GOCSPX-{LETTERS[:28]}",
    "npm-token": f"npm_{LETTERS[:36]}",
    "pypi-token": f"pypi-AgEIcHlwaS5vcmc{LETTERS}",
    "huggingface-token": f"hf_{LETTERS[:34]}",
    "stripe-key": f"sk_live_{LETTERS[:24]}",
    "sendgrid-key": f"SG.{LETTERS[:22]}.{LETTERS[:43]}",
    "telegram-token": f"110201543:AA{LETTERS[:33]}",
    "jwt": f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.{LETTERS[:30]}",
}
AROUND = {
    "url-password": "postgres://app:{}@db:5432/app",
    "authorization": "curl -H 'Authorization: Bearer {}' x",
    "slack-webhook": "https://hooks.slack.com/services/{}",
}


@pytest.mark.parametrize("rule", [rule.name for rule in RULES])
def test_each_kind_of_secret_is_taken_out_and_the_rest_stays(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gitleaks, "_worth_trying", lambda low: [])
    frame = AROUND.get(rule, "before {} after")
    text = frame.format(SECRETS[rule])
    assert _redact(text, ()) == (frame.format(f"[REDACTED:{rule}]"), {rule: 1})


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("JWT_SECRET=supersecret", "supersecret"),
        ("export DB_PASSWORD=hunter2", "hunter2"),
        ('DB_PASSWORD = "correct horse battery"', "correct horse battery"),
        ('  "client_secret": "s3cr3tvalue",', "s3cr3tvalue"),
        ("password: hunter22", "hunter22"),
        ("api_key: 'a1b2c3d4e5'", "a1b2c3d4e5"),
        ("DB_TOKEN='TOKEN'", "'TOKEN'"),
        ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "wJalrXUtnFEMI"),
    ],
)
def test_a_value_whose_name_says_secret_is_taken_out(line: str, value: str) -> None:
    text, counts = redact(line)
    assert value not in text
    assert counts == {"named-secret": 1}
    assert text.split("[")[0] in line


@pytest.mark.parametrize(
    "line",
    [
        "Token usage: 63153/200000; 136847 remaining",
        "max_tokens=4096 tokens: 140,000",
        "token: string; token = self.next_token; password = getpass()",
        "secret_name: my-thing-01",
        "Must store secret in vault first: mcp_meta_set_secret",
        "- Environment variables: JWT_SECRET, REFRESH_TOKEN_EXPIRY set",
        "PASSWORD=${DB_PASS} token=<your token> secret: '***'",
        "- Use JWT instead of session-based auth; store tokens in httpOnly cookies",
        "password: os.environ['DB_PASSWORD']",
        "https://example.org:8080/path@2 and git@github.com:a/b.git",
        "Bearer tokens are checked in the middleware",
        "sk-learn-contrib-something-long-without-digits",
    ],
)
def test_plain_work_is_no_secret(line: str) -> None:
    assert redact(line) == (line, {})


def test_hashes_uuids_and_blobs_survive() -> None:
    lines = []
    for number in range(1_500):
        digest = hashlib.sha512(str(number).encode()).digest()
        sha1, sha256 = hashlib.sha1(digest).hexdigest(), hashlib.sha256(digest).hexdigest()
        lines.append(f"commit {sha1} sha256:{sha256} {uuid.UUID(bytes=digest[:16])}")
        lines.append(f"![p](data:image/png;base64,{base64.b64encode(digest).decode()})")
    text = "\n".join(lines)
    assert redact(text) == (text, {})


def test_redacting_twice_changes_nothing() -> None:
    text = "\n".join([*(AROUND.get(n, "{}").format(s) for n, s in SECRETS.items()), "DB_PASSWORD=hunter2"])
    once, counts = redact(text)
    assert redact(once) == (once, {})
    assert sum(counts.values()) == len(SECRETS) + 1


def test_what_is_allowed_stays() -> None:
    text = f"use {SECRETS['anthropic-key']}"
    assert redact(text, allow={SECRETS["anthropic-key"]}) == (text, {})


def test_the_end_of_a_key_whose_beginning_was_cut_away_is_taken_out() -> None:
    text = "MIIEpAIBAAKCAQEA7bq9abcd\nabcd+/==\n-----END PRIVATE KEY-----\nnext"
    assert redact(text)[0] == "[REDACTED:private-key]\nnext"


def test_a_key_without_its_end_takes_no_prose_with_it() -> None:
    text = "-----BEGIN PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq9abcd\n\n## Next Steps\n1. go on"
    assert redact(text)[0] == "[REDACTED:private-key]\n\n## Next Steps\n1. go on"


def test_rules_of_gitleaks_come_on_top() -> None:
    secret = "dop_v1_" + hashlib.sha256(b"x").hexdigest()
    assert redact(f"digitalocean {secret}")[0] == "digitalocean [REDACTED:digitalocean-pat]"
    assert all(gitleaks._compiled(rule.source) for rule in gitleaks._rules())


def test_a_text_is_redacted_before_it_is_cut() -> None:
    assert cut(f"key {SECRETS['anthropic-key']}", 20) == "key [REDACTED:anthr…"
    assert cut("short", 20) == "short"
