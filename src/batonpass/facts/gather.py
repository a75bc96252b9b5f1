"""All facts of a session in one pass over its events."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from batonpass.agents.base import BackgroundTask
from batonpass.facts.model import Facts
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
    return Facts(
        at=at,
        project=project,
        agent=agent,
        agent_session=agent_session,
        transcript=transcript,
        git=None,
        background=tuple(background),
    )
