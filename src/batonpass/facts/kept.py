"""Facts kept current while a session runs: only what its transcript grew by is read."""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from batonpass.agents.base import BackgroundTask
from batonpass.facts.gather import Followed
from batonpass.facts.model import Facts
from batonpass.transcripts.record import Record


class Kept:
    """One transcript, followed. `read` is cheap and may be called at every turn; `facts` reads what is left first.

    A transcript that was replaced is followed anew. Safe to call from several threads.
    """

    def __init__(self, transcript: Path, record: Record, project: Path, is_own: Callable[[str], bool]) -> None:
        self.transcript = transcript
        self._project, self._is_own = project, is_own
        self._record = record
        self._followed = Followed(project, is_own)
        self._lock = threading.Lock()
        self._last: tuple[tuple[object, ...], Facts] | None = None

    def read(self) -> None:
        """Take in what was appended since the last look."""
        with self._lock:
            self._read()

    def look_ahead(self, at: float) -> None:
        """Read what is there and ask git, for facts that may be wanted in a moment."""
        with self._lock:
            self._read()
            self._followed.look_ahead(at)

    def facts(
        self,
        agent: str,
        agent_session: str | None,
        background: Sequence[BackgroundTask],
        *,
        at: float,
        previous: Path | None = None,
        max_age: float = 0.0,
    ) -> Facts:
        """Everything that can be known now. Where nothing was said since, those of `max_age` seconds ago will do."""
        with self._lock:
            self._read()
            asked = (self._followed, self._followed.seen, agent, agent_session, tuple(background), previous)
            if self._last is not None and self._last[0] == asked and 0 <= at - self._last[1].at < max_age:
                return self._last[1]
            facts = self._followed.facts(agent, agent_session, self.transcript, background, at=at, previous=previous)
            self._last = asked, facts
            return facts

    def _read(self) -> None:
        batch = self._record.read()
        if batch.reset:
            self._followed = Followed(self._project, self._is_own)
        self._followed.follow(batch.events)
