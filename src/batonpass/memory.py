"""Results that are worth remembering, in no more room than they are given: a daemon runs for weeks."""

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")

_EACH = 300  # what an entry takes besides its size, roughly in characters


class Memory(Generic[T]):
    """Results by what they were made of. Where the room is full, those go that were not asked for lately.

    Counted by size and not by number: a thousand lines are remembered for what a few documents would take. Threads
    may share it; at worst something is made twice.
    """

    def __init__(self, room: int) -> None:
        self._half = room // 2
        self._taken = 0
        self._lately: dict[Hashable, T] = {}
        self._before: dict[Hashable, T] = {}

    def __len__(self) -> int:
        return len(self._lately) + len(self._before)

    def of(self, key: Hashable, size: int, make: Callable[[], T]) -> T:
        """What was made for this key, or is made now. None is not remembered."""
        found = self._lately.get(key)
        if found is None:
            found = self._before.pop(key, None)
            if found is None:
                found = make()
            self._keep(key, size + _EACH, found)
        return found

    def _keep(self, key: Hashable, size: int, made: T) -> None:
        if self._taken + size > self._half:
            self._before, self._lately, self._taken = self._lately, {}, 0
        if size <= self._half:
            self._lately[key] = made
            self._taken += size
