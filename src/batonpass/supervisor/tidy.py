"""What has had its time goes: old records, sessions that ended, their folders, and the history of projects."""

import asyncio
import logging
import os
import shutil
from pathlib import Path

from batonpass.config import Config
from batonpass.handoff.retention import tidy
from batonpass.store import Store
from batonpass.supervisor.act import Supervisor
from batonpass.supervisor.settings import Settings

log = logging.getLogger(__name__)

_HOUR = 3600.0
_DAY = 86_400.0


class Tidy:
    """Looks every hour, at the start too, and at each project once a day."""

    def __init__(self, supervisor: Supervisor, store: Store, config: Settings, home: Path, host: str) -> None:
        self._supervisor, self._store, self._config = supervisor, store, config
        self._home, self._host = home, host
        self._looked = 0.0
        self._done: dict[Path, float] = {}

    async def look(self, now: float) -> None:
        """One round, if it is time for one; also when the clock was set back."""
        if abs(now - self._looked) < _HOUR:
            return
        self._looked = now
        self._supervisor.forget_ended(now - _HOUR)
        due = {project: self._config(project) for project in self._projects(now)}
        await asyncio.to_thread(self._records, now)
        await asyncio.to_thread(self._history, due, now)

    def _projects(self, now: float) -> set[Path]:
        """Those whose day is over. One in which a handoff is under way waits: its document must stay where it is."""
        ours = {session.id: session.project for session in self._store.sessions(host=self._host)}
        known = set(ours.values())
        if not self._store.shared:
            known |= {record.project for record in self._store.handoffs()}
        busy = {ours.get(cycle.session) for cycle in self._store.cycles(host=self._host, running=True)}
        return {each for each in known - busy if abs(now - self._done.get(each, 0.0)) >= _DAY and each.is_dir()}

    def _records(self, now: float) -> None:
        """Old readings are thinned, and what is older than the retention goes; live sessions keep theirs."""
        before = now - _DAY * self._config(None).retention_days
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
