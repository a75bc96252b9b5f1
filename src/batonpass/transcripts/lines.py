"""Cut a stream of bytes into lines with bounded memory."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

LINE_LIMIT = 64 << 20


class Splitter:
    """Takes blocks, gives whole lines; the unfinished last one waits for the next block."""

    def __init__(self, limit: int = LINE_LIMIT) -> None:
        self._limit = limit
        self._held = bytearray()
        self.pending = 0  # length of the unfinished line, also of what was not kept of it

    def feed(self, block: bytes) -> Iterator[tuple[bytes | None, int]]:
        """Each finished line without its newline, and its length with it; None for one over the limit."""
        begin = 0
        while (end := block.find(b"\n", begin)) >= 0:
            self._hold(block[begin:end])
            length = self.pending + 1
            yield (bytes(self._held) if self.pending <= self._limit else None), length
            self.clear()
            begin = end + 1
        self._hold(block[begin:])

    def clear(self) -> None:
        self._held.clear()
        self.pending = 0

    def _hold(self, piece: bytes) -> None:
        self.pending += len(piece)
        if self.pending <= self._limit:
            self._held += piece
        else:
            self._held.clear()


def is_json(line: bytes) -> bool:
    """Whether a line is one JSON value; an empty line counts as nothing wrong."""
    if not line.strip():
        return True
    try:
        msgspec.json.decode(line, type=msgspec.Raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


class Skipped:
    """Counts the lines that could not be used, so that a person reads one sentence and not thousands."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: dict[str, tuple[int, int]] = {}

    def garbage(self, offset: int) -> None:
        self._count("could not be read as JSON", offset)

    def too_long(self, offset: int) -> None:
        self._count("was too long to be held in memory", offset)

    def _count(self, why: str, offset: int) -> None:
        count, first = self._seen.get(why, (0, offset))
        self._seen[why] = (count + 1, first)

    def notes(self) -> tuple[str, ...]:
        return tuple(
            f"A line of {self._path} {why} and was skipped ({count} in all, the first at byte {first}); "
            "everything else was read."
            for why, (count, first) in self._seen.items()
        )
