"""How full a session is, and how soon it will be full."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean, median


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

    A fall in usage (a clear, a compaction) starts the count anew. A message is a reading that is higher
    than the one before: tokens are the mean of the last ones, time their median, which a night's pause
    in between does not distort.
    """
    known = _since_last_fall([reading for reading in readings if reading.used is not None])
    if not known:
        return Forecast(None, None, None)
    rises = _rises(known)[-_RISES:]
    goal = until if until is not None else known[-1].usable
    left = None if goal is None else max(0, goal - _used(known[-1]))
    if not rises:
        return Forecast(None, 0.0, 0.0) if left == 0 else Forecast(None, None, None)
    per_message = fmean(tokens for tokens, _ in rises)
    messages = None if left is None else left / per_message
    seconds = None if messages is None else messages * median(seconds for _, seconds in rises)
    return Forecast(per_message, messages, seconds)


_RISES = 10
_FALL = 0.05  # sources differ a little (a screen shows 45.2k): less than this is no fall


def _used(reading: Reading) -> int:
    return reading.used or 0


def _since_last_fall(known: Sequence[Reading]) -> Sequence[Reading]:
    start = 0
    for index in range(1, len(known)):
        before, now = known[index - 1], known[index]
        if now.agent_session != before.agent_session or _used(now) < _used(before) * (1 - _FALL):
            start = index
    return known[start:]


def _rises(known: Sequence[Reading]) -> list[tuple[int, float]]:
    """How many tokens each message added, and how long after the message before it came."""
    rises: list[tuple[int, float]] = []
    high = known[0]
    for reading in known[1:]:
        if _used(reading) > _used(high):
            rises.append((_used(reading) - _used(high), reading.at - high.at))
            high = reading
    return rises
