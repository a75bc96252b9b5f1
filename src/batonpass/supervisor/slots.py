"""How many batons are in the air at once: the most urgent session first."""

import asyncio
import heapq


class Slots:
    """A counted set of places, each held by a cycle from its first ask to its close."""

    def __init__(self, size: int) -> None:
        self._size = max(1, size)
        self._held: set[str] = set()
        self._queue: list[tuple[float, int, str, asyncio.Future[None]]] = []
        self._order = 0

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
        if len(self._held) < self._size and not self.waiting:
            self._held.add(cycle)
            return
        future = asyncio.get_running_loop().create_future()
        self._order += 1
        heapq.heappush(self._queue, (-urgency, self._order, cycle, future))
        try:
            await future
        except asyncio.CancelledError:
            self.release(cycle)
            raise

    def release(self, cycle: str) -> None:
        """Give the place to whoever is most urgent. A cycle that holds none is no error."""
        self._held.discard(cycle)
        while self._queue and len(self._held) < self._size:
            _, _, following, future = heapq.heappop(self._queue)
            if not future.done():
                self._held.add(following)
                future.set_result(None)
