"""Tells when files of the agents change: kernel events, and a slow look round as the net under them."""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

from watchfiles import awatch

log = logging.getLogger(__name__)


class Files:
    """Calls back with the folder in which something changed. Folders that are not there yet are taken up later."""

    def __init__(self, changed: Callable[[Path], None]) -> None:
        self._changed = changed
        self._wanted: frozenset[Path] = frozenset()
        self._watched: frozenset[Path] = frozenset()
        self._again = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

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
            *self._watched, stop_event=self._again, debounce=50, step=10, recursive=False, rust_timeout=5_000
        )
        async for batch in changes:
            for folder in {Path(path).parent for _, path in batch}:
                self._changed(folder)
