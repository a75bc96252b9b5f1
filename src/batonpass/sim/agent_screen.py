"""What the scripted agent shows: the conversation above, the input box and the status line below.

It draws on the main screen. What is said goes into the scrollback; the rows below it (`live`) are drawn anew
on every change, from their first row on.
"""

import os
import re
import unicodedata
from collections import deque
from collections.abc import Sequence

RESET = "\x1b[0m"
DIM = "\x1b[2m"
BOLD = "\x1b[1m"
GREY = "\x1b[38;5;245m"
ORANGE = "\x1b[38;5;173m"
GREEN = "\x1b[38;5;71m"
RED = "\x1b[38;5;167m"
BLUE = "\x1b[38;5;110m"
YOURS = "\x1b[48;5;237m\x1b[38;5;252m"

_BOX_ROWS = 8  # a longer text shows its end
_KEPT = 200  # lines that are drawn again when the window changes its size
_SPINNER = "·✢✳✶✻✽"
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SGR = re.compile(r"(\x1b\[[0-9;:]*m)")


def printable(text: str) -> str:
    """The text with nothing in it that moves the cursor or changes the terminal."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text).replace("\t", "    ")


def width_of(text: str) -> int:
    """Columns that a printable text takes."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def wrap(text: str, width: int) -> list[str]:
    """Rows of at most `width` columns, cut anywhere; an empty line is one empty row."""
    rows: list[str] = []
    for line in text.split("\n"):
        while width_of(line) > width:
            cut = min(len(line), width)
            while width_of(line[:cut]) > width:
                cut -= 1
            cut = max(1, cut)
            rows.append(line[:cut])
            line = line[cut:]
        rows.append(line)
    return rows


def one_row(text: str, width: int) -> str:
    """The first line of a coloured text, cut to the width; colours stay, other sequences go."""
    shown, room = "", width
    for part in _SGR.split(text.strip("\n").split("\n", 1)[0]):
        if _SGR.fullmatch(part):
            shown += part
        elif room > 0:
            piece = wrap(printable(part), room)[0]
            shown += piece
            room -= width_of(piece)
    return shown + RESET


