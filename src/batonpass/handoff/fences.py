"""Code fences: what is inside one is data, and no line of it is structure."""

import re
from collections.abc import Iterable, Iterator

_FENCE = re.compile(r"^\s*(`{3,}|~{3,})(.*)$", re.DOTALL)


def marked(lines: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """Every line, and whether it is plain: outside of a fence and no fence itself."""
    fence = ""
    for line in lines:
        found = _FENCE.match(line)
        if fence:
            if found and found[1].startswith(fence) and not found[2].strip():
                fence = ""
            yield line, False
        elif found and not (found[1][0] == "`" and "`" in found[2]):
            fence = found[1]
            yield line, False
        else:
            yield line, True


def closed(lines: list[str]) -> list[str]:
    """The lines with a fence that was left open closed, so that it cannot swallow what follows."""
    fence = ""
    for line in lines:
        found = _FENCE.match(line)
        if fence:
            if found and found[1].startswith(fence) and not found[2].strip():
                fence = ""
        elif found and not (found[1][0] == "`" and "`" in found[2]):
            fence = found[1]
    return [*lines, fence] if fence else lines


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
