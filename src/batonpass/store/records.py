"""What the store keeps besides sessions, readings and deliveries: frozen, times in epoch seconds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path


class CycleState(StrEnum):
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    POSTPONED = "postponed"
    PENDING = "pending"  # sealed, and waiting for a person to continue it
    UNVERIFIED = "unverified"  # passed, but the successor's receipt was never accepted


class Author(StrEnum):
    """Whose words a handoff is made of."""

    AGENT = "agent"
    FACTS = "facts"


@dataclass(frozen=True, slots=True)
class HostRecord:
    id: str
    name: str
    heartbeat: float  # by its own clock
    version: str | None = None
    age: float | None = field(default=None, compare=False)  # seconds since then, by the database's clock


@dataclass(frozen=True, slots=True)
class CycleRecord:
    """One passing of the baton. `percent` and `used` are those of the moment at which it was decided."""

    id: str
    session: str
    host: str
    cause: str
    started: float
    state: CycleState = CycleState.RUNNING
    way: str | None = None  # clear, respawn, switch
    percent: float | None = None
    used: int | None = None
    ended: float | None = None
    deadline: float | None = None
    document: Path | None = None
    old_agent_session: str | None = None
    new_agent_session: str | None = None
    note: str | None = None
    data: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One attempt at one step of a cycle; `ended` is None while it is open."""

    cycle: str
    seq: int
    step: str
    attempt: int
    state: str
    started: float
    ended: float | None = None
    note: str | None = None
    data: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HandoffRecord:
    """Where a handoff document is, and its place in the chain."""

    id: str
    path: Path
    number: int
    created: float
    session: str
    project: Path
    agent: str
    previous: str | None = None  # as the document names its predecessor
    agent_session: str | None = None
    percent: float | None = None
    used: int | None = None
    usable: int | None = None
    sealed: bool = False
    checksum: str | None = None
    cycle: str | None = None
    source: Author = Author.AGENT


@dataclass(frozen=True, slots=True)
class EventRecord:
    id: int
    at: float
    name: str
    session: str | None = None
    cycle: str | None = None
    data: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HealthRecord:
    at: float
    session: str
    project: Path
    check_type: str  # context, handoff
    status: str  # ok, warning, critical
    details: Mapping[str, object] = field(default_factory=dict)
    action: str | None = None
