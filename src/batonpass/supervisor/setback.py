"""What a provider keeps a session from, and what to do about it: frozen values and pure functions.

Every agent that does not serve has a date from which it may (`down`). All else follows from those dates: whom to wait
for, who can go on meanwhile, and when the first choice is to have the work again.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from batonpass.agents.setbacks import OVERLOADED, QUOTA, RATE_LIMIT, SIGN_IN, TriesAgain, kind_of, resets_at
from batonpass.config.schema import Quota

FIRST_SECONDS = 30.0  # of the back-off where nobody says how long it lasts
MOST_TRIES = 5
_MOST_DOUBLINGS = 10
_OWN_PACE_SECONDS = 60.0  # an agent's own back-off; a next try that is farther off was told by its provider


class Phase(StrEnum):
    WELL = "well"
    WAITING = "waiting"  # for the first who serves again, then that one goes on
    SWITCHING = "switching"  # another agent is to take over; a cycle sees to it
    AWAY = "away"  # another agent than the first choice does the work
    STUCK = "stuck"  # only a person can help; told once


@dataclass(frozen=True, slots=True)
class Setback:
    """What a session suffers from, as the store keeps it."""

    phase: Phase = Phase.WELL
    at: float = 0.0  # of the failure that was acted on last
    kind: str = ""
    until: float | None = None  # waiting: when somebody can go on
    tries: int = 0  # turns in a row that the provider ended
    mark: str = ""  # of the prompt that is given after the wait
    first: str | None = None  # the agent to come back to
    down: Mapping[str, float] = field(default_factory=dict)  # agents that do not serve, and until when
    to: str | None = None  # switching: who is to take over,
    cycle: str | None = None  # and the cycle that sees to it; chosen before it is started
    missed: int = 0  # switches that did not happen since the work went on last,
    because: str = ""  # and what kept the last of them
    own: bool = False  # the agent was to try again by itself: no end of a turn stands in its record,
    talk: str = ""  # and it was refused in this conversation; "" where that is not known

    def away(self, agent: str) -> bool:
        return self.first is not None and agent != self.first

    @property
    def due(self) -> float | None:
        """When something is to be done: somebody goes on, or the first choice is tried again."""
        if self.phase is Phase.AWAY:
            return self.down.get(self.first or "", 0.0)
        return self.until if self.phase is Phase.WAITING else None

    def served(self, agent: str) -> "Setback":
        """The same once this agent works: well, or away from its first choice, which has a date of its own."""
        down = {name: until for name, until in self.down.items() if name != agent}
        if self.away(agent):
            return Setback(Phase.AWAY, at=self.at, kind=self.kind, mark=self.mark, first=self.first, down=down)
        return Setback(at=self.at, down=down)

    def seen(self, agent: str) -> "Setback":
        """As it is while this agent has the session: a switch has happened when its heir is there."""
        return self.served(agent) if self.phase is Phase.SWITCHING and agent == self.to else self


@dataclass(frozen=True, slots=True)
class Wait:
    until: float


@dataclass(frozen=True, slots=True)
class Switch:
    to: str


@dataclass(frozen=True, slots=True)
class Call:
    """A person has to help."""


def serves_again(kind: str, resets: float | None, tries: int, now: float, limits: Quota) -> float:
    """When to try an agent again whose turn its provider ended, for the `tries`-th time after the first.

    What the provider says is believed at once, and ever less where it does not come true.
    """
    soon, later = now + 60 * limits.wait_minutes, now + 60 * limits.retry_minutes
    if resets is None:
        pause = now + _pause(tries)
        return pause if kind in (RATE_LIMIT, OVERLOADED) and tries < MOST_TRIES and pause <= soon else later
    if resets <= soon and tries >= MOST_TRIES:
        return later
    return max(resets, min(now + _pause(tries - 1), later)) if tries else resets


def told_by(again: TriesAgain, now: float) -> float | None:
    """When an agent may be served that tries again by itself: then, or later where its provider says so.

    None where nobody tells: the end of a quota is none that an agent's own pace would tell.
    """
    kind, resets = kind_of(again.failed.kind, again.failed.text) or "", resets_at(again.failed.text, again.failed.at)
    own = None if again.at is None or (kind == QUOTA and again.at < now + _OWN_PACE_SECONDS) else again.at
    known = [date for date in (resets, own) if date is not None]
    return max(known) if known else None


def tried_again(again: TriesAgain, now: float, limits: Quota) -> float:
    """When such an agent may be served, also where nobody tells."""
    kind = kind_of(again.failed.kind, again.failed.text) or ""
    return told_by(again, now) or serves_again(kind, None, 0, now, limits)


def is_near(date: float, now: float, limits: Quota) -> bool:
    """Whether a provider that serves again then is waited for."""
    return date <= now + 60 * limits.wait_minutes


def _pause(tries: int) -> float:
    return FIRST_SECONDS * float(2 ** min(tries, _MOST_DOUBLINGS))


def put_off(missed: int, now: float, limits: Quota) -> float:
    """When to try an agent again that did not take over: each time makes a handoff and disturbs people."""
    return now + 60 * limits.retry_minutes * float(2 ** min(missed, _MOST_DOUBLINGS))


def choose(kind: str, back: float, now: float, others: Mapping[str, float], limits: Quota) -> Wait | Switch | Call:
    """What to do about an agent that may serve at `back`. `others` can go on from their dates, by preference."""
    waits = kind != SIGN_IN  # that comes back by no waiting
    if waits and is_near(back, now, limits):
        return Wait(back)
    for name, date in others.items():
        if date <= now:
            return Switch(name)
    dates = [*others.values(), *([back] if waits else [])]
    return Wait(min(dates)) if dates else Call()


def key(session: str) -> str:
    """Under which the store keeps a session's setback."""
    return f"setback {session}"


def kept(setback: Setback) -> dict[str, object]:
    """A setback as the store has it."""
    return {**asdict(setback), "phase": str(setback.phase)}


def read(value: object) -> Setback:
    """A setback from the store; none from what nobody can read."""
    if not isinstance(value, dict):
        return Setback()
    fields: dict[str, Any] = {name: each for name, each in value.items() if name in Setback.__dataclass_fields__}
    try:
        return Setback(**{**fields, "phase": Phase(fields.get("phase", ""))})
    except ValueError:
        return Setback()
