"""Tells when files of the agents change: kernel events, and a slow look round as the net under them."""

import asyncio
import logging
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from watchfiles import awatch

log = logging.getLogger(__name__)

# Milliseconds. A cycle waits for one file after the other, so these add up; smaller ones cost CPU while idle.
DEBOUNCE = 10
STEP = 2
_REMEMBERED = 4_000  # files, many with a name that is used once; whoever was forgotten is looked at once more
_SETTLED = 20_000_000  # nanoseconds: dates of files are no finer than this on some systems


class Owners:
    """Whose file is it? Asked for every line that an agent writes, so hundreds of sessions must not slow it down."""

    def __init__(self) -> None:
        self._files: dict[Path, set[str]] = {}
        self._folders: dict[Path, set[str]] = {}

    @property
    def folders(self) -> frozenset[Path]:
        """Every folder in which somebody has a file."""
        return frozenset(self._folders) | {path.parent for path in self._files}

    def add(self, session: str, files: Iterable[Path], folders: Iterable[Path]) -> None:
        """These files are the session's, and any new file in these folders may be."""
        for path in files:
            self._files.setdefault(path, set()).add(session)
        for folder in folders:
            self._folders.setdefault(folder, set()).add(session)

    def of(self, changed: Iterable[Path]) -> set[str]:
        """The sessions that these files may concern."""
        found: set[str] = set()
        for path in changed:
            found |= self._files.get(path) or self._folders.get(path.parent, set())
        return found


class Files:
    """Calls back with the files that changed. Folders that are not there yet are taken up later."""

    def __init__(self, changed: Callable[[frozenset[Path]], None]) -> None:
        self._changed = changed
        self._wanted: frozenset[Path] = frozenset()
        self._watched: frozenset[Path] = frozenset()
        self._again = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._seen: dict[str, tuple[int, int, int] | None] = {}

    def start(self) -> None:
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def want(self, folders: frozenset[Path]) -> None:
        """Follow exactly these folders from now on."""
        self._wanted = folders
        if frozenset(f for f in folders if f.is_dir()) != self._watched:
            self._again.set()

    async def _run(self) -> None:
        while True:
            self._again.clear()
            self._watched = frozenset(f for f in self._wanted if f.is_dir())
            if not self._watched:
                await self._again.wait()
                continue
            try:
                await self._follow()
            except OSError as error:
                # Too many watches, a folder that vanished: the look round still finds every change.
                log.warning("file events are off for the moment: %s", error)
                await self._again.wait()

    async def _follow(self) -> None:
        changes = awatch(
            *self._watched, stop_event=self._again, debounce=DEBOUNCE, step=STEP, recursive=False, rust_timeout=5_000
        )
        async for batch in changes:
            changed = frozenset(Path(name) for _, name in batch if self._is_new(name))
            if changed:
                self._changed(changed)

    def _is_new(self, path: str) -> bool:
        """Whether a file is another than at its last event. One that was only closed tells of itself, too: a database
        that is read at each of its events would be read for ever."""
        try:
            found = os.stat(path)
            state = found.st_ino, found.st_size, found.st_mtime_ns
        except OSError:
            state = None
        if path in self._seen and self._seen[path] == state:
            return False
        if state is not None and abs(time.time_ns() - state[2]) < _SETTLED:
            return True  # it may change once more before its date does
        if len(self._seen) >= _REMEMBERED:
            self._seen.clear()
        self._seen[path] = state
        return True
