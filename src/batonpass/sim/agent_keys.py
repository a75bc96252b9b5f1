"""From the bytes of a terminal to keys: text, pastes, Enter, Escape, Ctrl-C."""

import codecs
import re
from typing import NamedTuple

_PASTE_BEGIN = "\x1b[200~"
_PASTE_END = "\x1b[201~"
_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O.)")
_UNFINISHED = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|O)?")
_NAMES = {
    "\r": "enter",
    "\n": "newline",
    "\x03": "ctrl-c",
    "\x7f": "backspace",
    "\x08": "backspace",
    "\x15": "ctrl-u",
    "\x1b[A": "up",
    "\x1b[B": "down",
    "\x1bOA": "up",
    "\x1bOB": "down",
}


class Key(NamedTuple):
    """A key by its name; `text` and `paste` carry what was typed or pasted."""

    name: str
    text: str = ""


class Keys:
    """Decodes a stream of bytes that may be cut anywhere, also inside a character or a sequence."""

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._rest = ""
        self._paste: list[str] | None = None

    @property
    def undecided(self) -> bool:
        """An Escape came that may be the key or the beginning of a sequence: ask `settle` a little later."""
        return self._paste is None and bool(self._rest)

    def feed(self, data: bytes) -> list[Key]:
        self._rest += self._decode(data)
        found: list[Key] = []
        while self._rest:
            if not (self._pasted(found) if self._paste is not None else self._typed(found)):
                break
        return found

    def settle(self) -> list[Key]:
        """Nothing more came: a lone Escape was the key itself."""
        if not self.undecided:
            return []
        escape, self._rest = self._rest.startswith("\x1b"), ""
        return [Key("escape")] if escape else []

    def _pasted(self, found: list[Key]) -> bool:
        assert self._paste is not None
        text, end, after = self._rest.partition(_PASTE_END)
        if not end:
            # The end mark may be cut in two: its beginning stays for the next read.
            keep = next((n for n in range(len(_PASTE_END) - 1, 0, -1) if text.endswith(_PASTE_END[:n])), 0)
            self._paste.append(text[: len(text) - keep])
            self._rest = text[len(text) - keep :]
            return False
        pasted = "".join([*self._paste, text]).replace("\r\n", "\n").replace("\r", "\n")
        self._paste, self._rest = None, after
        found.append(Key("paste", pasted))
        return True

    def _typed(self, found: list[Key]) -> bool:
        first = self._rest[0]
        if first == "\x1b":
            return self._escaped(found)
        if first in _NAMES:
            found.append(Key(_NAMES[first]))
            self._rest = self._rest[1:]
            return True
        text = re.match(r"[^\x00-\x1f\x7f]+|.", self._rest, re.DOTALL)
        assert text is not None
        self._rest = self._rest[text.end() :]
        if first >= " ":
            found.append(Key("text", text.group()))
        return True

    def _escaped(self, found: list[Key]) -> bool:
        sequence = _SEQUENCE.match(self._rest)
        if sequence is None:
            if _UNFINISHED.fullmatch(self._rest):
                return False
            found.append(Key("escape"))
            self._rest = self._rest[1:]
            return True
        self._rest = self._rest[sequence.end() :]
        if sequence.group() == _PASTE_BEGIN:
            self._paste = []
        elif name := _NAMES.get(sequence.group()):
            found.append(Key(name))
        return True
