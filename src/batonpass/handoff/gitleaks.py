"""The rules of gitleaks, as the `secretscreen` package ships them, loaded when they are first needed."""

import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

# Too eager for prose, and covered by rules of our own.
_LEFT_OUT = {"generic-api-key", "private-key", "curl-auth-header", "curl-auth-user", "jwt", "jwt-base64"}
_AROUND = 512  # characters on both sides of a keyword in which its rule is tried
_FLAG_IN_MIDDLE = re.compile(r"(?<!^)\(\?i\)")


@dataclass(frozen=True, slots=True)
class _Rule:
    name: str
    keywords: tuple[str, ...]
    source: str
    group: int
    entropy: float


def secrets_in(text: str) -> Iterator[tuple[str, str]]:
    """The secrets that the rules find, each with the name of its rule."""
    low = text.lower()
    for rule in _worth_trying(low):
        seen = 0
        for start, end in _windows(low, rule.keywords):
            pattern = _compiled(rule.source)
            if pattern is None:
                break
            for found in pattern.finditer(text, max(start, seen), end):
                seen = found.end()
                secret = _secret(found, rule.group)
                if secret and _entropy(secret) >= rule.entropy:
                    yield rule.name, secret


def load() -> None:
    """Read the rules. Their patterns are compiled one by one, when a text has a keyword of theirs."""
    _by_keyword()


def _windows(low: str, keywords: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """Where a rule is worth trying: around its keywords, windows that touch made one."""
    hits = sorted(at for keyword in keywords for at in _positions(low, keyword))
    start = end = -1
    for at in hits:
        if start >= 0 and at - _AROUND <= end:
            end = at + _AROUND
            continue
        if start >= 0:
            yield start, end
        start, end = max(0, at - _AROUND), at + _AROUND
    if start >= 0:
        yield start, end


def _positions(low: str, keyword: str) -> Iterator[int]:
    at = low.find(keyword)
    while at >= 0:
        yield at
        at = low.find(keyword, at + _AROUND // 2)


def _worth_trying(low: str) -> list[_Rule]:
    """The rules that have a keyword in the text, in their own order: most texts hold none, which is soon seen."""
    rules = _rules()
    numbers = {number for word, having in _by_keyword().items() if word in low for number in having}
    return [rules[number] for number in sorted(numbers)]


@lru_cache(maxsize=1)
def _by_keyword() -> dict[str, list[int]]:
    having: dict[str, list[int]] = {}
    for number, rule in enumerate(_rules()):
        for word in rule.keywords:
            having.setdefault(word, []).append(number)
    return having


@lru_cache(maxsize=1)
def _rules() -> tuple[_Rule, ...]:
    """None where the package is not there or its file has another form: our own rules suffice."""
    try:
        text = (resources.files("secretscreen") / "gitleaks.toml").read_text(encoding="utf-8")
        entries = tomllib.loads(text)["rules"]
    except (ImportError, OSError, KeyError, ValueError):
        return ()
    return tuple(
        _Rule(
            entry["id"],
            tuple(word.lower() for word in entry["keywords"]),
            entry["regex"],
            int(entry.get("secretGroup", 0)),
            float(entry.get("entropy", 0)),
        )
        for entry in entries
        if entry.get("regex") and entry.get("keywords") and entry["id"] not in _LEFT_OUT
    )


@lru_cache(maxsize=512)
def _compiled(source: str) -> re.Pattern[str] | None:
    """A Go pattern as Python takes it; None for one that it cannot take."""
    try:
        return re.compile(_scoped(source.replace(r"\z", r"\Z")))
    except re.error:
        return None


def _scoped(source: str) -> str:
    """`(?i)` in the middle of a pattern holds to the end of its group: Python wants that written."""
    while found := _FLAG_IN_MIDDLE.search(source):
        depth, at = 0, found.end()
        while at < len(source):
            letter = source[at]
            if letter == "\\":
                at += 2
                continue
            if letter == "[":
                at = _class_end(source, at)
                continue
            if letter == "(":
                depth += 1
            elif letter == ")":
                if depth == 0:
                    break
                depth -= 1
            at += 1
        source = f"{source[: found.start()]}(?i:{source[found.end() : at]}){source[at:]}"
    return source


def _class_end(source: str, at: int) -> int:
    at += 2 if source[at + 1] == "]" else 1
    while source[at] != "]":
        at += 2 if source[at] == "\\" else 1
    return at + 1


def _secret(found: re.Match[str], group: int) -> str:
    if group:
        return found[group] or ""
    return next((text for text in found.groups() if text), found[0])


def _entropy(text: str) -> float:
    counts = Counter(text).values()
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts)
