"""What Claude Code's screen shows: the input box, a dialog, a figure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

from batonpass.agents.base import Box, BoxState
from batonpass.agents.claude.limits import DEFAULT_WINDOW, LARGE_WINDOW
from batonpass.terminals.base import Screen

_SGR = re.compile(r"\x1b\[([0-9;:]*)m")
_OTHER_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])")
_RULE = re.compile(r"─{8,}")
_PROMPT, _SHELL_PROMPT = "❯\u00a0", "!\u00a0"
_CARET_HOME = 2  # columns taken by the prompt sign and its blank


@dataclass(frozen=True, slots=True)
class _Cell:
    char: str
    dim: bool
    inverse: bool


def box(screen: Screen) -> Box:
    """What stands in the input box. A placeholder or a suggestion is not text: it is dim, text is not.

    Shell mode counts as text, a lone `!`: a prompt typed there would be run as a command.
    """
    rows = list(_cells(screen.rows))
    rules = [index for index, row in enumerate(rows) if _RULE.match(_plain(row))]
    if len(rules) < 2:
        return Box(BoxState.UNKNOWN)
    top, bottom = rules[-2], rules[-1]
    inside = rows[top + 1 : bottom]
    if not inside or not _plain(inside[0]).startswith((_PROMPT, _SHELL_PROMPT)):
        return Box(BoxState.UNKNOWN)
    shell = _plain(inside[0]).startswith(_SHELL_PROMPT)
    typed = inside[0][_CARET_HOME:]
    home = (screen.cursor_x, screen.cursor_y) == (_CARET_HOME, top + 1)
    if len(inside) == 1 and home and _is_placeholder(typed):
        return Box(BoxState.TEXT, "!") if shell else Box(BoxState.EMPTY)
    lines = [("!" if shell else "") + _plain(typed), *(_plain(row)[_CARET_HOME:] for row in inside[1:])]
    return Box(BoxState.TEXT, "\n".join(line.rstrip() for line in lines))


def _is_placeholder(typed: list[_Cell]) -> bool:
    """Nothing, or a hint: its first cell is under the caret, every other is dim.

    One character alone under the caret could be either; it counts as text.
    """
    shown = [index for index, cell in enumerate(typed) if not cell.char.isspace()]
    if not shown:
        return True
    return shown[-1] > 0 and all(typed[index].dim for index in shown if index > 0)


def _plain(row: list[_Cell]) -> str:
    return "".join(cell.char for cell in row)


def _cells(rows: tuple[str, ...]) -> Iterator[list[_Cell]]:
    """Each row as cells; attributes run on from row to row, as terminals send them."""
    dim = inverse = False
    for row in rows:
        cells: list[_Cell] = []
        position = 0
        while position < len(row):
            if match := _SGR.match(row, position):
                dim, inverse = _attributes(match.group(1), dim, inverse)
                position = match.end()
            elif match := _OTHER_ESCAPE.match(row, position):
                position = match.end()
            else:
                cells.append(_Cell(row[position], dim, inverse))
                position += 1
        yield cells


def _attributes(codes: str, dim: bool, inverse: bool) -> tuple[bool, bool]:
    numbers = iter(re.split("[;:]", codes))
    for number in numbers:
        match number:
            case "" | "0":
                dim = inverse = False
            case "2":
                dim = True
            case "22":
                dim = False
            case "7":
                inverse = True
            case "27":
                inverse = False
            case "38" | "48" | "58":  # a colour: its own numbers (5;n or 2;r;g;b) are no attributes
                for _ in range(1 if next(numbers, "") == "5" else 3):
                    next(numbers, "")
            case _:
                pass
    return dim, inverse


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
