"""Secrets taken out of everything that Baton writes.

The rules here are enough alone; the rules of gitleaks come on top where the `secretscreen` package is there.
"""

import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache, partial

from batonpass.handoff import gitleaks, named_secrets, personal
from batonpass.memory import Memory

Allow = Collection[str | re.Pattern[str]]  # texts, or patterns of texts, that are no secrets
_REMEMBERED = 8_000  # characters of a text whose redaction is worth remembering
_ROOM = 2_000_000  # characters of all of them


@dataclass(frozen=True, slots=True)
class Rule:
    """A kind of secret: where one of the hints is in the text, the pattern is looked for.

    With a group in the pattern only the group is the secret.
    """

    name: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]


def _rule(name: str, hints: str, pattern: str) -> Rule:
    return Rule(name, tuple(hints.split()), re.compile(pattern))


RULES: tuple[Rule, ...] = (
    _rule(
        "private-key",
        "PRIVATE",
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:[\s\S]{0,20000}?-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"|(?:(?:\s|\\[nr])*[A-Za-z0-9+/=]{16,})*)",
    ),
    _rule("url-password", "://", r"\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/:@'\"]{0,100}:([^\s/@'\"]{1,200})@"),
    _rule(
        "authorization",
        "earer uthorization asic",
        r"(?i:\bauthorization[\"']?\s*[:=]\s*[\"']?(?:bearer|basic|token)|\bbearer)[ \t]+"
        r"((?=[A-Za-z_.~+/=-]{0,60}\d|[A-Za-z0-9._~+/=-]{30})[A-Za-z0-9._~+/=-]{8,})",
    ),
    _rule("anthropic-key", "sk-ant-", r"\bsk-ant-[A-Za-z0-9_-]{16,}"),
    _rule("openai-key", "sk-", r"\bsk-(?=[A-Za-z0-9_-]{0,60}\d)[A-Za-z0-9_-]{20,}"),
    _rule("aws-access-key", "AKIA ASIA ABIA ACCA", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
    _rule(
        "github-token",
        "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
        r"\b(?:gh[pousr]_|github_pat_)[A-Za-z0-9_]{22,}",
    ),
    _rule("gitlab-token", "glpat-", r"\bglpat-[A-Za-z0-9_-]{20,}"),
    _rule("slack-token", "xox", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    _rule("slack-webhook", "hooks.slack.com", r"hooks\.slack\.com/(?:services|workflows)/([A-Za-z0-9/_-]{20,})"),
    _rule("google-key", "AIza", r"\bAIza[A-Za-z0-9_-]{35}"),
    _rule("google-oauth", "ya29. GOCSPX-", r"\b(?:ya29\.|GOCSPX-)[A-Za-z0-9_-]{20,}"),
    _rule("npm-token", "npm_", r"\bnpm_[A-Za-z0-9]{36}"),
    _rule("pypi-token", "pypi-", r"\bpypi-[A-Za-z0-9_-]{50,}"),
    _rule("huggingface-token", "hf_", r"\bhf_[A-Za-z0-9]{30,}"),
    _rule("stripe-key", "k_live_ k_test_", r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    _rule("sendgrid-key", "SG.", r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    _rule("telegram-token", ":AA", r"\b\d{8,10}:AA[A-Za-z0-9_-]{32,33}"),
    _rule("jwt", "eyJ", r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
)


def cut(text: str, limit: int) -> str:
    """At most `limit` characters of a text, redacted first: half a secret matches no rule."""
    clean = redact(text)[0] if len(text) > limit else text
    return clean if len(clean) <= limit else f"{clean[: limit - 1]}…"


def redact(text: str, *, allow: Allow = ()) -> tuple[str, dict[str, int]]:
    """The text with every secret and all personal data replaced by `[REDACTED:rule]`, and how many each rule took.

    What `allow` names, or matches somewhere, is known to be no secret and stays.

    >>> redact("postgres://app:hunter2@db/app")
    ('postgres://app:[REDACTED:url-password]@db/app', {'url-password': 1})
    """
    key = text, tuple(allow)
    if len(text) > _REMEMBERED:
        return _redact(*key)
    clean, counts = _remembered.of(key, len(text), lambda: _redact(*key))
    return clean, dict(counts)


def _redact(text: str, allow: Allow) -> tuple[str, dict[str, int]]:
    counts: Counter[str] = Counter()

    def take(rule: str, found: re.Match[str]) -> str:
        group = 1 if found.re.groups and found[1] is not None else 0
        secret = found[group]
        if _allowed(secret, allow) or named_secrets.is_placeholder(secret):
            return found[0]
        counts[rule] += 1
        start, end = found.start(group) - found.start(), found.end(group) - found.start()
        return f"{found[0][:start]}[REDACTED:{rule}]{found[0][end:]}"

    for rule in RULES:
        if any(hint in text for hint in rule.hints):
            text = rule.pattern.sub(partial(take, rule.name), text)
    text, ends = _without_key_ends(text)
    counts["private-key"] += ends
    text, named = named_secrets.redact_named(text, partial(_allowed, allow=allow))
    counts["named-secret"] += named
    for name, secret in (*gitleaks.secrets_in(text), *personal.found_in(text)):
        if not _allowed(secret, allow) and not named_secrets.is_placeholder(secret) and secret in text:
            counts[name] += text.count(secret)
            text = text.replace(secret, f"[REDACTED:{name}]")
    return text, {name: count for name, count in counts.items() if count}


# Draft, checkpoint and sealed document of one handoff hold the same texts, and the next one most of them again.
_remembered: Memory[tuple[str, dict[str, int]]] = Memory(_ROOM)


def warm() -> None:
    """Load the rules now, which takes a moment, so that no handoff waits for it."""
    gitleaks.load()


def patterns(allow: Collection[str]) -> Allow:
    """The allow-list of a configuration, whose texts are patterns. One that is none is taken as it is written."""
    return _patterns(tuple(allow))


@lru_cache(maxsize=16)
def _patterns(allow: tuple[str, ...]) -> tuple[str | re.Pattern[str], ...]:
    made: list[str | re.Pattern[str]] = []
    for text in allow:
        try:
            made.append(re.compile(text))
        except re.error:
            made.append(text)
    return tuple(made)


def _allowed(secret: str, allow: Allow) -> bool:
    return any(secret == known if isinstance(known, str) else known.search(secret) for known in allow)


_KEY_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
# Lines of a key, read backwards from its end: a short last line, then full ones.
_KEY_LINES_BACKWARDS = re.compile(
    r"(?:\s|[nr]\\)+(?:[A-Za-z0-9+/=]{1,15}(?:\s|[nr]\\)+)?(?:[A-Za-z0-9+/=]{16,}(?:(?:\s|[nr]\\)+|\Z))*"
)
_LONGEST_KEY = 20_000


def _without_key_ends(text: str) -> tuple[str, int]:
    """The text without keys whose beginning was cut away, and how many there were."""
    pieces, done, count = [], 0, 0
    for end in _KEY_END.finditer(text):
        before = text[max(done, end.start() - _LONGEST_KEY) : end.start()]
        lines = _KEY_LINES_BACKWARDS.match(before[::-1])
        key = before[len(before) - len(lines[0]) :].lstrip() if lines else ""
        pieces += [text[done : end.start() - len(key)], "[REDACTED:private-key]"]
        done, count = end.end(), count + 1
    return "".join([*pieces, text[done:]]), count
