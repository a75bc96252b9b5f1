"""Headless runs: a prompt in, events and a result out, the same for every agent that has such a mode."""

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

from batonpass.agents.readable import Readable
from batonpass.agents.setbacks import TriesAgain
from batonpass.agents.wishes import Approval
from batonpass.transcripts.events import Event

TIMEOUT = "timeout"  # beside the kinds of `Failed`: the run was stopped because its time was up


@dataclass(frozen=True, slots=True)
class HeadlessOrder:
    """One run that is asked for."""

    prompt: str
    folder: Path  # where the agent works
    env: Mapping[str, str]  # the user's environment
    resume: str | None = None  # the agent's own id of the conversation to go on with
    model: str | None = None
    approval: Approval = Approval.ASK  # nobody can be asked: what it would ask for is refused
    args: tuple[str, ...] = ()  # the user's own arguments for the agent
    seconds: float = 600.0  # then it is stopped


@dataclass(frozen=True, slots=True)
class Command:
    """How a run is started: the program with its arguments, its whole environment, and what it reads."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    stdin: bytes = b""
    around: AbstractContextManager[object] = field(default_factory=nullcontext)  # held until all of it has ended


@dataclass(slots=True)
class Told:
    """What an agent said of a run beside its events; None is what it has not said."""

    agent_session: str | None = None
    model: str | None = None
    window: int | None = None


@dataclass(frozen=True, slots=True)
class Began(Event):
    """The agent has named the conversation of this run; from here on it can be resumed."""

    agent_session: str
    model: str | None = None


@dataclass(frozen=True, slots=True)
class HeadlessResult:
    """How a run ended. Unknown is None.

    `used` is what the conversation holds now, as its own record tells it: not the sum over all calls that
    agents print at the end of such a run.
    """

    agent: str
    agent_session: str | None
    text: str  # what the agent said last
    used: int | None
    window: int | None
    usable: int | None
    exit: int  # the program's own status; negative for the signal that ended it
    error: str | None = None  # a kind as in `Failed`, QUOTA or TIMEOUT; None when the turn came to its end
    detail: str = ""  # what the agent said of the error
    until: float | None = None  # when its provider is said to serve again, in epoch seconds


class Headless(Protocol):
    """One run of one agent: made anew for each, since it remembers what it was told."""

    name: str
    told: Told

    @property
    def reads(self) -> Readable:
        """Whose record tells how full the conversation is."""
        ...

    def command(self, order: HeadlessOrder) -> Command:
        """How to start it. Raises LaunchError."""
        ...

    def hear(self, line: bytes, at: float) -> Iterable[Event]:
        """The events of one line of its standard output; nothing for lines that do not matter or are torn.

        Usage is not among them: what is printed is a sum, or comes before the answer is complete.
        """
        ...


@runtime_checkable
class Overheard(Protocol):
    """A `Headless` that tells beside its answer, on standard error, that it tries again."""

    def overhear(self, line: bytes, at: float) -> TriesAgain | None:
        """What one such line says; None for every other."""
        ...


@dataclass(slots=True)
class Recorder:
    """Takes events as they come; for callers who want all of them."""

    events: list[Event] = field(default_factory=list)

    def __call__(self, event: Event) -> None:
        self.events.append(event)
