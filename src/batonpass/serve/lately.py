"""What the store said a moment ago: whoever looks again and again does not make the daemon ask again and again."""

from collections.abc import Callable, Hashable
from typing import TypeVar, cast

from batonpass.clock import Clock
from batonpass.store import Store

T = TypeVar("T")

_SECONDS = 1.0  # guards open with time, and a person may have a hand in the database


class Lately:
    """Answers of the store, each good until this daemon writes anything, and for a second at most."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._writes, self._since = -1, 0.0
        self._known: dict[Hashable, object] = {}

    def ask(self, key: Hashable, ask: Callable[[], T]) -> T:
        """What `ask` gives, or gave. It must not write. What it raises is not kept."""
        now, writes = self._clock.ticks(), self._store.writes
        if writes != self._writes or now - self._since >= _SECONDS:
            self._known, self._writes, self._since = {}, writes, now
        if key not in self._known:
            self._known[key] = ask()
        return cast(T, self._known[key])
