"""What Claude Code's screen shows: the input box, a dialog, a figure."""

import re
from math import inf

from batonpass.agents.base import Box, BoxState
from batonpass.agents.claude.limits import DEFAULT_WINDOW, LARGE_WINDOW
from batonpass.terminals.base import Screen
from batonpass.terminals.cells import Cell, cells, plain

_RULE = re.compile(r"─{8,}")
_PROMPT, _SHELL_PROMPT = "❯\u00a0", "!\u00a0"
_ABRIDGED = re.compile(r"\[Pasted text #\d+(?: \+(\d+) lines?)?\]")
_CARET_HOME = 2  # columns taken by the prompt sign and its blank


def abridges(shown: str, text: str) -> bool | None:
    """Whether a placeholder in the box stands for this text, told by its further lines; None for no placeholder.

    >>> abridges("[Pasted text #2 +3 lines]", "a\\nb\\nc\\nd"), abridges("a", "a")
    (True, None)
    """
    found = _ABRIDGED.fullmatch(shown)
    return None if found is None else int(found[1] or 0) == text.count("\n")


def box(screen: Screen) -> Box:
    """What stands in the input box. A placeholder or a suggestion is not text: it is dim, text is not.

    Shell mode counts as text, a lone `!`: a prompt typed there would be run as a command.
    """
    rows = list(cells(screen.rows))
    rules = [index for index, row in enumerate(rows) if _RULE.match(plain(row))]
    if len(rules) < 2:
        return Box(BoxState.UNKNOWN)
    top, bottom = rules[-2], rules[-1]
    inside = rows[top + 1 : bottom]
    if not inside or not plain(inside[0]).startswith((_PROMPT, _SHELL_PROMPT)):
        return Box(BoxState.UNKNOWN)
    shell = plain(inside[0]).startswith(_SHELL_PROMPT)
    typed = inside[0][_CARET_HOME:]
    home = (screen.cursor_x, screen.cursor_y) == (_CARET_HOME, top + 1)
    if len(inside) == 1 and home and _is_placeholder(typed):
        return Box(BoxState.TEXT, "!") if shell else Box(BoxState.EMPTY)
    lines = [("!" if shell else "") + plain(typed), *(plain(row)[_CARET_HOME:] for row in inside[1:])]
    return Box(BoxState.TEXT, "\n".join(line.rstrip() for line in lines))


def _is_placeholder(typed: list[Cell]) -> bool:
    """Nothing, or a hint: its first cell is under the caret, every other is dim.

    One character alone under the caret could be either; it counts as text.
    """
    shown = [index for index, cell in enumerate(typed) if not cell.char.isspace()]
    if not shown:
        return True
    return shown[-1] > 0 and all(typed[index].dim for index in shown if index > 0)


_DIALOGS = (
    (re.compile(r"Yes, I trust this folder"), "asks whether to trust this folder"),
    (re.compile(r"New MCP servers? found"), "asks about a new MCP server"),
    (re.compile(r"1\. No, exit"), "asks to accept the bypass mode"),
    (re.compile(r"Showing detailed transcript|ctrl\+o to toggle"), "shows the transcript view"),
    (re.compile(r"Do you want to [^\n]*"), "asks for permission"),
    (re.compile(r"❯ *\d+\. \S"), "shows a list to choose from"),
    (re.compile(r"Esc to (?:cancel|close|exit|go back)", re.IGNORECASE), "shows a dialog"),
)


def dialog(screen: Screen) -> str | None:
    """What stands in the way of typing, in a few words; None when the input box is there."""
    text = screen.text
    if "Showing detailed transcript" not in text and box(screen).state is not BoxState.UNKNOWN:
        return None
    return next((words for pattern, words in _DIALOGS if pattern.search(text)), None)


_MOST_TOKENS = 10**12
_PAIR = r"(?P<used>[\d,]+)\s*/\s*(?P<window>[\d,]+)"
_FIGURES = (
    re.compile(rf"Token usage:\s*{_PAIR}"),
    re.compile(rf"Context:\s*[\d.]+%\s*\({_PAIR}\s*tokens\)"),
    re.compile(r"context:\s*(?P<used>[\d.,]+[kKmM]?) tokens \((?P<percent>[\d.]+)%\)"),
)


def figures(screen: Screen) -> tuple[int, int | None] | None:
    """Tokens used and the window as the screen shows them, the lowest on the screen counts."""
    text = screen.text
    found = [match for pattern in _FIGURES for match in pattern.finditer(text)]
    if not found:
        return None
    match = max(found, key=lambda match: match.start())
    used = _tokens(match["used"])
    if used is None:
        return None
    if "window" in match.re.groupindex:
        return used, _tokens(match["window"]) or None
    return used, _window_from(used, _float(match["percent"]))


def _tokens(text: str) -> int | None:
    """The count that is meant; None where the screen shows something that only looks like one."""
    scale = {"k": 1_000, "m": 1_000_000}.get(text[-1].lower(), 1)
    amount = _float(text.rstrip("kKmM").replace(",", "")) * scale
    return round(amount) if amount <= _MOST_TOKENS else None


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return inf


def _window_from(used: int, percent: float) -> int | None:
    """The window behind a rounded percentage: a usual one where the rounding allows it."""
    if not 0 < percent <= 100:
        return None
    low, high = (100 * used / (percent + half) for half in (0.51, -0.51))
    usual = (window for window in (DEFAULT_WINDOW, LARGE_WINDOW) if low * 0.99 <= window <= high * 1.01)
    return next(usual, round(100 * used / percent))
