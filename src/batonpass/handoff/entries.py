"""Recorded entries: a heading of the fourth level and a fenced text. What the size budget cuts."""

from collections.abc import Sequence

from batonpass.handoff.fences import marked


def joined(entries: Sequence[tuple[str, str]]) -> str:
    """Entries as one body."""
    return "\n\n".join(f"#### {heading}\n{body}".rstrip() for heading, body in entries)


def split(body: str) -> list[str]:
    """The entries of a body that `joined` wrote, each as its text."""
    found: list[list[str]] = []
    for line, plain in marked(body.split("\n")):
        if not found or (plain and line.startswith("#### ")):
            found.append([])
        found[-1].append(line)
    return ["\n".join(entry).rstrip() for entry in found]


def shortened(entry: str, limit: int, pointer: str) -> str:
    """An entry whose fenced text is cut in the middle to about `limit` characters; short ones stay."""
    lines = entry.split("\n")
    text = "\n".join(lines[2:-1])
    if len(lines) < 4 or len(text) <= limit:
        return entry
    half = limit // 2
    note = f"\n[… {len(text) - 2 * half:,} characters left out; {pointer} …]\n"
    return "\n".join([*lines[:2], text[:half] + note + text[-half:], lines[-1]])
