"""Secrets known by their name: PASSWORD=…, "client_secret": "…", token: …"""

import re
from collections.abc import Callable

_NAMED = re.compile(
    r"(?i)(?P<word>secret|passw(?:or)?d|passphrase|pwd|token|api[_-]?key|access[_-]?key|private[_-]?key|credential"
    r"|auth[_-]?key|signing[_-]?key|encryption[_-]?key)(?P<rest>[\w-]{0,40})[\"']?"
    r"(?P<sign>[ \t]*(?::=|=>|=|:)[ \t]*)"
    r"(?P<value>\"[^\"\n]{4,400}\"|'[^'\n]{4,400}'|[^\s\"'`,;&|<>()\[\]{}]{6,400})"
)
# Words after the name that make it a name for something else: token_count, secret_name, password_file.
_OTHER = re.compile(
    r"(?i)^s?[_-]?(?:s|count|counts|name|names|id|ids|url|uri|file|files|path|paths|type|types|length|len|size"
    r"|limit|limits|budget|usage|used|expiry|expires\w*|ttl|field|label|policy|hint|hash_algorithm|usage_\w+)$"
)
_PLACEHOLDER = re.compile(
    r"(?i)^(?:\$.*|<.*>|\{.*\}|%.*%|\[redacted.*|x{3,}|\*{3,}|\.{3,}|…+|none|null|nil|true|false|undefined|string|str"
    r"|number|required|optional|changeme|example|your[_-].*|(?:os|process|env|self|config|settings)\..*"
    r"|[a-z_][\w.]*[\[(].*)$"
)
_IDENTIFIER = re.compile(r"^[A-Za-z_][A-Za-z_.]*$")
_FIGURES = re.compile(r"^[\d,./%:+-]+k?$")
_NAME_BEFORE = re.compile(r"[\w-]{0,60}$")


def redact_named(text: str, allowed: Callable[[str], bool] = lambda _: False) -> tuple[str, int]:
    """The text without the values of names that say secret, and how many there were."""
    count = 0

    def take(found: re.Match[str]) -> str:
        nonlocal count
        value = found["value"].strip("\"'")
        if allowed(value) or not _is_secret(found, value):
            return found[0]
        count += 1
        at = found.end("value") - found.start() - len(found["value"]) + found["value"].index(value)
        return f"{found[0][:at]}[REDACTED:named-secret]{found[0][at + len(value) :]}"

    return _NAMED.sub(take, text), count


def is_placeholder(value: str) -> bool:
    """Whether a value only stands for a secret: a variable, a type, a row of stars.

    >>> is_placeholder("${DB_PASS}"), is_placeholder("hunter2")
    (True, False)
    """
    return bool(_PLACEHOLDER.match(value))


def _is_secret(found: re.Match[str], value: str) -> bool:
    if _OTHER.match(found["rest"]) or is_placeholder(value):
        return False
    password = found["word"].lower().startswith(("passw", "passp", "pwd"))
    if _FIGURES.match(value):
        return password
    if found["value"][0] in "\"'":
        return password or " " not in value
    if found["sign"].strip() == ":":
        return len(value) >= 8 and not value.isalpha() and not _is_prose(value)
    return _is_environment(found) or not _IDENTIFIER.match(value)


def _is_prose(value: str) -> bool:
    """A word of a sentence: letters with a mark at the end, or a path."""
    return value.rstrip(".!?:*").isalpha() or value.startswith(("/", "./", "~", "*")) or "://" in value


def _is_environment(found: re.Match[str]) -> bool:
    """NAME=value with no space and a name in capitals: whatever follows is the value."""
    before = _NAME_BEFORE.search(found.string[max(0, found.start() - 60) : found.start()])
    name = (before[0] if before else "") + found["word"] + found["rest"]
    return found["sign"] == "=" and name == name.upper()
