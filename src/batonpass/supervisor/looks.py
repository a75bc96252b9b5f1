"""Looks at a session as soon as there is something to see: a file of its agent changed, or the agent has spoken."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from batonpass.store import StoreAway
from batonpass.supervisor.act import Supervisor
from batonpass.supervisor.files import Files, Owners
from batonpass.supervisor.watch import Watch

log = logging.getLogger(__name__)


class Looks:
    """Follows what the agents of all live sessions write and say."""

    def __init__(self, supervisor: Supervisor, draft_dir: Callable[[Watch], Path]) -> None:
        self._supervisor, self._draft_dir = supervisor, draft_dir
        self._files = Files(self._changed)
        self._owners = Owners()
        self._woken: set[str] = set()  # sessions whose agents have spoken since the last look at them

    def start(self) -> None:
        self._files.start()

    async def stop(self) -> None:
        await self._files.stop()

    def follow(self) -> None:
        """Follow exactly the sessions that live now, each in the conversation that it has."""
        owners = Owners()
        for watch in self._supervisor.watches.values():
            if not watch.gone:
                watch.agent.wake = partial(self._wake, asyncio.get_running_loop(), watch)
                own = watch.agent.state_files(watch.binding)
                files = [path for path in own if not path.is_dir()]
                folders = [self._draft_dir(watch), *(path for path in own if path.is_dir())]
                if watch.conversation.transcript is not None:
                    files.append(watch.conversation.transcript)
                    folders.append(watch.conversation.transcript.parent)  # where the next conversation's will be
                owners.add(watch.session.id, files, folders)
        self._owners = owners
        self._files.want(owners.folders)

    def at(self, watch: Watch) -> None:
        """Look at a session now; what the store cannot take part in is made up for when it is back."""
        try:
            watch.refresh()
            self._supervisor.follow_word(watch)
            self._supervisor.take_news(watch)
        except StoreAway:
            log.debug("%s is considered again when the store is back", watch.session.name)

    def _changed(self, files: frozenset[Path]) -> None:
        for session in self._owners.of(files):
            watch = self._supervisor.watch(session)
            if watch is not None:
                self._take_in(watch)

    def _wake(self, loop: asyncio.AbstractEventLoop, watch: Watch) -> None:
        """An agent has said something, in a thread of its own. One look takes in all that it said at once."""
        if watch.session.id not in self._woken:
            self._woken.add(watch.session.id)
            with suppress(RuntimeError):  # the loop has ended, and with it the daemon will
                loop.call_soon_threadsafe(self._spoken, watch)

    def _spoken(self, watch: Watch) -> None:
        self._woken.discard(watch.session.id)
        if not watch.gone and self._supervisor.watch(watch.session.id) is watch:  # else it only outlived its session
            self._take_in(watch)

    def _take_in(self, watch: Watch) -> None:
        self.at(watch)
        watch.changed()
        self._supervisor.known.follow(watch)
