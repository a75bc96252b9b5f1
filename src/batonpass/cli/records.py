"""The records that the daemon sends, as the commands read them. `--json` prints them as they came."""

from typing import NotRequired, TypedDict


class ForecastRow(TypedDict):
    tokens_per_message: float | None
    messages_left: float | None
    seconds_left: float | None


class RunningCycle(TypedDict):
    id: str
    step: str
    since: float | str
    queued: NotRequired[bool]  # it waits for its turn among others


class LastHandoff(TypedDict):
    path: str
    number: int
    at: float | str


class GuardRow(TypedDict):
    """What holds a session's next handoff back, if anything does."""

    session: str
    name: str
    guard: str | None
    why: str | None
    until: float | None
    handoffs_in_the_last_hour: int
    threshold_raised_by: float


class RestoredSession(TypedDict):
    """What became of a session that was to be brought back."""

    session: str
    name: str
    agent: str
    project: str
    agent_session: str | None
    how: str  # resumed, continued, waiting (at a dialog, say), left
    why: str
    successor: NotRequired[str]
    attach: NotRequired[list[str]]


class SetbackRow(TypedDict):
    """What a provider keeps a session from."""

    phase: str  # waiting, switching, away, stuck
    kind: str  # rate_limit, quota, overloaded, authentication
    until: float | None
    first: str | None  # the agent to come back to
    to: NotRequired[str | None]  # the agent that is about to take over
    missed: NotRequired[str | None]  # why the last one that was to take over did not


class SessionRow(TypedDict):
    """One session, as `baton status` shows it."""

    session: str
    name: str
    project: str
    agent: str
    agent_session: str | None
    state: str
    used: int | None
    window: int | None
    usable: int | None
    percent: float | None
    zone: str
    source: str | None
    confidence: float | None
    forecast: ForecastRow | None
    chain: int
    pane: str | None
    host: str
    model: str | None
    answers: NotRequired[bool | None]  # whether the agent's own interface does; None where it has none
    hooks: bool | None  # whether Baton's hooks run in it
    waiting_for: str | None
    guard: GuardRow | None  # of a session on this host
    cycle: RunningCycle | None
    setback: NotRequired[SetbackRow | None]
    last_handoff: LastHandoff | None
    notice: str | None


class DaemonRow(TypedDict):
    pid: int
    version: str
    host: str
    started: float | str


class HostRow(TypedDict):
    """A host that shares the store; `age` is how many seconds ago it was heard of."""

    host: str
    name: str
    version: str | None
    age: float | None
    alive: bool
    here: bool
    sessions: int


class NotificationRow(TypedDict):
    at: float | str
    session: str | None
    text: str


class Status(TypedDict):
    host: str
    daemon: DaemonRow
    sessions: list[SessionRow]
    hosts: NotRequired[list[HostRow]]  # with --all-hosts
    store: NotRequired[str | None]  # what is wrong with it
    problems: list[str]  # mistakes in configuration files; what was sound before stays in force
    notifications: list[NotificationRow]


class StartedSession(TypedDict):
    """A session that was just started or taken over; `attach` is the command that shows it."""

    session: str
    name: str
    project: str
    agent: str
    attach: list[str]
    notice: NotRequired[str | None]  # what the user should know of how it was started


class Written(TypedDict):
    """A handoff that was made of a session's record; nothing was started."""

    session: str
    name: str
    project: str
    document: str


class HandoffRow(TypedDict):
    path: str
    number: int
    previous: str | None
    created: float | str
    session: str
    percent: float | None
    sealed: bool


class HandoffText(HandoffRow):
    text: str


class StepRow(TypedDict):
    step: str
    state: str
    started: float | str
    seconds: float | None
    attempts: int
    note: str | None


class CycleRow(TypedDict):
    id: str
    session: str
    state: str
    cause: str
    way: str | None
    percent: float | None
    started: float | str
    seconds: float | None
    document: str | None
    note: str | None
    steps: list[StepRow]
