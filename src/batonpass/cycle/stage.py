"""What a cycle acts with: one object that the steps are handed, so that they know no globals."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from batonpass.clock import Clock
from batonpass.store import Store
from batonpass.supervisor.keys import Keys
from batonpass.supervisor.known import Known
from batonpass.supervisor.offers import Offers
from batonpass.supervisor.orders import Successor
from batonpass.supervisor.settings import Settings
from batonpass.supervisor.slots import Slots
from batonpass.supervisor.watch import Watch


class Launcher(Protocol):
    """Starts the agent anew in a session's own pane."""

    async def respawn(
        self, watch: Watch, *, kick: str | None, resume: str | None = None, to: Successor | None = None
    ) -> str | None:
        """The new conversation's id, where the agent lets us choose it. Raises TerminalError, LaunchError."""
        ...

    async def replaced(self, watch: Watch, pid: int | None) -> bool:
        """Whether another process than this one runs in the pane already; the session is then bound to it."""
        ...

    async def last_words(self, watch: Watch) -> str:
        """What the session's pane shows last; "" where nobody can tell."""
        ...

    def draft_dir(self, watch: Watch) -> Path: ...


Probe = Callable[[str], None]  # a point of a cycle
Hold = Callable[[Path, str], Awaitable[None]]  # a session's folder, a step


def nothing(point: str) -> None:
    return None


async def at_once(folder: Path, step: str) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Stage:
    store: Store
    clock: Clock
    keys: Keys
    slots: Slots
    launcher: Launcher
    host: str
    watch: Callable[[str], Watch | None]  # by Baton's session id
    config: Settings  # by project folder
    known: Known
    notify: Callable[[str, str], Awaitable[None]]  # session id, one sentence for a person
    probe: Probe = nothing  # told of every point at which a crash must be survived
    hold: Hold = at_once  # rehearsals stand still here

    def offers(self, watch: Watch) -> Offers:
        return Offers(watch.folder, watch.agent)
