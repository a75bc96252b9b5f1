"""What Gemini CLI's screen shows: its input box, or a dialog in the place of it."""

import re
from itertools import takewhile

from batonpass.agents.base import Box, BoxState
from batonpass.agents.setbacks import OVERLOADED, RATE_LIMIT
from batonpass.terminals.base import Screen
from batonpass.terminals.cells import cells, plain
from batonpass.transcripts.events import Failed

_SIGN = re.compile(r" ([>*!]) ")  # before what is typed: as usual, where everything is allowed, and for the shell
_CARET_HOME = 3  # columns taken by the sign with a blank on both sides
# Its hint stands two columns to the right of where typed text begins. In vim's normal mode keys are commands.
_HINT = re.compile(r"  (?:Type your message or .*|Press 'Esc' for NORMAL mode\.)")
_SHELL_HINT = "  Type your shell command"
_ABRIDGED = re.compile(r"\[Pasted Text: (\d+) (lines|chars)(?: #\d+)?\]")
_DIALOGS = (
    (re.compile(r"Do you trust the files in this folder\?"), "asks whether to trust this folder"),
    (re.compile(r"Apply this change\?|Allow execution|Do you want to"), "asks for permission"),
    (re.compile(r"How would you like to authenticate|Waiting for auth|API key"), "asks to sign in"),
    (re.compile(r"● *\d+\. \S"), "shows a list to choose from"),
)
# Behind these it says of what model, and perhaps when it may be used again.
_REFUSALS = ((RATE_LIMIT, "Usage limit reached for "), (OVERLOADED, "We are currently experiencing high demand"))


def dialog(screen: Screen) -> str | None:
    """What stands in the place of the input box, in a few words; None when the box is there."""
    if box(screen).state is not BoxState.UNKNOWN:
        return None
    text = screen.text
    return next((words for pattern, words in _DIALOGS if pattern.search(text)), None)


def refused(screen: Screen, at: float) -> Failed | None:
    """What its provider said, where it asks what to do about that and its record tells nothing."""
    if dialog(screen) is None:
        return None
    rows = [plain(row).strip("│ ") for row in cells(screen.rows)]
    for kind, beginning in _REFUSALS:
        place = next((n for n, row in enumerate(rows) if row.startswith(beginning)), None)
        if place is not None:
            return Failed(at, kind, " ".join(takewhile(bool, rows[place:])))
    return None


def abridges(shown: str, text: str) -> bool | None:
    """Whether a placeholder in the box stands for this text, told by its lines or its length; None for no placeholder.

    >>> abridges("[Pasted Text: 6 lines]", "a\\nb\\nc\\nd\\ne\\nf"), abridges("a", "a")
    (True, None)
    """
    found = _ABRIDGED.fullmatch(shown)
    if found is None:
        return None
    length = len(text.encode("utf-16-le", "surrogatepass")) // 2  # as JavaScript counts
    return int(found[1]) == (text.count("\n") + 1 if found[2] == "lines" else length)


def box(screen: Screen) -> Box:
    """What stands in the input box: it begins at the last sign above the caret, and its further rows are indented.

    Shell mode counts as text, a lone `!`: a prompt typed there would be run.
    """
    rows = [plain(row).rstrip() for row in cells(screen.rows)]
    signs = [n for n, row in enumerate(rows[: screen.cursor_y + 1]) if _SIGN.match(row + " ")]
    if not signs or screen.cursor_x < _CARET_HOME:
        return Box(BoxState.UNKNOWN)
    top = signs[-1]
    end = next(
        (n for n in range(top + 1, len(rows)) if rows[n] and not rows[n].startswith(" " * _CARET_HOME)), len(rows)
    )
    if screen.cursor_y >= end:
        return Box(BoxState.UNKNOWN)  # something else stands below the sign: it is an earlier prompt's
    sign, first = rows[top][1], rows[top][_CARET_HOME:]
    home = (screen.cursor_x, screen.cursor_y) == (_CARET_HOME, top)
    if home and sign == "!" and first == _SHELL_HINT:
        return Box(BoxState.TEXT, "!")
    if home and sign != "!" and _HINT.fullmatch(first):
        return Box(BoxState.EMPTY)
    lines = [first, *(row[_CARET_HOME:] for row in rows[top + 1 : end])]
    text = "\n".join(lines).rstrip()
    if not text and sign != "!":
        return Box(BoxState.UNKNOWN)  # it is just being drawn
    return Box(BoxState.TEXT, ("!" if sign == "!" else "") + text)
