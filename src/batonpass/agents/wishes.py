"""What a user wants of an agent, in words that mean the same for every agent: so another one can be started alike."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum


class Approval(StrEnum):
    """How much the agent may do without asking, from the least to the most."""

    PLAN = "plan"  # read only
    ASK = "ask"
    EDITS = "edits"  # files of the project may be edited
    ALL = "all"

    def less_than(self, other: "Approval") -> bool:
        order = list(Approval)
        return order.index(self) < order.index(other)


class Size(StrEnum):
    """The class of a model, as its provider ranks it."""

    LARGE = "large"
    MEDIUM = "medium"
    SMALL = "small"


@dataclass(frozen=True, slots=True)
class Wishes:
    """What is not said is left to the agent's own default."""

    size: Size | None = None
    approval: Approval | None = None
    folders: tuple[str, ...] = ()  # beside the project

    def besides(self, said: "Wishes") -> "Wishes":
        """What of these is still to be said where those are said already."""
        folders = tuple(folder for folder in self.folders if folder not in said.folders)
        return Wishes(None if said.size else self.size, None if said.approval else self.approval, folders)


def size_of(model: str | None, names: Mapping[str, Size]) -> Size | None:
    """The class of a model by a word of its name; None for one that says nothing.

    >>> size_of("claude-opus-4-6[1m]", {"opus": Size.LARGE})
    <Size.LARGE: 'large'>
    >>> size_of("google/gemini-2.5-pro", {"mini": Size.SMALL, "pro": Size.LARGE})
    <Size.LARGE: 'large'>
    """
    words = re.findall("[a-z]+", (model or "").lower())
    return next((size for word, size in names.items() if word in words), None)


def repeated(flag: str, values: Sequence[str]) -> tuple[str, ...]:
    """One flag for each value, which counts once however often it is named."""
    return tuple(word for value in dict.fromkeys(values) for word in (flag, value))
