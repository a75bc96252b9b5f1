"""What Codex's screen shows: its input box, or a dialog in the place of it."""

import re

from batonpass.agents.base import Box, BoxState
from batonpass.terminals.base import Screen
from batonpass.terminals.cells import Cell, cells, plain

_PROMPT, _SHELL_PROMPT = "›", "!"
_COUNTED = re.compile(r"\[Pasted Content (\d+) chars\](?: #\d+)?")
_CARET_HOME = 2  # columns taken by the prompt sign and its blank
# The last row of a dialog says which keys answer it; under the input box stand other hints, or none.
_KEYS = re.compile(r"\s*(?:press )?enter\b.*\b(?:esc|\^c)\b", re.IGNORECASE)
_DIALOGS = (
    (re.compile(r"Trust this folder\?"), "asks whether to trust this folder"),
    (re.compile(r"Hooks need review"), "asks to review hooks"),
    (re.compile(r"Would you like to [^\n]*"), "asks for permission"),
    (re.compile(r"\d\. Try new model"), "proposes another model"),
    (re.compile(r"Where should the new conversation run\?"), "asks where the new conversation should run"),
    (re.compile(r"› *\d+\. \S"), "shows a list to choose from"),
)


def dialog(screen: Screen) -> str | None:
    """What stands in the place of the input box, in a few words; None when the box may be there."""
    rows = [row for row in screen.text.split("\n") if row.strip()]
    if not rows or not _KEYS.match(rows[-1]):
        return None
    text = "\n".join(rows)
    return next((words for pattern, words in _DIALOGS if pattern.search(text)), "shows a dialog")


def abridges(shown: str, text: str) -> bool | None:
    """Whether a placeholder in the box stands for this text, told by its length; None for no placeholder.

    >>> abridges("[Pasted Content 7 chars]", "a\\nb\\nc\\nd"), abridges("a", "a")
    (True, None)
    """
    found = _COUNTED.fullmatch(shown)
    return None if found is None else int(found[1]) == len(text)


def box(screen: Screen) -> Box:
    """What stands in the input box: it begins at the last prompt sign above the caret, and the footer ends it.

    Its hint is dim, text is not. Shell mode counts as text, a lone `!`: a prompt typed there would be run.
    """
    rows = list(cells(screen.rows))
    texts = [plain(row).rstrip() for row in rows]
    signs = [n for n, text in enumerate(texts[: screen.cursor_y + 1]) if text.startswith((_PROMPT, _SHELL_PROMPT))]
    if dialog(screen) or not signs:
        return Box(BoxState.UNKNOWN)
    top = signs[-1]
    inside = rows[top : _footer(texts, screen.cursor_y)]
    while len(inside) > 1 and not plain(inside[-1]).strip():
        inside.pop()
    if not all(plain(row).startswith(" " * _CARET_HOME) for row in inside[1:] if plain(row).strip()):
        return Box(BoxState.UNKNOWN)  # something else stands below the sign: it is an earlier prompt's
    shell = texts[top].startswith(_SHELL_PROMPT)
    home = (screen.cursor_x, screen.cursor_y) == (_CARET_HOME, top)
    if len(inside) == 1 and home and _is_hint(inside[0][_CARET_HOME:]):
        return Box(BoxState.TEXT, "!") if shell else Box(BoxState.EMPTY)
    lines = [plain(row)[_CARET_HOME:].rstrip() for row in inside]
    return Box(BoxState.TEXT, ("!" if shell else "") + "\n".join(lines))


def _footer(texts: list[str], caret: int) -> int:
    """The row where the lines at the foot of the screen begin; its end where there are none."""
    end = max((n for n, text in enumerate(texts) if text.strip()), default=-1)
    begin = end
    while begin > 0 and texts[begin - 1].strip():
        begin -= 1
    return begin if begin > caret else end + 1


def _is_hint(typed: list[Cell]) -> bool:
    return all(cell.dim for cell in typed if not cell.char.isspace())
