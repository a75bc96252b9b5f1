"""Guards against storms: what the record of past cycles says about starting another one. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from batonpass.store.records import CycleRecord, CycleState

HOUR = 3600.0
RAISE = 5.0  # percent points by which the threshold is put off while handoffs follow each other too quickly
FRUITLESS = 3  # handoffs in a row after which nothing has changed in the project

COOLING = "cooling"
BREAKER = "breaker"
NO_PROGRESS = "no progress"


@dataclass(frozen=True, slots=True)
class Limits:
    """The settings that the guards go by."""

    cooldown_minutes: float
    breaker_per_hour: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a handoff may start by itself, why not, until when, and how far the threshold is put off."""

    guard: str | None = None
    why: str = ""
    until: float | None = None  # None with a guard: until a person resets it
    raised: float = 0.0
    frequent: int = 0  # handoffs within the last hour

    @property
    def free(self) -> bool:
        return self.guard is None


def judge(cycles: Sequence[CycleRecord], now: float, limits: Limits, reset_at: float = 0.0) -> Verdict:
    """The verdict on one session's cycles, oldest first. What a person asked for is not counted against it."""
    # A cycle of the future is one of before the clock was set back: nobody knows how long ago that was.
    ended = [c for c in cycles if c.ended is not None and reset_at <= c.started <= now and not by_person(c)]
    recent = [c for c in ended if now - c.started < HOUR and c.state is not CycleState.POSTPONED]
    passed = [c for c in recent if c.state is CycleState.DONE]
    raised = RAISE if len(passed) > 1 else 0.0
    if _fruitless(ended):
        why = f"{FRUITLESS} handoffs in a row left the project unchanged"
        return Verdict(NO_PROGRESS, why, None, raised, len(passed))
    if len(recent) >= limits.breaker_per_hour:
        until = recent[-limits.breaker_per_hour].started + HOUR
        why = f"{len(recent)} handoffs within an hour, {limits.breaker_per_hour} are allowed"
        return Verdict(BREAKER, why, until, raised, len(passed))
    last = ended[-1] if ended else None
    if last is not None and last.state is not CycleState.DONE and last.ended is not None:
        until = last.ended + 60 * limits.cooldown_minutes
        if last.ended <= now < until:
            return Verdict(COOLING, f"the last handoff ended {last.state}", until, raised, len(passed))
    return Verdict(raised=raised, frequent=len(passed))


def by_person(cycle: CycleRecord) -> bool:
    return cycle.data.get("by_person") is True


def _fruitless(ended: Sequence[CycleRecord]) -> bool:
    """The same fingerprint of the project at the seal of several handoffs in a row."""
    marks = [c.data.get("fingerprint") for c in ended if c.state is CycleState.DONE][-FRUITLESS - 1 :]
    return len(marks) == FRUITLESS + 1 and marks[0] is not None and len(set(marks)) == 1
