"""A marked block of Baton's in a file that belongs to somebody else: all around it stays byte for byte.

The opening mark says how many bytes of line ends before it are Baton's own, and whether the file was made for
the block, so that taking the block out gives back exactly what was there.
"""

import os
import re
from pathlib import Path

from batonpass.disk import read_plain, stay_inside, write_bytes

_BEGIN = "<!-- baton:begin {pad}{new} (added by `baton init`, taken out by `baton uninstall`) -->"
_END = "<!-- baton:end -->"
_BLOCK = re.compile(rb"<!-- baton:begin (?P<pad>\d)(?P<new> new)? [^\n]*?-->.*?<!-- baton:end -->(?:\r?\n)?", re.DOTALL)
_OPEN = re.compile(rb"<!-- baton:(?:begin|end)\b")


class BrokenBlock(ValueError):
    """A mark of Baton's stands alone, or the file is no text; the sentence says what to do."""


def added(data: bytes | None, text: str) -> bytes:
    """The file's bytes with the block in them, once; None is a file that is not there. Raises BrokenBlock.

    A block that is there already keeps its place and gets the new text.

    >>> added(b"Use tabs.", "Read it.").splitlines()[-2:]
    [b'Read it.', b'<!-- baton:end -->']
    """
    if data is None:
        return _block(text, b"\n", 0, new=True)
    found = _first(data)
    eol = b"\r\n" if b"\r\n" in (found[0] if found else data) else b"\n"
    if found is not None:
        block = _block(text, eol, int(found["pad"]), new=found["new"] is not None)
        return data[: found.start()] + block + _cut_out(data[found.end() :])  # a second one, of a merge, goes
    pad = eol * (0 if not data else 1 if data.endswith(b"\n") else 2)
    return data + pad + _block(text, eol, len(pad), new=False)


def removed(data: bytes) -> bytes | None:
    """The file's bytes without the block; None when the file was made for it and nothing else is in it."""
    _first(data)
    made = any(found["new"] for found in _BLOCK.finditer(data))
    rest = _cut_out(data)
    return None if made and not rest.strip() else rest


def holds(data: bytes) -> bool:
    return _BLOCK.search(data) is not None


def read(path: Path, project: Path) -> bytes | None:
    """The file's bytes, None when it is not there. OSError when it lies, by a link, outside the project."""
    stay_inside(project, path)
    try:
        return read_plain(path)
    except FileNotFoundError:
        return None


def write(path: Path, data: bytes | None) -> None:
    """The file with these bytes, whole or not at all, with the mode that it had; None takes it away."""
    real = Path(os.path.realpath(path))  # a link to another of the agents' files stays a link
    if data is None:
        real.unlink()
        return
    mode = os.stat(real).st_mode & 0o777 if real.exists() else 0o644
    write_bytes(real, data, mode=mode)


def _block(text: str, eol: bytes, pad: int, *, new: bool) -> bytes:
    begin = _BEGIN.format(pad=pad, new=" new" if new else "")
    return b"".join(line.encode("utf-8") + eol for line in (begin, *text.strip("\n").split("\n"), _END))


def _first(data: bytes) -> re.Match[bytes] | None:
    if b"\0" in data:
        raise BrokenBlock("is no plain text; it was left as it is")
    if len(_OPEN.findall(data)) != 2 * len(_BLOCK.findall(data)):
        raise BrokenBlock("has one mark of Baton's block without the other; take it out by hand, then try again")
    return _BLOCK.search(data)


def _cut_out(data: bytes) -> bytes:
    """All but the blocks and the line ends that came with each."""
    pieces, done = [], 0
    for found in _BLOCK.finditer(data):
        piece, pad = data[done : found.start()], int(found["pad"])
        while pad and piece[-1:] in (b"\r", b"\n"):
            piece, pad = piece[:-1], pad - 1
        pieces.append(piece)
        done = found.end()
    return b"".join([*pieces, data[done:]])
