"""The one source of time. Everything that waits, expires or dates takes a Clock."""

import asyncio
import time
from collections.abc import Awaitable
from datetime import UTC, datetime
from typing import Protocol, TypeVar

T = TypeVar("T")


class Clock(Protocol):
    """Wall time in seconds since the epoch, and a way to wait."""

    def now(self) -> float:
        """For dates and what is kept. It may jump: people and networks set clocks, and laptops sleep."""
        ...

    def ticks(self) -> float:
        """For how long something takes: seconds that only go forward, and not while the machine sleeps."""
        ...

    async def sleep(self, seconds: float) -> None: ...

    async def within(self, awaitable: Awaitable[T], seconds: float) -> T:
        """The awaitable's result; TimeoutError when this clock says that `seconds` have passed."""
        ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> float:
        return time.time()

    def ticks(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def within(self, awaitable: Awaitable[T], seconds: float) -> T:
        return await asyncio.wait_for(awaitable, seconds)


class ManualClock:
    """A clock that moves only when it is told to: for tests and simulation."""

    def __init__(self, start: float = 1_800_000_000.0) -> None:
        self._now = start
        self._ticks = 0.0
        self._sleepers: list[tuple[float, asyncio.Event]] = []

    def now(self) -> float:
        return self._now

    def ticks(self) -> float:
        return self._ticks

    def advance(self, seconds: float) -> None:
        """Move on, waking everyone whose time has come."""
        self._now += seconds
        self._ticks += seconds
        for due, event in self._sleepers:
            if due <= self._ticks:
                event.set()

    def jump(self, seconds: float) -> None:
        """Somebody sets the clock: no time has passed."""
        self._now += seconds

    async def sleep(self, seconds: float) -> None:
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        sleeper = (self._ticks + seconds, asyncio.Event())
        self._sleepers.append(sleeper)
        try:
            await sleeper[1].wait()
        finally:
            self._sleepers.remove(sleeper)

    async def within(self, awaitable: Awaitable[T], seconds: float) -> T:
        work = asyncio.ensure_future(awaitable)
        timer = asyncio.ensure_future(self.sleep(seconds))
        try:
            await asyncio.wait({work, timer}, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                return work.result()
            raise TimeoutError
        finally:
            timer.cancel()
            if not work.done():
                work.cancel()


def iso(at: float) -> str:
    """A moment as people and JSON readers expect it: UTC, whole seconds.

    >>> iso(0)
    '1970-01-01T00:00:00Z'
    """
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
