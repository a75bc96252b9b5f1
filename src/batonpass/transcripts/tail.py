"""Follow a JSONL file: only what was appended since the last look is read."""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO

from batonpass.disk import open_plain
from batonpass.transcripts.events import Event
from batonpass.transcripts.lines import LINE_LIMIT, Skipped, Splitter, is_json

Parse = Callable[[bytes], Iterable[Event]]

_BLOCK = 1 << 20
_MARK = 64  # bytes before the cursor that must still be the same


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where the first unread line begins, in which file. Plain values, so that it can be stored.

    `mark` is a digest of the bytes just before: file systems reuse inode numbers, so a file that was
    replaced can only be told by its content.
    """

    inode: int
    offset: int
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Batch:
    """What one look found. `reset` says that the file is another one: forget what came from it before."""

    events: tuple[Event, ...] = ()
    reset: bool = False
    notes: tuple[str, ...] = ()  # one sentence each, for people


class Tail:
    """A file that grows by whole lines, though each may arrive in pieces.

    A torn last line is kept for the next look; a line that is no JSON or is longer than `line_limit`
    is skipped with a note. A file that is not there yet, or not any more, or that is a pipe or a device,
    gives an empty batch.
    """

    def __init__(self, path: Path, parse: Parse, cursor: Cursor | None = None, *, line_limit: int = LINE_LIMIT) -> None:
        self.path = path
        self._parse = parse
        self._cursor = cursor
        self._splitter = Splitter(line_limit)
        self._torn_mark = ""  # of the bytes before the end of the unfinished line

    @property
    def cursor(self) -> Cursor | None:
        """Give it to a new Tail and that one goes on where this one is; None before the file was seen."""
        return self._cursor

    def read(self) -> Batch:
        """Every event of the lines completed since the last look."""
        try:
            stream = open_plain(self.path)
        except OSError:
            return Batch()
        with stream:
            reset = not self._is_same(stream)
            if reset:
                self._cursor = None
            if reset or not self._goes_on(stream):
                self._splitter.clear()
            offset = self._cursor.offset if self._cursor else 0
            events: list[Event] = []
            skipped = Skipped(self.path)
            position = stream.seek(offset + self._splitter.pending)
            # What comes while we read is for the next look: a writer that is faster must not hold us for ever.
            end = os.fstat(stream.fileno()).st_size
            while position < end and (block := stream.read(min(_BLOCK, end - position))):
                position += len(block)
                for line, length in self._splitter.feed(block):
                    events += self._events(line, offset, skipped)
                    offset += length
            self._cursor = cursor_at(stream, offset)
            self._torn_mark = cursor_at(stream, offset + self._splitter.pending).mark
        return Batch(tuple(events), reset, skipped.notes())

    def _is_same(self, stream: BinaryIO) -> bool:
        """Whether the cursor, if there is one, belongs to this file as it is now."""
        cursor = self._cursor
        if cursor is None:
            return True
        facts = os.fstat(stream.fileno())
        if facts.st_ino != cursor.inode or facts.st_size < cursor.offset + self._splitter.pending:
            return False
        return not cursor.mark or cursor.mark == cursor_at(stream, cursor.offset).mark

    def _goes_on(self, stream: BinaryIO) -> bool:
        """Whether the unfinished line still begins as it did: another one may have been written in its place."""
        offset = self._cursor.offset if self._cursor else 0
        return cursor_at(stream, offset + self._splitter.pending).mark == self._torn_mark

    def _events(self, line: bytes | None, offset: int, skipped: Skipped) -> list[Event]:
        if line is None:
            skipped.too_long(offset)
            return []
        events = list(self._parse(line))
        if not events and not is_json(line):
            skipped.garbage(offset)
        return events


def cursor_at(stream: BinaryIO, offset: int) -> Cursor:
    """A cursor for that place of an open file."""
    begin = max(0, offset - _MARK)
    before = os.pread(stream.fileno(), offset - begin, begin)
    mark = blake2b(before, digest_size=8).hexdigest() if before else ""
    return Cursor(os.fstat(stream.fileno()).st_ino, offset, mark)
