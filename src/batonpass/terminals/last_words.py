"""What a program printed before it ended, as its pane still shows it."""

from batonpass.session import PaneRef
from batonpass.terminals.base import Screen, Terminal, TerminalError
from batonpass.terminals.text import one_line

_ROWS = 6
_LONGEST = 300
_TMUX = "Pane is dead"  # what tmux writes below it


async def last_words(terminal: Terminal, pane: PaneRef) -> str:
    """The last rows of a pane in one line; "" where it shows nothing, or is not there any more."""
    try:
        # The line that tmux adds to a dead pane moves the first one out of sight.
        dead = (await terminal.info(pane)).dead
        return told(await terminal.screen(pane, above=1 if dead else 0))
    except TerminalError:
        return ""


def told(screen: Screen) -> str:
    """The last rows of a screen, without tmux's own.

    >>> told(Screen(("error: not signed in", "run: agent login", "", "Pane is dead (status 1)"), 0, 0))
    'error: not signed in run: agent login'
    """
    rows = [row for row in screen.text.split("\n") if row.strip() and not row.startswith(_TMUX)]
    words = one_line(" ".join(rows[-_ROWS:]))
    return words if len(words) <= _LONGEST else f"…{words[-_LONGEST:]}"
