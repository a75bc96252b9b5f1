"""When the database is away: who needs it waits, and everything that was missed is made up for when it is back."""

import asyncio
import logging

from batonpass.clock import Clock
from batonpass.store import Store

log = logging.getLogger(__name__)

_LOOK_SECONDS = 0.5
_REMIND_SECONDS = 60.0


async def until_back(store: Store, clock: Clock) -> None:
    """Return when the database can be written to. The event loop goes on meanwhile."""
    while not await asyncio.to_thread(store.answers):
        await clock.sleep(_LOOK_SECONDS)


class Outage:
    """What is said about a database that is away: once when it goes, once a minute, and once when it is back."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._since: float | None = None
        self._said = 0.0

    @property
    def sentence(self) -> str | None:
        """For people who ask while it lasts."""
        if self._store.away is None:
            return None
        return f"{self._store.away} Handoffs wait for it, and {self._store.late} records are kept to be written then."

    def notice(self) -> bool:
        """Look whether it is away, and tell the log; True when it is."""
        if self._store.away is None:
            return False
        now = self._clock.now()
        if self._since is None:
            self._since = now
        if now - self._said >= _REMIND_SECONDS:
            self._said = now
            log.warning("%s", self.sentence)
        return True

    async def over(self) -> bool:
        """Wait until it is back; True when it was away at all."""
        away = self.notice()
        if not away and self._since is None:
            return False
        while self.notice() and not await asyncio.to_thread(self._store.answers):
            await self._clock.sleep(_LOOK_SECONDS)
        if self._since is not None:
            log.warning("the store %s is back after %.0f s", self._store.where, self._clock.now() - self._since)
        self._since, self._said = None, 0.0
        return True
