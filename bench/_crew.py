"""A house full of scripted sessions that hand off for ever by themselves, whose daemon may be killed at any moment."""

import contextlib
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from _common import ROOT

# isort: split
sys.path.insert(0, str(ROOT))  # the house is the one that the tests live in

from tests.system.house import House, Session

from batonpass.sim.postgres import private_postgres
from batonpass.sim.tmux_server import private_tmux
from batonpass.store import Store, default_url, open_store

# One turn takes a session to 155k of 167k: over the handoff rung, even a raised one, and not over the forcing one.
BRAIN: Mapping[str, object] = {"start": 51_000, "step": 26_000, "steps": 4, "jumps": {}}
NOTE = "echo step {n} >> NOTES.md"  # progress: without any, the guards would rightly stop the crew
# Every conversation hands off at once, which no guard would allow in earnest.
CONFIG = "breaker_per_hour: 100000\ncooldown_minutes: 0\nnotify:\n  desktop: false\n"
_LOOK = 0.5


class Crew(House):
    """`calm` lets every cycle end and begins no new one."""

    def __init__(self, folder: Path, tmux: str, url: str | None = None) -> None:
        super().__init__(folder, tmux, {"BATON_STORE": url} if url else None)
        self._url = url or default_url(self.home)
        self.members: list[Session] = []
        self.deleted: dict[Path, Path] = {}  # sealed files that a person deleted, and where they are kept for the judge
        self.keep = False
        self._settings = ""

    def settle(self, settings: str) -> None:
        """Use these settings besides those that let a crew go on for ever."""
        self._settings = settings
        self.configure(CONFIG + settings)

    def enlist(self, name: str, brain: Mapping[str, object]) -> Session:
        """One more session, which begins to work at once."""
        session = self.run(name, brain={**BRAIN, "command": NOTE, **brain})
        self.members.append(session)
        session.say("make the reader survive torn lines")
        return session

    def calm(self, seconds: float, meanwhile: Callable[[], None] = lambda: None) -> bool:
        """Begin no new cycle; whether all that were under way have ended and every agent is idle in that time."""
        self.configure(CONFIG + self._settings + "enabled: false\n")
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            meanwhile()
            with contextlib.suppress(OSError):
                if all(_at_rest(status) for status in self.statuses()):
                    return True
            time.sleep(_LOOK)
        return False

    def statuses(self) -> list[dict[str, Any]]:
        """What Baton says of every session."""
        listed: list[dict[str, Any]] = self.call("status", all=True)["sessions"]
        return listed

    def store(self) -> Store:
        """The record that the daemon keeps."""
        return open_store(self._url)


def _at_rest(status: Mapping[str, Any]) -> bool:
    return status["cycle"] is None and status["state"] in ("idle", "ended")


@contextlib.contextmanager
def crew(store: str, name: str) -> Iterator[Crew]:
    """An empty house on a database of that kind. Afterwards all has ended, and is gone unless `keep` was set."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # a run that is stopped leaves nothing behind either
    folder = Path(tempfile.mkdtemp(prefix=f"baton-{name}-")).resolve()
    with contextlib.ExitStack() as stack:
        url = stack.enter_context(private_postgres()) if store == "postgres" else None
        house = Crew(folder, stack.enter_context(private_tmux()), url)
        stack.callback(house.close)
        yield house
    if not house.keep:
        shutil.rmtree(folder, ignore_errors=True)
