"""Normalised events: what every agent's record is turned into, so that the rest knows no agent."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Origin(StrEnum):
    """Who started a turn."""

    HUMAN = "human"  # typed, pasted or given on the command line (Baton's own prompts too: they carry a tag)
    HOOK = "hook"  # text that a hook put in, such as a stop hook's feedback
    SYSTEM = "system"  # a background task that ended, a schedule


@dataclass(frozen=True, slots=True)
class Event:
    at: float


@dataclass(frozen=True, slots=True)
class Notice:
    """News that work in the background has ended: a command or a sub-agent."""

    task: str  # its id; empty when it is not told
    call: str  # the tool call that began it; empty when it is not told
    state: str  # completed, failed, killed


@dataclass(frozen=True, slots=True)
class Prompted(Event):
    """A user message reached the conversation."""

    text: str
    origin: Origin
    prompt_id: str | None = None
    notice: Notice | None = None  # what the agent's program tells by it, where it does


@dataclass(frozen=True, slots=True)
class Said(Event):
    """A text block of the main agent."""

    text: str
    message_id: str


@dataclass(frozen=True, slots=True)
class ToolCalled(Event):
    """A tool and its arguments, in the words of `transcripts/vocabulary.py`."""

    call_id: str
    tool: str
    arguments: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ToolReturned(Event):
    call_id: str
    ok: bool
    text: str


@dataclass(frozen=True, slots=True)
class Used(Event):
    """Tokens of one model response of the main conversation; `used` as Reading defines it."""

    used: int
    output: int
    model: str
    message_id: str
    window: int | None = None  # where the record tells it beside the usage


@dataclass(frozen=True, slots=True)
class TurnEnded(Event):
    """The agent's record says that the turn is over."""


@dataclass(frozen=True, slots=True)
class Interrupted(Event):
    """The user stopped the turn."""


@dataclass(frozen=True, slots=True)
class Compacted(Event):
    """The agent compacted itself. Usage is unknown until the next response."""

    trigger: str  # auto | manual
    before: int | None


@dataclass(frozen=True, slots=True)
class Rewound(Event):
    """The record was taken back or written anew without its figures. Usage is unknown until the next response."""


@dataclass(frozen=True, slots=True)
class Permitted(Event):
    """How much the agent may do from here on, by a choice of its user's; None where it is as it was started with."""

    mode: str | None  # in the agent's own words, for its next start


@dataclass(frozen=True, slots=True)
class Failed(Event):
    """An API error that ended a turn: rate_limit, overloaded, authentication, too_long, other."""

    kind: str
    text: str
