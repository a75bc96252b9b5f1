"""Look at a JSONL file as it is now: from its end, for the latest word, or as a whole, for facts."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, TypeVar

from batonpass.disk import open_plain
from batonpass.transcripts.events import Event
from batonpass.transcripts.lines import LINE_LIMIT, Splitter
from batonpass.transcripts.tail import Cursor, Parse, cursor_at
from batonpass.untrusted import decode

E = TypeVar("E", bound=Event)

_BLOCK = 64 << 10
_FIRST_LINE = 1 << 20


def all_events(path: Path, parse: Parse) -> Iterator[Event]:
    """Every event, oldest first, also of a last line without its newline; nothing for a missing file."""
    try:
        stream = open_plain(path)
    except OSError:
        return
    splitter = Splitter()
    with stream:
        left = os.fstat(stream.fileno()).st_size  # what is appended meanwhile is no part of the file as it is now
        while left > 0 and (block := stream.read(min(_BLOCK, left))):
            left -= len(block)
            for line, _ in splitter.feed(block):
                if line is not None:
                    yield from parse(line)
        for line, _ in splitter.feed(b"\n"):
            if line is not None:
                yield from parse(line)


def first_entry(path: Path) -> Mapping[str, object]:
    """The object in a file's first line, which tells whose it is; empty where there is none."""
    try:
        with open_plain(path) as stream:
            entry = decode(stream.readline(_FIRST_LINE))
    except (OSError, ValueError):
        return {}
    return entry if isinstance(entry, dict) else {}


def last(path: Path, parse: Parse, *types: type[E]) -> E | None:
    """The latest event of one of these types, read from the end: a long file costs no more than a short one.

    A torn last line is passed over. None for a missing file or when there is no such event.
    """
    try:
        stream = open_plain(path)
    except OSError:
        return None
    with stream:
        for line in _backwards(stream):
            found = [event for event in parse(line) if isinstance(event, types)]
            if found:
                return found[-1]
    return None


def end(path: Path) -> Cursor | None:
    """A cursor behind the last whole line: a Tail with it gives only what comes from now on."""
    try:
        stream = open_plain(path)
    except OSError:
        return None
    with stream:
        position = stream.seek(0, 2)
        while position > 0:
            begin = max(0, position - _BLOCK)
            stream.seek(begin)
            newline = stream.read(position - begin).rfind(b"\n")
            if newline >= 0:
                return cursor_at(stream, begin + newline + 1)
            position = begin
        return cursor_at(stream, 0)


def _backwards(stream: BinaryIO) -> Iterator[bytes]:
    """Whole lines, last first. What is not ended by a newline is left out, what is too long too."""
    position = stream.seek(0, 2)
    tail: list[bytes] = []  # pieces of the line in progress, last piece first
    held = 0
    ended = False  # whether the line in progress has its newline
    while position > 0:
        begin = max(0, position - _BLOCK)
        stream.seek(begin)
        pieces = stream.read(position - begin).split(b"\n")
        position = begin
        while len(pieces) > 1:
            tail.append(pieces.pop())
            if ended and held <= LINE_LIMIT:
                yield b"".join(reversed(tail))
            tail, held, ended = [], 0, True
        held += len(pieces[0])
        if held <= LINE_LIMIT:
            tail.append(pieces[0])
        else:
            tail.clear()
    if ended and held <= LINE_LIMIT:
        yield b"".join(reversed(tail))
