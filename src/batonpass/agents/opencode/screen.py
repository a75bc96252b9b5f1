"""What opencode's screen shows: its input box, or a dialog."""

import re

from batonpass.agents.base import Box, BoxState
from batonpass.terminals.base import Screen

_SIDE, _FOOT, _EDGE = "┃", "╹", "▀"
_INDENT = 3  # columns taken by the box's side and what keeps the text away from it
_COUNTED = re.compile(r"\[Pasted ~(\d+) lines\]")
_HINT = re.compile(r"(?:Ask anything|Run a command)… \".*")
_SHELL = "Shell"  # stands for the agent's mode while a shell command is typed
_DIALOGS = (
    (re.compile(r"△ Permission required"), "asks for permission"),
    (re.compile(r"⇆ \w+ +enter "), "asks a question"),
)


def dialog(screen: Screen) -> str | None:
    """What stands in the place of the input box, in a few words; None when the box may be there."""
    return next((words for pattern, words in _DIALOGS if pattern.search(screen.text)), None)


def abridges(shown: str, text: str) -> bool | None:
    """Whether a placeholder in the box stands for this text, told by its lines; None for no placeholder.

    >>> abridges("[Pasted ~3 lines]", "a\\nb\\nc"), abridges("a", "a")
    (True, None)
    """
    found = _COUNTED.fullmatch(shown)
    return None if found is None else int(found[1]) == text.count("\n") + 1


def box(screen: Screen) -> Box:
    """What stands in the input box: between an empty row and the one that names mode and model, above its foot.

    The caret is inside, or something else is open. In shell mode it counts as text, a lone `!`: a prompt typed there
    would be run.
    """
    rows = screen.text.split("\n")
    feet = [n for n, row in enumerate(rows) if row.lstrip().startswith(_FOOT + _EDGE)]
    if dialog(screen) or not feet:
        return Box(BoxState.UNKNOWN)
    foot = feet[-1]
    left = rows[foot].index(_FOOT)
    right = left + 1 + len(re.match(f"{_EDGE}*", rows[foot][left + 1 :])[0])  # type: ignore[index]
    top = foot
    while top > 0 and rows[top - 1][left : left + 1] == _SIDE:
        top -= 1
    while (
        rows[top][left + 1 :].rstrip().endswith(_SIDE)
    ):  # what a slash proposes stands above the box, with a side of its own
        top += 1
    inside = [row[left + _INDENT : right].rstrip() for row in rows[top:foot]]
    caret_inside = top < screen.cursor_y < foot and left < screen.cursor_x < right
    if len(inside) < 4 or not caret_inside or inside[0] or inside[-2]:
        return Box(BoxState.UNKNOWN)
    typed, mode = inside[1:-2], inside[-1]
    shell = "!" if mode.split(" ")[0] == _SHELL else ""
    home = (screen.cursor_x, screen.cursor_y) == (left + _INDENT, top + 1)
    if home and len(typed) == 1 and (not typed[0] or _HINT.match(typed[0])):
        return Box(BoxState.TEXT, shell) if shell else Box(BoxState.EMPTY)
    return Box(BoxState.TEXT, shell + "\n".join(typed))
