"""Personal data goes, and nothing that only looks like it."""

import base64
import hashlib
import logging
import uuid

import pytest

from batonpass.handoff import redacted
from batonpass.handoff.redact import patterns, redact


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("email", "ada.lovelace+x@analytical-engine.co.uk"),
        ("phone", "+44 20 7946 0958"),
        ("phone", "+1 (212) 555-0147"),
        ("phone", "212-555-0147"),
        ("phone", "(212) 555-0147"),
        ("iban", "DE89 3704 0044 0532 0130 00"),
        ("iban", "GB29NWBK60161331926819"),
        ("card", "4111 1111 1111 1111"),
        ("card", "5555-5555-5555-4444"),
        ("card", "378282246310005"),
    ],
)
def test_personal_data_is_taken_out_and_the_rest_stays(kind: str, text: str) -> None:
    assert redact(f"Ask {text}, please.") == (f"Ask [REDACTED:{kind}], please.", {kind: 1})


@pytest.mark.parametrize(
    "text",
    [
        "git clone git@github.com:ada/engine.git",
        "user@example.org and noreply@company.com",
        "systemctl restart getty@tty1.service",
        "npm i @types/node@20.11.1 left-pad@1.3.0",
        "2026-01-21T14:30:45+02:00",
        "+12 -3 lines, 10.0.0.1:8080, version 1.2.3-4567",
        "order 4111 1111 1111 1112 has a wrong digit",
        "DE89 3704 0044 0532 0130 01 too",
        "1794772526592621132 ns",
        "ssh://git@host.company.com:2222/a/b",
        "postgres@db.company.com:5432",
        "@@ -1,4 +1,5 @@",
    ],
)
def test_plain_work_is_not_personal(text: str) -> None:
    assert redact(text) == (text, {})


def test_ten_thousand_hashes_ids_and_blobs_survive() -> None:
    lines = []
    for number in range(2_500):
        digest = hashlib.sha512(str(number).encode()).digest()
        lines += [
            hashlib.sha1(digest).hexdigest(),
            hashlib.md5(digest).hexdigest().upper(),
            str(uuid.UUID(bytes=digest[:16])),
            base64.b64encode(digest).decode(),
        ]
    text = "\n".join(lines)
    assert redact(text) == (text, {})


def test_what_the_configuration_allows_stays() -> None:
    allow = patterns([r"@analytical\.org$", "[not a pattern"])
    assert redact("ada@analytical.org bob@other.org [not a pattern", allow=allow)[0] == (
        "ada@analytical.org [REDACTED:email] [not a pattern"
    )


def test_values_for_the_store_are_redacted_but_paths_still_lead_somewhere() -> None:
    given = {"text": "mail ada@engine.org", "path": "/home/ada@engine.org/x.md", "n": 3, "all": ["bob@engine.org"]}
    assert redacted.value(given) == {
        "text": "mail [REDACTED:email]", "path": "/home/ada@engine.org/x.md", "n": 3, "all": ["[REDACTED:email]"],
    }  # fmt: skip


def test_the_log_holds_no_secret() -> None:
    record = logging.LogRecord("batonpass", logging.INFO, "", 0, "told: %s", ("DB_PASSWORD=hunter2",), None)
    assert redacted.LogFormatter("%(message)s").format(record) == "told: DB_PASSWORD=[REDACTED:named-secret]"


def test_what_the_configuration_allows_stays_in_the_log_too() -> None:
    record = logging.LogRecord("batonpass", logging.INFO, "", 0, "ada@analytical.org, bob@other.org", (), None)
    formatter = redacted.LogFormatter("%(message)s", lambda: patterns([r"@analytical\.org$"]))
    assert formatter.format(record) == "ada@analytical.org, [REDACTED:email]"
