"""Reading a conversation from an agent's own record, whether or not the agent can be driven.

Every `Agent` is readable; agents that Baton cannot supervise may be readable all the same.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Protocol

from batonpass.agents.base import Past
from batonpass.reading import CONFIDENCE, Reading, Source
from batonpass.transcripts.events import Compacted, Event, Rewound, Used
from batonpass.transcripts.record import Record


class Readable(Protocol):
    """An agent whose conversations can be found and read; see `Agent` for what each method promises."""

    name: str

    def past(self, wanted: str, env: Mapping[str, str]) -> Past | None: ...

    def record(self, transcript: Path) -> Record: ...

    def window(self, model: str | None, env: Mapping[str, str]) -> int | None:
        """The window to assume for a model while nothing says it; None where nothing is known of it."""
        ...

    def usable(self, window: int, env: Mapping[str, str], model: str | None = None) -> int: ...


def reading(agent: Readable, past: Past, env: Mapping[str, str]) -> Reading:
    """How full a conversation is, as its record tells it."""
    return of_events(agent, past.agent_session, agent.record(past.transcript).read().events, env)


def of_events(
    agent: Readable, session: str, events: Iterable[Event], env: Mapping[str, str], *, window: int | None = None
) -> Reading:
    """The same for a record that was read, by its last word. `window` counts, where the agent has told it.

    After a compaction, where answers were taken back, and before the first one, `used` is unknown.
    """
    latest: Used | Compacted | Rewound | None = None
    for event in events:
        latest = event if isinstance(event, Used | Compacted | Rewound) else latest
    told = latest if isinstance(latest, Used) else None
    model = (told.model or None) if told else None
    size = window or (told.window if told else None) or agent.window(model, env)
    return Reading(
        at=latest.at if latest else 0.0,
        agent_session=session,
        used=told.used if told else None,
        window=size,
        usable=None if size is None else agent.usable(size, env, model),
        source=Source.TRANSCRIPT,
        confidence=CONFIDENCE[Source.TRANSCRIPT],
        model=model,
    )
