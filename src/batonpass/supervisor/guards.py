"""Guards against storms: what the record of past cycles says about starting another one. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from batonpass.store.records import CycleRecord, CycleState

HOUR = 3600.0
RAISE = 5.0  # percent points by which the threshold is put off while handoffs follow each other too quickly
FRUITLESS = 3  # handoffs in a row after which nothing has changed in the project
_SOON_SECONDS = 30.0  # after which one that was postponed may be tried again

COOLING = "cooling"
BREAKER = "breaker"
NO_PROGRESS = "no progress"
FUTILE = "futile"


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
    raised_until: float = 0.0
    frequent: int = 0  # handoffs within the last hour
    wants_news: bool = False  # something must have happened in the session since,
    since: float = 0.0  # the end of the last handoff, which was not a good one

    @property
    def free(self) -> bool:
        return self.guard is None


def judge(cycles: Sequence[CycleRecord], now: float, limits: Limits, reset_at: float = 0.0) -> Verdict:
    """The verdict on one session's cycles, oldest first. What a person asked for is not counted against it."""
    # A cycle of the future is one of before the clock was set back: nobody knows how long ago that was.
    ended = [c for c in cycles if c.ended is not None and reset_at <= c.started <= now and not by_person(c)]
    recent = [c for c in ended if now - c.started < HOUR and not _only_postponed(c)]
    passed = [c for c in recent if c.state is CycleState.DONE]
    about = Verdict(frequent=len(passed))
    if len(passed) > 1:
        about = replace(about, raised=RAISE, raised_until=passed[-2].started + HOUR)
    if _fruitless(ended):
        return replace(about, guard=NO_PROGRESS, why=f"{FRUITLESS} handoffs in a row left the project unchanged")
    if len(recent) >= limits.breaker_per_hour:
        until = recent[-limits.breaker_per_hour].started + HOUR
        why = f"{len(recent)} handoffs within an hour, {limits.breaker_per_hour} are allowed"
        return replace(about, guard=BREAKER, why=why, until=until)
    # One that a person asked for, and that came to nothing, is not begun again by itself a moment later either.
    last = next((c for c in reversed(cycles) if c.ended is not None and reset_at <= c.started <= now), None)
    if last is not None and last.state is not CycleState.DONE and last.ended is not None:
        postponed, seconds = _only_postponed(last), 60 * limits.cooldown_minutes
        until = last.ended + (min(seconds, _SOON_SECONDS) if postponed else seconds)
        # What kept such a one back (a dialog, text in the box) may stay for days: it is not tried by the clock alone.
        waits = last.state in (CycleState.POSTPONED, CycleState.PENDING)
        about = replace(about, wants_news=waits, since=last.ended)
        if last.ended <= now < until:
            return replace(about, guard=COOLING, why=f"the last handoff ended {last.state}", until=until)
    return about


def _only_postponed(cycle: CycleRecord) -> bool:
    """Whether it ended before anybody was asked anything: then it may be tried again soon, and is no storm."""
    return cycle.state is CycleState.POSTPONED and "ask_tag" not in cycle.data


def by_person(cycle: CycleRecord) -> bool:
    return cycle.data.get("by_person") is True


def _fruitless(ended: Sequence[CycleRecord]) -> bool:
    """The same fingerprint of the project at the seal of several handoffs in a row."""
    marks = [c.data.get("fingerprint") for c in ended if c.state is CycleState.DONE][-FRUITLESS - 1 :]
    return len(marks) == FRUITLESS + 1 and marks[0] is not None and len(set(marks)) == 1
