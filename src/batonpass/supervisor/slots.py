"""How many batons are in the air at once: the most urgent session first, and across hosts by a lease in the store."""

import asyncio
import heapq
import logging
from typing import Protocol

from batonpass.store import Store, StoreAway

log = logging.getLogger(__name__)

_LOOK_SECONDS = 0.5  # how often a place that another host holds is looked for


class Lease(Protocol):
    """The places that several hosts share."""

    def take(self, cycle: str, size: int) -> bool:
        """Whether the cycle has a place now."""
        ...

    def keep(self, cycles: frozenset[str]) -> None: ...

    def give(self, cycle: str) -> None: ...


class StoreLease:
    """Places as rows of the store: those of a host that is gone run out."""

    def __init__(self, store: Store, host: str) -> None:
        self._store, self._host = store, host

    def take(self, cycle: str, size: int) -> bool:
        try:
            return self._store.take_place(cycle, self._host, size)
        except StoreAway:
            return False  # asked again, like one that is taken

    def keep(self, cycles: frozenset[str]) -> None:
        self._store.keep_places(cycles, self._host)

    def give(self, cycle: str) -> None:
        self._store.give_place(cycle)


class Slots:
    """A counted set of places, each held by a cycle from its first ask to its close.

    Without a lease they are this host's alone, and nothing is looked at but on a release.
    """

    def __init__(self, size: int, lease: Lease | None = None) -> None:
        self._size = max(1, size)
        self._lease = lease
        self._held: set[str] = set()
        self._queue: list[tuple[float, int, str, asyncio.Future[None]]] = []
        self._order = 0
        self._look: asyncio.TimerHandle | None = None

    @property
    def held(self) -> frozenset[str]:
        return frozenset(self._held)

    @property
    def waiting(self) -> tuple[str, ...]:
        return tuple(cycle for _, _, cycle, future in sorted(self._queue) if not future.done())

    async def hold(self, cycle: str, urgency: float) -> None:
        """Return when the cycle has a place; at once when it has one already (a cycle that was recovered)."""
        if cycle in self._held:
            return
        future = asyncio.get_running_loop().create_future()
        self._order += 1
        heapq.heappush(self._queue, (-urgency, self._order, cycle, future))
        self._fill()
        try:
            await future
        except asyncio.CancelledError:
            self.release(cycle)
            raise

    def release(self, cycle: str) -> None:
        """Give the place to whoever is most urgent. A cycle that holds none is no error."""
        if cycle in self._held:
            self._held.discard(cycle)
            if self._lease is not None:
                self._lease.give(cycle)
        self._fill()

    def renew(self) -> None:
        """Tell the other hosts that the places held here are still held. Raises StoreAway."""
        if self._lease is not None and self._held:
            self._lease.keep(self.held)

    def _fill(self) -> None:
        """Give out what is free, most urgent first; what another host holds is looked for again later."""
        if self._look is not None:
            self._look.cancel()
            self._look = None
        while self._queue and len(self._held) < self._size:
            _, _, cycle, future = self._queue[0]
            if not future.done():
                if self._lease is not None and not self._lease.take(cycle, self._size):
                    self._look = asyncio.get_running_loop().call_later(_LOOK_SECONDS, self._fill)
                    return
                self._held.add(cycle)
                future.set_result(None)
            heapq.heappop(self._queue)
