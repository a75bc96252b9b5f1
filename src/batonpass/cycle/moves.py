"""The words of a cycle: its steps, what they can report, and how it can end."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Step(StrEnum):
    PREPARE = "prepare"
    SAFE_POINT = "safe_point"
    ASK = "ask"
    AWAIT = "await"
    CHECK = "check"
    SEAL = "seal"
    PASS = "pass"
    PRIME = "prime"
    VERIFY = "verify"
    BACK = "back"  # the way back: after a receipt that was not accepted, or an heir that could not take over
    CLOSE = "close"


class Way(StrEnum):
    """How the baton is passed."""

    CLEAR = "clear"
    RESPAWN = "respawn"
    SWITCH = "switch"  # another agent in the same pane
    START = "start"  # a new session goes on from a sealed handoff


class Result(StrEnum):
    """How a cycle ends."""

    DONE = "done"
    PENDING = "pending"  # the handoff is sealed, nobody took it: a pending file says so
    POSTPONED = "postponed"  # nothing was touched; the next reading may try again
    UNVERIFIED = "unverified"  # passed, but the successor's receipt was not accepted
    FAILED = "failed"  # no handoff could be sealed; the session was not touched


# What a step can report besides "ok".
GONE = "gone"  # the agent's process or pane is not there
NO_SAFE_POINT = "no_safe_point"
UNCLAIMED = "unclaimed"  # the offer was withdrawn: the turn ended without its hook
NOT_SEEN = "not_seen"
NO_DOCUMENT = "no_document"
GAPS = "gaps"
NEW_PROMPT = "new_prompt"  # the user said something after the document was written
WORKED_ON = "worked_on"  # the agent did something after the document was sealed: a gate of the user's, news of a task
NOT_CLEARED = "not_cleared"
NOT_BEGUN = "not_begun"  # another agent was started, and ended or stood still before it began a conversation
BOX_IN_USE = "box_in_use"
INTERRUPTED = "interrupted"  # somebody typed at the same moment: nothing was sent
REJECTED = "rejected"
UNSERVED = "unserved"  # the successor's provider ended the turn of its kick
CANNOT_WRITE = "cannot_write"
MOVED = "moved"  # the user went to another conversation: nothing is typed or cleared there
UNSEALED = "unsealed"  # the sealed handoff is not on disk as it was sealed
LATE = "late"  # something that it hangs on did not answer, and it was given up


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one move ended. `data` is JSON: the engine keeps it."""

    step: Step
    code: str = "ok"
    note: str = ""
    data: Mapping[str, object] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        return self.code == "ok"


@dataclass(frozen=True, slots=True)
class Move:
    """Run this step. `attempt` numbers the prompts of its kind, so that every tag is unique."""

    step: Step
    attempt: int = 1
    way: Way = Way.CLEAR
    missing: tuple[str, ...] = ()  # for ask: exactly what the document lacks; for prime: what the receipt lacked
    document: bool = True  # for seal: the agent's document is worth merging
    known: bool = False  # for seal: with the facts that were gathered last, since no others can be had
    at_last: bool = False  # for pass: what the agent still does meanwhile is left to its record
    kick: int = 1  # for pass: the number of the kick that a new process is given along
    result: Result = Result.DONE  # for close
    note: str = ""


@dataclass(frozen=True, slots=True)
class Policy:
    """What the cycle was started with."""

    force: bool = False  # a forcing rung: past the deadline the process is ended and replaced
    auto_continue: bool = True
    silent: bool = False  # the agent cannot answer: what was recorded is the document
    attended: bool = False  # a person asked for it, and may be answering a dialog
    why_not: str = "auto_continue_cli is off"  # what is told where it does not go on
    way: Way = Way.CLEAR
    max_asks: int = 2  # one retry
    max_rounds: int = 3  # how often a user's new prompt, or the agent's working on, may send the cycle back
    max_unclaimed: int = 3
    max_interrupted: int = 5
    max_closes: int = 5
    max_backs: int = 1
    max_deaths: int = 2  # how often a successor that dies before its receipt is replaced
