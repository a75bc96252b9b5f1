"""Facts kept current while a session runs: only what its transcript grew by is read."""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from batonpass.agents.base import BackgroundTask
from batonpass.facts.gather import Followed
from batonpass.facts.model import Facts
from batonpass.transcripts.tail import Parse, Tail


class Kept:
    """One transcript, followed. `read` is cheap and may be called at every turn; `facts` reads what is left first.

    A transcript that was replaced is followed anew. Safe to call from several threads.
    """

    def __init__(self, transcript: Path, parse: Parse, project: Path, is_own: Callable[[str], bool]) -> None:
        self._transcript = transcript
        self._project, self._is_own = project, is_own
        self._tail = Tail(transcript, parse)
        self._followed = Followed(project, is_own)
        self._lock = threading.Lock()

    def read(self) -> None:
        """Take in what was appended since the last look."""
        with self._lock:
            self._read()

    def facts(
        self,
        agent: str,
        agent_session: str | None,
        background: Sequence[BackgroundTask],
        *,
        at: float,
        previous: Path | None = None,
    ) -> Facts:
        """Everything that can be known now."""
        with self._lock:
            self._read()
            return self._followed.facts(agent, agent_session, self._transcript, background, at=at, previous=previous)

    def _read(self) -> None:
        batch = self._tail.read()
        if batch.reset:
            self._followed = Followed(self._project, self._is_own)
        self._followed.follow(batch.events)
