"""The seam to the place where interactive sessions are shown."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from batonpass.session import PaneRef
from batonpass.terminals.text import strip_escapes


class TerminalError(Exception):
    """The terminal refused or did not answer in time; says which call, and what it said."""


class PaneGone(TerminalError):
    """The pane (or its whole server) is not there any more."""


class PaneBusy(TerminalError):
    """Keys would not reach the application as a whole: the pane is dead, or in `mode` (someone reads)."""

    def __init__(self, message: str, mode: str) -> None:
        super().__init__(message)
        self.mode = mode  # "" when the pane is dead


@dataclass(frozen=True, slots=True)
class PaneInfo:
    ref: PaneRef
    pid: int
    dead: bool
    dead_status: int | None
    mode: str  # "" when the pane is in no tmux mode
    width: int
    height: int
    title: str
    command: str
    cwd: Path
    session_name: str
    attached: int  # how many clients look at its session


@dataclass(frozen=True, slots=True)
class Screen:
    """What a pane shows, escape sequences kept, and where the caret is."""

    rows: tuple[str, ...]
    cursor_x: int
    cursor_y: int

    @property
    def text(self) -> str:
        """The rows without escape sequences, joined by newlines.

        >>> Screen(("\\x1b[1mbold\\x1b[0m", "plain"), 0, 0).text
        'bold\\nplain'
        """
        return "\n".join(strip_escapes(row) for row in self.rows)


class Terminal(Protocol):
    """Every call is bounded in time. A vanished pane raises PaneGone, any other refusal TerminalError."""

    async def open(self, name: str, cwd: Path, argv: Sequence[str], *, width: int = 200, height: int = 50) -> PaneInfo:
        """A new detached session of that name (made unique) whose only pane runs argv.

        The pane stays when argv ends.
        """
        ...

    async def info(self, pane: PaneRef) -> PaneInfo: ...

    def attach_argv(self, info: PaneInfo) -> list[str]:
        """The command that shows the pane to a person in this terminal."""
        ...

    async def list(self) -> list[PaneInfo]:
        """Every pane of the server; empty when no server runs."""
        ...

    async def screen(self, pane: PaneRef, *, above: int = 0) -> Screen:
        """What it shows, and so many rows that have left it at the top."""
        ...

    async def paste(self, pane: PaneRef, text: str) -> None:
        """Put text into the application as one bracketed paste, with no Enter. Raises PaneBusy."""
        ...

    async def press(self, pane: PaneRef, key: str) -> None:
        """One key by its tmux name: Enter, Escape, C-c. Raises PaneBusy."""
        ...

    async def leave_mode(self, pane: PaneRef) -> None:
        """Leave copy-mode and the like; nothing reaches the application."""
        ...

    async def respawn(self, pane: PaneRef, cwd: Path, argv: Sequence[str]) -> PaneInfo:
        """End what runs in the pane and run argv in its place; id and size stay."""
        ...

    async def close(self, pane: PaneRef) -> None:
        """Remove the pane. One that is gone already is no error."""
        ...

    async def tell(self, pane: PaneRef, text: str) -> None:
        """A one-line message to the people who look at the pane; nothing reaches the application."""
        ...
