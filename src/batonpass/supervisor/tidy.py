"""What has had its time goes: old records, sessions that ended, their folders, and the history of projects."""

import asyncio
import logging
import os
import shutil
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path

from batonpass.agents.base import Status
from batonpass.config import Config
from batonpass.handoff.retention import tidy
from batonpass.session import State
from batonpass.store import Store
from batonpass.supervisor import orders
from batonpass.supervisor.act import Supervisor
from batonpass.supervisor.health import DIED
from batonpass.supervisor.settings import Settings

log = logging.getLogger(__name__)

_HOUR = 3600.0
_DAY = 86_400.0
_ENGINE_SECONDS = 60.0  # it waits for a database that went away, and the look round must not
Forget = Callable[[Sequence[str]], Awaitable[None]]  # drops what the engine of cycles has of these


class Tidy:
    """Looks every hour, at the start too, and at each project once a day."""

    def __init__(
        self, supervisor: Supervisor, store: Store, config: Settings, home: Path, host: str, forget_cycles: Forget
    ) -> None:
        self._supervisor, self._store, self._config = supervisor, store, config
        self._home, self._host, self._forget_cycles = home, host, forget_cycles
        self._looked = 0.0
        self._done: dict[Path, float] = {}

    async def look(self, now: float) -> None:
        """One round, if it is time for one; also when the clock was set back."""
        if abs(now - self._looked) < _HOUR:
            return
        self._looked = now
        self._supervisor.forget_ended(now - _HOUR)
        due = {project: self._config(project) for project in self._projects(now)}
        before = now - _DAY * self._config(None).retention_days
        # First the engine: what it was not told of would lie there for ever.
        outlived = await asyncio.to_thread(self._store.outlived, before)
        await self._supervisor.clock.within(self._forget_cycles(outlived), _ENGINE_SECONDS)
        await asyncio.to_thread(self._records, now, before)
        self._end_long_dead(now, before)
        await asyncio.to_thread(self._history, due, now)

    def _end_long_dead(self, now: float, before: float) -> None:
        """A session that died so long ago that its death was forgotten is over: nobody has brought it back."""
        for watch in self._supervisor.watches.values():
            session = watch.session
            if session.state is not State.DEAD or session.created >= before or watch.step is not None:
                continue
            if not self._store.events(session=session.id, name=DIED, limit=1):
                watch.session, watch.status = replace(session, state=State.ENDED, ended=now), Status(State.ENDED)
                watch.changed()
                self._supervisor.persist(watch)
                orders.forget(watch.folder)

    def _projects(self, now: float) -> set[Path]:
        """Those whose day is over. One in which a handoff is under way waits: its document must stay where it is."""
        ours = {session.id: session.project for session in self._store.sessions(host=self._host)}
        known = set(ours.values())
        if not self._store.shared:
            known |= {record.project for record in self._store.handoffs()}
        busy = {ours.get(cycle.session) for cycle in self._store.cycles(host=self._host, running=True)}
        return {each for each in known - busy if abs(now - self._done.get(each, 0.0)) >= _DAY and each.is_dir()}

    def _records(self, now: float, before: float) -> None:
        """Old readings are thinned, and what is older than the retention goes; live sessions keep theirs."""
        thinned, gone = self._store.thin_readings(now), self._store.purge(before)
        log.info("tidied: %d readings thinned, %d old records removed", thinned, gone)
        known = {session.id for session in self._store.sessions()}
        folders = [entry for entry in os.scandir(self._home / "sessions") if entry.is_dir(follow_symlinks=False)]
        for entry in folders:
            # A folder that was made a moment ago may be of a session that is just being started.
            if entry.name not in known and entry.stat().st_mtime < now - _DAY:
                shutil.rmtree(entry.path, ignore_errors=True)

    def _history(self, due: dict[Path, Config], now: float) -> None:
        for project, config in due.items():
            self._done[project] = now
            try:
                done = tidy(project, config, now)
            except OSError as error:
                log.warning("the history of %s was not tidied: %s", project, error)
                continue
            if done.any:
                counts = len(done.archived), len(done.deleted), len(done.checkpoints)
                log.info("%s: %d handoffs archived, %d deleted, %d checkpoints deleted", project, *counts)
            if done.note:
                log.warning("%s: what was put away is not committed: %s", project, done.note)
