"""When the database is away: who needs it waits, and everything that was missed is made up for when it is back."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from batonpass.clock import Clock
from batonpass.store import Store, StoreAway

log = logging.getLogger(__name__)

_LOOK_SECONDS = 0.5
_REMIND_SECONDS = 60.0
_MOST_ROUNDS = 3  # of catching up, before what goes on is an outage of its own


async def until_back(store: Store, clock: Clock) -> None:
    """Return when the database can be written to. The event loop goes on meanwhile."""
    while not await asyncio.to_thread(store.answers):
        await clock.sleep(_LOOK_SECONDS)


class Outage:
    """What is said about a database that is away: once when it goes, once a minute, and once when it is back."""

    def __init__(self, store: Store, clock: Clock, back: Callable[[], Awaitable[None]]) -> None:
        self._store, self._clock, self._back = store, clock, back
        self._since: float | None = None
        self._said = 0.0
        self._known = store.outages

    @property
    def sentence(self) -> str | None:
        """For people who ask while it lasts."""
        if self._store.away is None:
            return None
        return f"{self._store.away} Handoffs wait for it, and {self._store.late} records are kept to be written then."

    async def lasts(self) -> bool:
        """Look whether the database is away; when it has come back, everything that was missed is made up for."""
        if self._since is None and self._store.outages == self._known:
            return False
        now = self._clock.now()
        self._since = now if self._since is None else self._since
        if now - self._said >= _REMIND_SECONDS:
            self._said = now
            log.warning("%s", self.sentence or "the store was away for a moment")
        try:
            if not await asyncio.to_thread(self._store.answers):
                return True
            known = await self._made_up_for()
        except StoreAway:
            return True
        log.warning("the store %s is back after %.0f s", self._store.where, self._clock.now() - self._since)
        self._since, self._said, self._known = None, 0.0, known
        return False

    async def _made_up_for(self) -> int:
        """Make up for what was missed; gives the outages that this covers.

        While a server starts it may refuse one asker after it has answered another: that is the same outage, and what
        was missed then is made up for as well.
        """
        for _ in range(_MOST_ROUNDS):
            known = self._store.outages
            await self._back()
            if self._store.outages == known:
                break
        return known
