"""What a machine knows of a session without asking the agent. Frozen, plain, and checkable again."""

from dataclasses import dataclass, field
from pathlib import Path

from batonpass.agents.base import BackgroundTask


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

    @property
    def dirty(self) -> tuple[str, ...]:
        """Every changed path, in git's order."""
        return tuple(change.path for change in self.changes)


@dataclass(frozen=True, slots=True)
class Utterance:
    """A text of the user or of the agent, word for word."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Command:
    at: float
    command: str
    ok: bool | None  # None: no result was recorded
    exit: int | None
    tail: str  # last lines of the result
    test: bool = False  # a test run, by its command line


@dataclass(frozen=True, slots=True)
class Todo:
    text: str
    state: str  # pending, in_progress, completed


@dataclass(frozen=True, slots=True)
class Epic:
    path: str  # relative to the project
    title: str
    phase: str | None
    done: tuple[str, ...]
    open: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    at: float
    project: Path
    agent: str
    agent_session: str | None
    transcript: Path | None
    git: GitFacts | None
    prompts: tuple[Utterance, ...] = ()  # of people, oldest first; Baton's own are left out
    said: tuple[Utterance, ...] = ()  # the agent's last texts, oldest first
    touched: tuple[str, ...] = ()  # files that tools wrote, in order of first touch
    commands: tuple[Command, ...] = ()  # the last ones, oldest first
    last_test: Command | None = None
    todos: tuple[Todo, ...] = ()
    background: tuple[BackgroundTask, ...] = ()
    epic: Epic | None = None
    missing: tuple[str, ...] = field(default=())  # what could not be gathered, one sentence each

    @property
    def last_request(self) -> Utterance | None:
        return self.prompts[-1] if self.prompts else None
