"""A session: one running conversation of an agent on a project, bound at launch."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class Kind(StrEnum):
    INTERACTIVE = "interactive"
    HEADLESS = "headless"
    BROWSER = "browser"


class State(StrEnum):
    """What the agent says it is doing."""

    STARTING = "starting"
    IDLE = "idle"
    BUSY = "busy"
    WAITING = "waiting"  # a dialog is open: only a person may answer it
    DEAD = "dead"  # the process is gone, the pane may still be there
    ENDED = "ended"  # closed by its user
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class PaneRef:
    """A tmux pane that cannot be mistaken for another: ids are only unique within one server's life."""

    socket: str  # a name for -L, a path for -S, or "" for the user's own server
    server_pid: int
    id: str  # %12


@dataclass(frozen=True, slots=True)
class Session:
    """What is known for good about a session, as the store keeps it."""

    id: str
    name: str
    agent: str
    kind: Kind
    project: Path
    host: str
    pane: PaneRef | None
    pid: int | None
    agent_session: str | None
    transcript: Path | None
    model: str | None
    permission_mode: str | None
    ladder: str | None  # a preset chosen for this session, over the configuration
    chain: int  # how many batons it has passed
    adopted: bool
    created: float
    ended: float | None = None
    state: State = State.STARTING
