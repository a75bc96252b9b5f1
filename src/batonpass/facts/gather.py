"""All facts of a session: followed event by event while it runs, completed from disk when they are wanted."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from batonpass.agents.base import BackgroundTask
from batonpass.facts import previous as predecessor
from batonpass.facts.choices import Choices
from batonpass.facts.conversation import Conversation
from batonpass.facts.epic import read_epic
from batonpass.facts.git import GitError, read_git
from batonpass.facts.model import Facts, GitFacts, Note, OpenItem
from batonpass.facts.processes import Processes
from batonpass.facts.references import read_references
from batonpass.facts.remarks import Remarks
from batonpass.facts.rules import Rules
from batonpass.facts.secretfiles import SecretFiles
from batonpass.facts.subagents import Subagents
from batonpass.facts.todos import Todos
from batonpass.facts.tools import Tools
from batonpass.facts.values import Values
from batonpass.handoff.document import Handoff
from batonpass.transcripts.events import Event, ToolCalled, ToolReturned

T = TypeVar("T")
_AHEAD_SECONDS = 1.0


class Followed:
    """A conversation as far as it was seen. Every event costs once, however often the facts are asked for."""

    def __init__(self, project: Path, is_own: Callable[[str], bool]) -> None:
        self._project = project
        self._is_own = is_own
        self._secrets = SecretFiles()
        self.conversation, self.todos = Conversation(), Todos()
        self.tools = Tools(project, is_own)
        self.rules, self.choices, self.values, self.remarks = Rules(), Choices(), Values(), Remarks()
        self.subagents, self.processes = Subagents(), Processes()
        self._seers = (
            self.conversation.see, self.tools.see, self.todos.see, self.rules.see, self.choices.see, self.values.see,
            self.remarks.see, self.subagents.see, self.processes.see,
        )  # fmt: skip
        self.seen = 0
        self.broken: list[str] = []
        self._acts = 0  # calls and results of tools: after another one, git may answer differently
        self._looked: tuple[tuple[object, ...], float, GitFacts | None] | None = None

    def follow(self, events: Iterable[Event]) -> None:
        """Take in more events. Never raises: what went wrong is a sentence in the facts."""
        try:
            for event in events:
                self.seen += 1
                self._acts += isinstance(event, ToolCalled | ToolReturned)
                clean = self._secrets.clean(event)
                for see in self._seers:
                    see(clean)
        except Exception as error:  # a half-read record still gives a document; why it is half is said in it
            self.broken.append(f"The transcript could not be read beyond event {self.seen}: {error}.")

    def facts(
        self,
        agent: str,
        agent_session: str | None,
        transcript: Path | None,
        background: Sequence[BackgroundTask],
        *,
        at: float,
        previous: Path | None = None,
    ) -> Facts:
        """Everything that can be known now, with git, epic and the previous handoff read from disk."""
        missing = list(self.broken)
        if not self.seen and not missing:
            missing.append("The transcript holds no events: prompts, commands and todos are not known.")
        git = self._git(missing, at)
        epic = self._from_disk("epics", read_epic, missing)
        touched = self.tools.touched
        undone = set(git.unchanged) - {f for commit in git.session_commits for f in commit.files} if git else set()
        known = Facts(
            at=at,
            project=self._project,
            agent=agent,
            agent_session=agent_session,
            transcript=transcript,
            git=git,
            prompts=tuple(self.conversation.prompts),
            said=self.conversation.said,
            touched=tuple(path for path in touched if path not in undone),
            commands=self.tools.commands,
            last_test=self.tools.last_test,
            todos=self.todos.todos,
            background=self.processes.with_known(background),
            epic=epic,
            decisions=tuple(self.choices.decisions),
            reversed=tuple(self.choices.reversed),
            failures=tuple(sorted([*self.choices.failures, *self.tools.errors.workarounds], key=lambda n: n.at)),
            errors=self.tools.errors.open,
            failing=self.tools.tests.failing,
            remarks=self.remarks.all,
            values=self.values.current,
            stale=tuple(self.values.stale.values()),
            reverted=tuple(dict.fromkeys([*self.tools.reverted, *(path for path in touched if path in undone)])),
            subagents=self.subagents.all,
            references=self._from_disk("plans and ADRs", read_references, missing) or (),
            missing=tuple(missing),
        )
        return self._with_previous(known, previous)

    def _with_previous(self, facts: Facts, path: Path | None) -> Facts:
        document = predecessor.read_previous(path)
        inherited: tuple[Note, ...] = ()
        carried: tuple[OpenItem, ...] = ()
        task: str | None = None
        if path is not None and document is not None:
            inherited = predecessor.constraints(document, path.name)
            carried = predecessor.open_items(document, path.name, _finished(facts))
            task = predecessor.task(document)
            facts = self._remembering(facts, document, path.name)
        current, revoked = self.rules.inherit(inherited)
        return replace(facts, constraints=current, revoked=revoked, carried=carried, task=task)

    def look_ahead(self, at: float) -> None:
        """Ask git now, so that facts which are wanted in a moment need not wait for it."""
        self._looked = None
        with suppress(GitError, ValueError):
            self._looked = self._asked(), at, self._read_git()

    def _asked(self) -> tuple[object, ...]:
        """What git's answer hangs on, as far as the conversation tells."""
        return self._acts, self.conversation.began, self.tools.touched

    def _read_git(self) -> GitFacts | None:
        return read_git(self._project, self._is_own, since=self.conversation.began, touched=self.tools.touched)

    def _remembering(self, facts: Facts, document: Handoff, name: str) -> Facts:
        """With what the previous handoff knew of decisions, failures and values, as far as it still stands."""
        decided, failed = predecessor.decisions(document, name)
        noted = predecessor.values(document, name)
        values = self.values.after(noted)
        known = {value.text for value in (*values.current, *values.stale.values())}
        return replace(
            facts,
            heard=predecessor.words(document, name),
            decisions=(*self.choices.standing(decided), *facts.decisions),
            failures=(*self.choices.standing(failed), *facts.failures),
            remarks=(*(note for note in noted if note.text not in known), *facts.remarks),
            values=values.current,
            stale=tuple(values.stale.values()),
        )

    def _git(self, missing: list[str], at: float) -> GitFacts | None:
        looked, self._looked = self._looked, None  # good for one look, for nobody tells what others do to the files
        try:
            if looked is not None and looked[0] == self._asked() and 0 <= at - looked[1] < _AHEAD_SECONDS:
                found = looked[2]
            else:
                found = self._read_git()
        except (GitError, ValueError) as error:
            missing.append(f"Git's state is not known: {error}")
            return None
        if found is None:
            where = f"{self._project} is not in a git repository"
            missing.append(f"{where}: changed files are known from the tools only.")
        return found

    def _from_disk(self, what: str, read: Callable[[Path], T], missing: list[str]) -> T | None:
        try:
            return read(self._project)
        except OSError as error:
            missing.append(f"The {what} in {self._project}/.bmad could not be read: {error.strerror}.")
            return None


def gather(
    project: Path,
    agent: str,
    agent_session: str | None,
    transcript: Path | None,
    events: Iterable[Event],
    background: Sequence[BackgroundTask],
    *,
    at: float,
    is_own: Callable[[str], bool],
    previous: Path | None = None,
) -> Facts:
    """Everything that can be known now. Never raises: what failed is a sentence in `missing`.

    `is_own` tells Baton's own files by their path relative to the project; they are no facts. `previous` is the
    handoff that this conversation began with.
    """
    followed = Followed(project, is_own)
    followed.follow(events)
    return followed.facts(agent, agent_session, transcript, background, at=at, previous=previous)


def _finished(facts: Facts) -> list[str]:
    done = [todo.text for todo in facts.todos if todo.state == "completed"]
    done += [commit.subject for commit in (facts.git.session_commits if facts.git else ())]
    return done + list(facts.epic.done if facts.epic else ())
