"""How full a session is, and how soon it will be full."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Source(StrEnum):
    """Where a reading comes from, best first."""

    STATUSLINE = "statusline"
    TRANSCRIPT = "transcript"
    API = "api"
    HOOK = "hook"
    SCREEN = "screen"
    ESTIMATE = "estimate"


CONFIDENCE: dict[Source, float] = {
    Source.STATUSLINE: 1.0,
    Source.TRANSCRIPT: 0.95,
    Source.API: 0.95,
    Source.HOOK: 0.8,
    Source.SCREEN: 0.6,
    Source.ESTIMATE: 0.3,
}


@dataclass(frozen=True, slots=True)
class Reading:
    """How full a session is at a moment. Unknown is `None`, and it is not zero.

    `used` is what the next request will carry: input, both cache counts and output of the last
    response of the main conversation. `usable` is the number of tokens at which the agent's own
    compaction would fire, or at which it would stop.
    """

    at: float
    agent_session: str
    used: int | None
    window: int | None
    usable: int | None
    source: Source
    confidence: float
    model: str | None = None

    @property
    def percent(self) -> float | None:
        """Percent of the usable window, or None when unknown."""
        if self.used is None or not self.usable:
            return None
        return 100.0 * self.used / self.usable


@dataclass(frozen=True, slots=True)
class Forecast:
    """Where the session is going, from its past readings. None means that it cannot be told yet."""

    tokens_per_message: float | None
    messages_left: float | None
    seconds_left: float | None


def forecast(readings: Sequence[Reading], *, until: int | None = None) -> Forecast:
    """Burn rate from the readings of one conversation (oldest first); `until` defaults to usable.

    A fall in usage (a clear, a compaction) starts the count anew.
    """
    raise NotImplementedError
