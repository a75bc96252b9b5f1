"""Code fences: what is inside one is data, and no line of it is structure."""

import re
from collections.abc import Iterable, Iterator
from enum import Enum

_FENCE = re.compile(r"^\s*(`{3,}|~{3,})(.*)$", re.DOTALL)


class _Place(Enum):
    PLAIN = 0
    OPENS = 1
    INSIDE = 2
    CLOSES = 3


def marked(lines: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """Every line, and whether it is plain: outside of a fence and no fence itself."""
    return ((line, place is _Place.PLAIN) for line, place, _ in _placed(lines))


def closed(lines: list[str]) -> list[str]:
    """The lines with a fence that was left open closed, so that it cannot swallow what follows."""
    *_, (_, place, fence) = [("", _Place.PLAIN, ""), *_placed(lines)]
    return [*lines, fence] if place in {_Place.OPENS, _Place.INSIDE} else lines


def blocks(text: str) -> list[str]:
    """What stands in the fences of a text, in order."""
    found: list[list[str]] = []
    for line, place, _ in _placed(text.split("\n")):
        if place is _Place.OPENS:
            found.append([])
        elif place is _Place.INSIDE:
            found[-1].append(line)
    return ["\n".join(lines) for lines in found]


def fenced(text: str, label: str = "text") -> str:
    """A text as data: word for word in a fence that it cannot close.

    >>> print(fenced("a"))
    ```text
    a
    ```
    """
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{label}\n{text}\n{fence}"


def span(text: str) -> str:
    """A short text as data within a line: its words on one line, in a code span that it cannot close.

    >>> span("charges once"), span("a `b`")
    ('`charges once`', '`` a `b` ``')
    """
    whole = " ".join(text.split())
    longest = max((len(run) for run in re.findall(r"`+", whole)), default=0)
    return f"`{whole}`" if not longest else f"{'`' * (longest + 1)} {whole} {'`' * (longest + 1)}"


def _placed(lines: Iterable[str]) -> Iterator[tuple[str, _Place, str]]:
    """Every line, where it stands, and the fence that it stands in."""
    fence = ""
    for line in lines:
        found = _FENCE.match(line)
        if fence and found and found[1].startswith(fence) and not found[2].strip():
            yield line, _Place.CLOSES, fence
            fence = ""
        elif fence:
            yield line, _Place.INSIDE, fence
        elif found and not (found[1][0] == "`" and "`" in found[2]):
            fence = found[1]
            yield line, _Place.OPENS, fence
        else:
            yield line, _Place.PLAIN, ""
