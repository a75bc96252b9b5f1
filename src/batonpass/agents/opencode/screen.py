"""What opencode's screen shows: its input box, or a dialog."""

import re

from batonpass.agents.base import Box, BoxState
from batonpass.terminals.base import Screen

_COUNTED = re.compile(r"\[Pasted ~(\d+) lines\]")
_DIALOGS = ((re.compile(r"Permission required"), "asks for permission"),)


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
    return Box(BoxState.UNKNOWN)