class Screen:
    """Draws into a terminal. Every method leaves the caret in the box."""

    def __init__(self, out: int) -> None:
        self._out = out
        self._kept: deque[str] = deque(maxlen=_KEPT)
        self._caret_row = 0  # rows between the first live row and the caret
        self._tick = 0
        self.box = ""
        self.queued: Sequence[str] = ()
        self.busy: str | None = None  # what the spinner says
        self.stream = ""  # the line that is being said
        self._bullet = True  # it is the first one
        self.status: list[str] = []
        self.dialog: tuple[str, Sequence[str], int] | None = None  # question, options, the chosen one
        self.measure()

    def measure(self) -> None:
        size = os.get_terminal_size(self._out)
        self._width, self._height = max(20, size.columns), max(8, size.lines)

    def begin(self) -> None:
        """Switch bracketed paste on; from here on the terminal is ours."""
        self._write("\x1b[?2004h")

    def end(self) -> None:
        """Leave the terminal as it was found, below what was said."""
        self._write(self._to_top() + "\x1b[J\x1b[?2004l" + RESET)

    def resized(self) -> None:
        """Draw everything again: the old rows have been folded by the terminal."""
        self.measure()
        self._caret_row = 0
        rows = [row for line in self._kept for row in self._rows(line)]
        self._write("\x1b[2J\x1b[H" + "".join(f"{row}\x1b[K\r\n" for row in rows[-self._height :]))
        self.draw()

    def say(self, text: str, *, mark: str = "", colour: str = "") -> None:
        """Put lines above the box for good; `mark` before the first one."""
        lines = [
            f"{mark if number == 0 else ' ' * _columns(mark)}{colour}{line}{RESET}"
            for number, line in enumerate(printable(text).split("\n"))
        ]
        self._kept.extend(lines)
        self.draw(lines)

    def speak(self, text: str) -> None:
        """More of what is being said; whole rows move up as they fill."""
        self.stream += printable(text)
        rows = wrap(self.stream, self._width - 4)
        self.stream = rows[-1]
        done = [self._prefix(number) + row for number, row in enumerate(rows[:-1])]
        self._bullet = self._bullet and not done
        self._kept.extend(done)
        self.draw(done)

    def spoken(self) -> None:
        """What was being said is complete."""
        rest, mark = self.stream, self._prefix()
        self.stream, self._bullet = "", True
        if rest:
            self.say(rest, mark=mark)

    def raw(self, text: str) -> None:
        """Exactly these characters: for an agent that misbehaves."""
        self._write(text)

    def spin(self) -> None:
        self._tick += 1
        self.draw()

    def draw(self, above: Sequence[str] = ()) -> None:
        """Draw the live rows, below new lines for the conversation."""
        fresh = [row for line in above for row in self._rows(line)]
        live, caret_row, caret_column = self._live()
        rows = [*fresh, *live]
        up = len(live) - 1 - caret_row
        text = self._to_top() + "\r\n".join(row + "\x1b[K" for row in rows) + "\x1b[J"
        self._write(text + (f"\x1b[{up}A" if up else "") + f"\r\x1b[{caret_column}C")
        self._caret_row = caret_row

    def _prefix(self, number: int = 0) -> str:
        return "● " if self._bullet and number == 0 else "  "

    def _live(self) -> tuple[list[str], int, int]:
        rows = [self._prefix() + self.stream] if self.stream else []
        rows.append("")
        if self.dialog is not None:
            return self._dialog(rows)
        if self.busy is not None:
            sign = _SPINNER[self._tick % len(_SPINNER)]
            rows += [one_row(f"{ORANGE}{sign} {self.busy}… {GREY}(esc to interrupt)", self._width), ""]
        rows += [one_row(f"{GREY}  waiting: {text}", self._width) for text in self.queued[-3:]]
        rule = GREY + "─" * self._width + RESET
        typed = wrap(printable(self.box), self._width - 3)[-_BOX_ROWS:]
        rows.append(rule)
        rows += [("❯ " if number == 0 else "  ") + row for number, row in enumerate(typed)]
        caret_row, caret_column = len(rows) - 1, 2 + width_of(typed[-1])
        rows.append(rule)
        rows += [one_row("  " + line, self._width) for line in self.status]
        return rows, caret_row, caret_column

    def _dialog(self, rows: list[str]) -> tuple[list[str], int, int]:
        assert self.dialog is not None
        question, options, chosen = self.dialog
        rows.append(BLUE + "╌" * self._width + RESET)
        rows += [f" {BOLD}{row}{RESET}" for row in wrap(printable(question), self._width - 2)]
        for number, option in enumerate(options):
            pointer = f"{BLUE}❯" if number == chosen else " "
            rows.append(one_row(f" {pointer} {number + 1}. {option}", self._width))
        return rows, len(rows) - 1, 1

    def _rows(self, line: str) -> list[str]:
        """A coloured line as it will be folded: only its colours at the ends are kept across rows."""
        plain = _SGR.sub("", line)
        if width_of(plain) <= self._width:
            return [line]
        colours = "".join(_SGR.findall(line.removesuffix(RESET)))
        return [colours + row + RESET for row in wrap(plain, self._width)]

    def _to_top(self) -> str:
        return "\r" + (f"\x1b[{self._caret_row}A" if self._caret_row else "")

    def _write(self, text: str) -> None:
        data = text.encode("utf-8", "replace")
        try:
            while data:
                data = data[os.write(self._out, data) :]
        except OSError:
            return  # the terminal is gone; reading the keyboard will tell


def _columns(mark: str) -> int:
    return width_of(_SGR.sub("", mark))
