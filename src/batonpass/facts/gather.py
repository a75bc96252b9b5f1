"""All facts of a session in one pass over its events."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from batonpass.agents.base import BackgroundTask
from batonpass.facts.conversation import Conversation
from batonpass.facts.epic import read_epic
from batonpass.facts.git import GitError, read_git
from batonpass.facts.model import Epic, Facts, GitFacts
from batonpass.facts.todos import Todos
from batonpass.facts.tools import Tools
from batonpass.transcripts.events import Event


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
) -> Facts:
    """Everything that can be known now. Never raises: what failed is a sentence in `missing`.

    `is_own` tells Baton's own files by their path relative to the project; they are no facts.
    """
    missing: list[str] = []
    conversation, tools, todos = Conversation(), Tools(project, is_own), Todos()
    _follow(events, (conversation.see, tools.see, todos.see), missing)
    return Facts(
        at=at,
        project=project,
        agent=agent,
        agent_session=agent_session,
        transcript=transcript,
        git=_git(project, is_own, missing),
        prompts=tuple(conversation.prompts),
        said=conversation.said,
        touched=tools.touched,
        commands=tools.commands,
        last_test=tools.last_test,
        todos=todos.todos,
        background=tuple(background),
        epic=_epic(project, missing),
        missing=tuple(missing),
    )


def _follow(events: Iterable[Event], seers: Sequence[Callable[[Event], None]], missing: list[str]) -> None:
    count = 0
    try:
        for event in events:
            count += 1
            for see in seers:
                see(event)
    except Exception as error:  # a half-read record still gives a document; why it is half is said in it
        missing.append(f"The transcript could not be read beyond event {count}: {error}.")
    if not count and not missing:
        missing.append("The transcript holds no events: prompts, commands and todos are not known.")


def _git(project: Path, is_own: Callable[[str], bool], missing: list[str]) -> GitFacts | None:
    try:
        found = read_git(project, is_own)
    except (GitError, ValueError) as error:
        missing.append(f"Git's state is not known: {error}")
        return None
    if found is None:
        missing.append(f"{project} is not in a git repository: changed files are known from the tools only.")
    return found


def _epic(project: Path, missing: list[str]) -> Epic | None:
    try:
        return read_epic(project)
    except OSError as error:
        missing.append(f"The epics in {project}/.bmad/epics could not be read: {error.strerror}.")
        return None
