"""What a machine knows of a session without asking the agent. Frozen, plain, and checkable again."""

from dataclasses import dataclass, field
from pathlib import Path

from batonpass.agents.base import BackgroundTask
from batonpass.clock import iso


def _origin(source: str, at: float) -> str:
    return f"{source}, {iso(at)}" if at else source


@dataclass(frozen=True, slots=True)
class Change:
    """One path that differs from the last commit; relative to the project, `state` in a person's words."""

    path: str
    state: str  # modified, staged, staged and modified, new, deleted, renamed, conflicted, untracked


@dataclass(frozen=True, slots=True)
class Commit:
    id: str
    at: float
    subject: str
    files: tuple[str, ...] = ()  # known for the commits of this session

    @property
    def origin(self) -> str:
        return _origin("git log", self.at)


@dataclass(frozen=True, slots=True)
class GitFacts:
    branch: str | None  # None: no branch is checked out
    head: str | None  # None: no commit yet
    upstream: str | None = None
    ahead: int = 0
    behind: int = 0
    changes: tuple[Change, ...] = ()
    stashes: tuple[str, ...] = ()
    operation: str | None = None  # merge, rebase, cherry-pick, revert, bisect, or "another git command (index.lock)"
    commits: tuple[Commit, ...] = ()  # newest first
    session_commits: tuple[Commit, ...] = ()  # made since the session began, newest first
    unchanged: tuple[str, ...] = ()  # of the paths asked about: those that are as in the last commit

    @property
    def conflicts(self) -> tuple[str, ...]:
        return tuple(change.path for change in self.changes if change.state == "conflicted")

    @property
    def origin(self) -> str:
        return "git status"

    @property
    def dirty(self) -> tuple[str, ...]:
        """Every changed path, in git's order."""
        return tuple(change.path for change in self.changes)


@dataclass(frozen=True, slots=True)
class Utterance:
    """A text of the user or of the agent, word for word."""

    at: float
    text: str
    source: str = field(default="user", compare=False)

    @property
    def origin(self) -> str:
        return _origin(self.source, self.at)


@dataclass(frozen=True, slots=True)
class Note:
    """One sentence that must survive, as it was said: a constraint, a decision, a way that failed."""

    at: float
    text: str
    source: str  # user, agent, tool, or the handoff that it was inherited from
    key: str = ""  # the id that it had in the previous handoff

    @property
    def origin(self) -> str:
        return _origin(self.source, self.at)


@dataclass(frozen=True, slots=True)
class Value:
    """A port, URL, version or name, with the sentence that says what it is."""

    at: float
    kind: str  # port, url, version, id
    value: str
    text: str
    source: str

    @property
    def origin(self) -> str:
        return _origin(self.source, self.at)


@dataclass(frozen=True, slots=True)
class Subagent:
    """An agent that this one set to work."""

    id: str
    task: str
    state: str  # running, completed, failed, killed
    at: float

    @property
    def origin(self) -> str:
        return _origin("tool call", self.at)


@dataclass(frozen=True, slots=True)
class OpenItem:
    """What the previous handoff left open, by its id there."""

    id: str
    text: str
    done: bool  # by a todo, a commit or the epic since then
    handoff: str  # file name of that handoff

    @property
    def origin(self) -> str:
        return f"{self.handoff} ({self.id})"


@dataclass(frozen=True, slots=True)
class Reference:
    """A document of the project that the work follows."""

    kind: str  # plan, adr
    path: str
    title: str

    @property
    def origin(self) -> str:
        return self.path


@dataclass(frozen=True, slots=True)
class Command:
    at: float
    command: str
    ok: bool | None  # None: no result was recorded
    exit: int | None
    tail: str  # last lines of the result
    test: bool = False  # a test run, by its command line

    @property
    def origin(self) -> str:
        return _origin("tool call", self.at)


@dataclass(frozen=True, slots=True)
class Todo:
    text: str
    state: str  # pending, in_progress, completed
    at: float = field(default=0.0, compare=False)

    @property
    def origin(self) -> str:
        return _origin("the agent's list", self.at)


@dataclass(frozen=True, slots=True)
class Epic:
    path: str  # relative to the project
    title: str
    phase: str | None
    done: tuple[str, ...]
    open: tuple[str, ...]

    @property
    def origin(self) -> str:
        return self.path


@dataclass(frozen=True, slots=True)
class Facts:
    at: float
    project: Path
    agent: str
    agent_session: str | None
    transcript: Path | None
    git: GitFacts | None
    prompts: tuple[Utterance, ...] = ()  # of people, oldest first; Baton's own are left out
    heard: tuple[Note, ...] = ()  # sentences of people that the previous handoff quotes
    said: tuple[Utterance, ...] = ()  # the agent's last texts, oldest first
    touched: tuple[str, ...] = ()  # files that tools wrote, in order of first touch
    commands: tuple[Command, ...] = ()  # the last ones, oldest first
    last_test: Command | None = None
    todos: tuple[Todo, ...] = ()
    background: tuple[BackgroundTask, ...] = ()
    epic: Epic | None = None
    constraints: tuple[Note, ...] = ()  # of the user, still in force
    revoked: tuple[Note, ...] = ()  # no longer in force: kept so that nobody presents them as if they were
    decisions: tuple[Note, ...] = ()
    reversed: tuple[Note, ...] = ()  # decisions that no longer stand
    failures: tuple[Note, ...] = ()  # ways that were tried and did not work
    remarks: tuple[Note, ...] = ()  # what else the agent said that carries something
    errors: tuple[Command, ...] = ()  # commands whose last run failed
    failing: tuple[str, ...] = ()  # names of tests whose last run failed
    values: tuple[Value, ...] = ()
    stale: tuple[Value, ...] = ()  # values that were replaced by others
    reverted: tuple[str, ...] = ()  # files that were written and then taken back
    subagents: tuple[Subagent, ...] = ()
    carried: tuple[OpenItem, ...] = ()
    task: str | None = None  # the previous handoff's: a conversation that Baton began has no other word for it
    references: tuple[Reference, ...] = ()
    missing: tuple[str, ...] = field(default=())  # what could not be gathered, one sentence each

    @property
    def last_request(self) -> Utterance | None:
        return self.prompts[-1] if self.prompts else None
