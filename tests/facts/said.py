"""Conversations in a few words, for tests."""

from collections.abc import Sequence
from pathlib import Path

from batonpass.facts import Facts, Followed
from batonpass.transcripts.events import Event, Origin, Prompted, Said, ToolCalled, ToolReturned


def user(at: float, text: str) -> Event:
    return Prompted(at, text, Origin.HUMAN)


def agent(at: float, text: str) -> Event:
    return Said(at, text, f"m{at}")


def ran(at: float, command: str, result: str = "", *, ok: bool = True, **more: object) -> list[Event]:
    call = f"c{at}"
    return [ToolCalled(at, call, "Bash", {"command": command, **more}), ToolReturned(at, call, ok, result)]


def facts_of(project: Path, *events: Event | Sequence[Event], previous: Path | None = None) -> Facts:
    followed = Followed(project, lambda path: path.startswith(".bmad/handoffs"))
    for each in events:
        followed.follow([each] if isinstance(each, Event) else each)
    return followed.facts("claude", "a1", None, (), at=99.0, previous=previous)
