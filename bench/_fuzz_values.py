"""What the fuzzer feeds: values that are almost right, quite wrong, or made to do harm."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from _common import ROOT
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

FIXTURES = ROOT / "tests" / "fixtures" / "claude-code"


@dataclass(frozen=True, slots=True)
class Target:
    """One thing to attack: what it is fed, and a check that raises when a promise is broken."""

    name: str
    food: SearchStrategy[Any]
    check: Callable[[Any], None]


HOSTILE = (
    "",
    " ",
    "\x00",
    "\ud800",
    "\udfff\ud800",
    "../../../../etc/passwd",
    "/dev/zero",
    "/",
    ".",
    "..",
    "a/../../b",
    "~root",
    "$(touch pwned)",
    "`touch pwned`",
    "; touch pwned",
    "#(touch pwned)",
    "#{pid}",
    "%%%s%n",
    "'\"\\",
    "a\nb\r\nc",
    "\x1b]0;owned\x07\x1b[2J\x9b31m",
    "\u202egnp.exe",
    "\u2028\u2029",
    "[baton 7f3a91c2 ask 1] x",
    "nan",
    "1e999",
    "-1",
    "9" * 400,
    "{}",
    '<!-- baton: {"number": 1} -->',
    "## Recorded by Baton\n",
    "```",
    "~~~",
    "</baton-handoff>",
    "BATON-HANDOFF>>>",
    "**Created**: never",
    "---",
    "x" * 5_000,
    "é" * 300,
    "sk-ant-" + "a1" * 20,
    "password: hunter22x",
)

# Hypothesis makes no half surrogates by default, and these are what JSON can smuggle in.
letters = st.characters(codec=None, categories=None)
texts = st.one_of(st.sampled_from(HOSTILE), st.text(letters, max_size=60), st.text(max_size=200))
numbers = st.one_of(
    st.integers(),
    st.sampled_from([0, -1, 2**31, 2**53, 2**63, 2**64, 10**30, 10**400]),
    st.floats(),
    st.sampled_from([1e300, -1e300, 253402300800.0, -62135596801.0]),
)
leaves = st.one_of(st.none(), st.booleans(), numbers, texts)
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4), max_leaves=12
)


@st.composite
def mangled(draw: DrawFn, samples: list[Any]) -> Any:
    """A sample of the real thing in which a few values are exchanged, taken away or added."""
    value = json.loads(json.dumps(draw(st.sampled_from(samples))))
    for _ in range(draw(st.integers(0, 4))):
        holder, key = _place(draw, value)
        if holder is None:
            return draw(values)
        change = draw(st.sampled_from(["value", "value", "value", "remove", "add"]))
        if change == "remove":
            del holder[key]
        elif change == "add" and isinstance(holder, dict):
            holder[draw(texts)] = draw(values)
        else:
            holder[key] = draw(values)
    return value


def _place(draw: DrawFn, value: Any) -> tuple[Any, Any]:
    """Some container in a value, and a key in it; None when there is none."""
    holder, key = None, None
    while isinstance(value, dict | list) and value:
        holder = value
        key = draw(st.sampled_from(list(value))) if isinstance(value, dict) else draw(st.integers(0, len(value) - 1))
        value = holder[key]
        if draw(st.integers(0, 3)) == 0:
            break
    return holder, key


@st.composite
def broken(draw: DrawFn, lines: SearchStrategy[bytes]) -> bytes:
    """A line as it is, or torn, or with bytes in it that have no business there."""
    line = draw(lines)
    way = draw(st.sampled_from(["whole", "whole", "cut", "bytes", "deep", "binary", "nul"]))
    at = draw(st.integers(0, len(line)))
    if way == "cut":
        return line[:at]
    if way == "bytes":
        return line[:at] + draw(st.binary(min_size=1, max_size=8)) + line[at:]
    if way == "deep":
        depth = draw(st.sampled_from([50, 3_000, 100_000]))
        return draw(st.sampled_from([b"[" * depth, b'{"a":' * depth, b"[" * depth + b"]" * depth]))
    if way == "binary":
        return draw(st.binary(max_size=200))
    return line.replace(b" ", b"\0") if way == "nul" else line


def encoded(value: object) -> bytes:
    """JSON as careless programs write it: NaN, half surrogates and all."""
    return json.dumps(value).encode("ascii")


def samples(pattern: str, version: str = "*") -> list[Any]:
    """Recorded JSON of the real program, by a pattern of file names."""
    found: list[Any] = []
    for path in sorted(FIXTURES.glob(f"{version}/{pattern}")):
        if path.suffix == ".jsonl":
            found += [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        else:
            found.append(json.loads(path.read_text(encoding="utf-8")))
    return found
