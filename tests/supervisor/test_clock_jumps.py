"""Somebody sets the clock, or the laptop sleeps: nothing ends early, waits for ever or is taken for something else."""

import asyncio

import pytest

from batonpass.agents.base import Status
from batonpass.clock import ManualClock
from batonpass.ladder import PRESETS, History, decide
from batonpass.reading import Reading, Source
from batonpass.session import State
from batonpass.store.records import CycleState
from batonpass.supervisor.guards import BREAKER, HOUR, judge
from batonpass.supervisor.keys import Keys, NotReady
from batonpass.supervisor.watch import Watch
from tests.supervisor.fakes import TALK, FakePanes, HastyClock, Talk, ToldAgent, stop
from tests.supervisor.test_guards import LIMITS, NOW, cycle

ASK = "[baton 7f3a91c2 ask 1]"
LADDER = PRESETS["graduated"]
JUMPS = pytest.mark.parametrize("jump", [-HOUR, HOUR, 365 * 24 * HOUR])


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@JUMPS
async def test_a_wait_takes_as_long_as_it_was_meant_to(watch: Watch, clock: ManualClock, jump: float) -> None:
    waiting = asyncio.create_task(watch.until(lambda: False, 10.0))
    await _others()
    clock.jump(jump)
    watch.changed()
    await _others()
    clock.advance(9)
    await _others()
    assert not waiting.done()
    clock.advance(1.5)
    await _others()
    assert waiting.done()


async def _others() -> None:
    """Let everybody else act."""
    for _ in range(20):
        await asyncio.sleep(0)


@JUMPS
async def test_typing_gives_up_after_its_own_time(watch: Watch, agent: ToldAgent, jump: float) -> None:
    clock, panes = HastyClock(), FakePanes()
    watch.clock = clock
    agent.says = Status(State.BUSY, TALK)
    keys = Keys(panes, clock)
    began = clock.ticks()
    clock.jump(jump)
    with pytest.raises(NotReady):
        await keys.ready(watch, 20.0)
    assert 20 <= clock.ticks() - began < 22


@JUMPS
def test_the_end_of_a_turn_is_told_by_the_order_of_things(
    watch: Watch, talk: Talk, agent: ToldAgent, clock: ManualClock, jump: float
) -> None:
    agent.says = Status(State.BUSY, TALK, since=clock.now())
    watch.refresh()
    talk.prompt("before")
    watch.take_hook(stop("done"), clock.now())
    clock.jump(jump)
    talk.prompt(f"{ASK} write it")
    watch.read()
    since = clock.now()
    assert not watch.turn_over(ASK, since), "the end of the turn before is not the end of this one"
    clock.jump(-2 * jump)
    watch.take_hook(stop("written"), clock.now())
    assert watch.turn_over(ASK, since)


def test_a_report_that_waited_in_the_spool_is_placed_by_its_date(watch: Watch, talk: Talk, clock: ManualClock) -> None:
    early = clock.now()
    clock.advance(10)
    talk.prompt(f"{ASK} write it")
    since = clock.now()
    clock.advance(10)
    watch.status = Status(State.BUSY, TALK)
    watch.take_hook(stop("before"), early)
    assert not watch.turn_over(ASK, since)
    watch.take_hook(stop("written"), since + 5)
    assert watch.turn_over(ASK, since)


def test_handoffs_of_a_future_that_was_none_hold_nobody_back() -> None:
    ahead = [cycle(-60 * 24 * days) for days in (300, 200, 100)]
    assert judge(ahead, NOW, LIMITS).free
    assert judge([cycle(-60, CycleState.FAILED)], NOW, LIMITS).free
    assert judge([*ahead, cycle(30), cycle(20), cycle(10)], NOW, LIMITS).guard == BREAKER


def test_reminders_go_on_when_the_clock_was_set_back() -> None:
    reading = Reading(NOW, TALK, 125_000, 200_000, 167_000, Source.STATUSLINE, 1.0)
    history = History().after(decide(reading, None, History(), LADDER, NOW), NOW)
    assert not decide(reading, None, history, LADDER, NOW + 60).nudge
    assert decide(reading, None, history, LADDER, NOW - HOUR).nudge
