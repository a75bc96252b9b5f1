"""Options of a command line, whichever agent's."""

from collections.abc import Container, Sequence
from typing import Protocol, TypeVar


class Named(Protocol):
    """One option as the user wrote it."""

    @property
    def name(self) -> str: ...

    @property
    def tokens(self) -> tuple[str, ...]: ...


Option = TypeVar("Option", bound=Named)


def once(options: Sequence[Option], single: Container[str]) -> tuple[Option, ...]:
    """Every option that holds one value as it was given last, and no other twice in the same words.

    What stands in the configuration and again on the command line comes twice, and not every agent takes that.
    """
    kept: list[Option] = []
    for option in reversed(options):
        alike = (later for later in kept if later.name == option.name)
        if not any(later.name in single or later.tokens == option.tokens for later in alike):
            kept.append(option)
    return tuple(reversed(kept))
