"""What is wrong with a configuration file, said so that a person finds the place and the remedy."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

KeyPath = tuple[str | int, ...]  # of a value in a document: ("timeouts", "ask"), ("ladder", "rungs", 0)


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault and its place; line and column count from 1, None where the file has no such place."""

    file: str
    line: int | None
    column: int | None
    key: str
    message: str
    meant: str | None = None

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)
        hint = f" (did you mean '{self.meant}'?)" if self.meant else ""
        key = f"{self.key}: " if self.key else ""
        return f"{place}: {key}{self.message}{hint}"


class ConfigError(Exception):
    """The configuration cannot be used as it is; `problems` has every fault of every file."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = tuple(problems)


def nearest(word: str, words: Iterable[str]) -> str | None:
    """The one of `words` that was probably meant."""
    close = get_close_matches(word.lower().replace("-", "_"), list(words), n=1, cutoff=0.6)
    return close[0] if close else None


def dotted(path: KeyPath) -> str:
    """A path as people write it.

    >>> dotted(("ladder", "rungs", 0, "zone"))
    'ladder.rungs.0.zone'
    """
    return ".".join(str(part) for part in path)
