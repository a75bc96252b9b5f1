"""Handoffs that follow each other too quickly are held back, told of with their cause, and shown; and not for ever."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from batonpass.serve.views import guard_record
from batonpass.store import CycleState, Store
from batonpass.supervisor.act import Supervisor
from batonpass.supervisor.guards import BREAKER, COOLING, FUTILE, HOUR
from batonpass.supervisor.settings import Settings
from tests.supervisor.fakes import HastyClock, start
from tests.supervisor.test_act import Scene


@pytest.fixture
def scene(tmp_path: Path, store: Store, clock: HastyClock) -> Scene:
    return Scene(tmp_path, store, clock)


def guard(scene: Scene) -> object:
    return guard_record(scene.supervisor, scene.watch)["guard"]


async def fill(scene: Scene, upto: int = 145_000) -> None:
    """A conversation that grows to this; the handoff is due at 142,000."""
    for used in (*range(30_000, upto, 7_000), upto):
        scene.clock.advance(10)
        await scene.reads(used)


async def looked_at(scene: Scene) -> None:
    """The daemon's look round."""
    scene.supervisor.consider_again()
    for _ in range(10):
        await asyncio.sleep(0)


async def pass_on(scene: Scene) -> None:
    """The handoff ends well, and the next conversation begins: its first answer comes before the cycle is over."""
    number = len(scene.cycles)
    scene.watch.session = replace(scene.watch.session, chain=number)
    await scene.supervisor.take_hook(scene.watch, start(f"{number:08d}-0000-0000-0000-000000000000"), scene.clock.now())
    await scene.reads(20_000)
    scene.close()


async def test_the_fourth_handoff_of_an_hour_waits_until_the_first_is_an_hour_old_and_then_begins_by_itself(
    scene: Scene,
) -> None:
    for _ in range(3):
        await fill(scene, 160_000)
        await pass_on(scene)
    await fill(scene, 160_000)
    assert (len(scene.cycles), guard(scene)) == (3, BREAKER)
    (told,) = [text for text in scene.told if "baton breaker reset" in text]
    assert "3 handoffs within an hour" in told
    await scene.reads(161_000)
    assert len([text for text in scene.told if "baton breaker reset" in text]) == 1, "a person is told once"
    await looked_at(scene)
    assert len(scene.cycles) == 3
    scene.clock.advance(HOUR)
    await looked_at(scene)  # it idles: no reading comes
    assert (len(scene.cycles), guard(scene)) == (4, None)


async def test_a_person_who_has_looked_lets_the_next_handoff_begin(scene: Scene) -> None:
    for _ in range(3):
        await fill(scene, 160_000)
        await pass_on(scene)
    await fill(scene, 160_000)
    scene.supervisor.restraint.reset(scene.watch)
    await scene.reads(161_000)
    assert (len(scene.cycles), guard(scene)) == (4, None)


async def test_after_two_handoffs_within_an_hour_the_next_one_comes_later_for_the_rest_of_that_hour(
    scene: Scene,
) -> None:
    for _ in range(2):
        await fill(scene)
        await pass_on(scene)
    await fill(scene, 145_000)
    assert len(scene.cycles) == 2, "the threshold is put off"
    assert guard_record(scene.supervisor, scene.watch)["threshold_raised_by"] == 5.0
    (told,) = [text for text in scene.told if "handoffs within an hour" in text]
    assert "2 handoffs within an hour, because each message adds about 7k tokens" in told
    assert "5 points higher until 20" in told
    scene.clock.advance(HOUR)
    await looked_at(scene)  # it idles: no reading comes
    assert len(scene.cycles) == 3, "and then it is where it was"


async def test_one_that_was_put_off_begins_when_it_reaches_the_higher_threshold(scene: Scene) -> None:
    for _ in range(2):
        await fill(scene)
        await pass_on(scene)
    await fill(scene, 151_000)
    assert len(scene.cycles) == 3


async def test_a_session_that_idles_is_handed_off_when_the_pause_after_a_failure_is_over(scene: Scene) -> None:
    await fill(scene)
    await looked_at(scene)
    scene.close(CycleState.FAILED)
    await looked_at(scene)
    assert (len(scene.cycles), guard(scene)) == (1, COOLING)
    scene.clock.advance(299)
    await looked_at(scene)
    assert len(scene.cycles) == 1
    scene.clock.advance(2)
    await looked_at(scene)
    assert len(scene.cycles) == 2, "no reading came"


async def test_a_clock_that_is_set_back_holds_nobody_for_longer(scene: Scene) -> None:
    await fill(scene)
    await looked_at(scene)
    scene.close(CycleState.FAILED)
    await looked_at(scene)
    scene.clock.jump(-86_400)
    scene.clock.advance(301)
    await looked_at(scene)
    assert len(scene.cycles) == 2


async def test_one_that_was_postponed_is_tried_again_soon_but_not_by_the_clock_alone(scene: Scene) -> None:
    await fill(scene)
    await looked_at(scene)
    scene.close(CycleState.POSTPONED)
    await looked_at(scene)
    assert guard(scene) == COOLING
    scene.clock.advance(600)
    await looked_at(scene)
    assert len(scene.cycles) == 1, "what kept it back may stay for days"
    await scene.reads(146_500)
    assert len(scene.cycles) == 2


async def test_an_answer_that_comes_right_after_a_handoff_was_postponed_is_the_news_that_it_waits_for(
    scene: Scene,
) -> None:
    await fill(scene)
    await looked_at(scene)
    scene.close(CycleState.POSTPONED)
    scene.clock.advance(10)
    await scene.reads(146_500)
    assert len(scene.cycles) == 1
    scene.clock.advance(21)
    await looked_at(scene)
    assert len(scene.cycles) == 2


async def test_one_that_was_postponed_after_the_agent_was_asked_is_not_tried_again_at_once(scene: Scene) -> None:
    for expected in (1, 2, 3):
        await scene.reads(145_000 + expected)
        await fill(scene)
        assert len(scene.cycles) == expected
        scene.store.update_cycle(scene.cycles[-1][0], data={"ask_tag": "[baton 7f3a91c2 ask 1]"})
        scene.close(CycleState.POSTPONED)
        scene.clock.advance(31)
        await scene.reads(146_000 + expected)
        assert (len(scene.cycles), guard(scene)) == (expected, BREAKER if expected == 3 else COOLING)
        scene.clock.advance(300)


async def test_a_daemon_that_takes_up_a_cycle_counts_it_before_it_judges(scene: Scene) -> None:
    await fill(scene)
    await pass_on(scene)
    await fill(scene)
    scene.watch.session = replace(scene.watch.session, chain=2)
    await scene.supervisor.take_hook(scene.watch, start("00000002-0000-0000-0000-000000000000"), scene.clock.now())
    scene.watch.step = None  # as after a restart, until the engine has brought the cycle back
    await scene.reads(20_000)
    scene.close()
    await fill(scene, 145_000)
    assert len(scene.cycles) == 2


async def test_a_session_whose_handoffs_would_not_help_is_shown_so_and_a_person_can_let_it_go_on(scene: Scene) -> None:
    scene.watch.session = replace(scene.watch.session, chain=1)
    await scene.reads(150_000)
    assert (scene.cycles, guard(scene)) == ([], FUTILE)
    assert "began above the threshold" in str(guard_record(scene.supervisor, scene.watch)["why"])
    assert [text for text in scene.told if f"run: baton breaker reset {scene.watch.session.name}" in text]
    scene.supervisor.restraint.reset(scene.watch)
    await scene.reads(151_000)
    assert (len(scene.cycles), guard(scene)) == (1, None)


async def test_a_pardon_is_for_one_conversation(scene: Scene) -> None:
    scene.watch.session = replace(scene.watch.session, chain=1)
    await scene.reads(150_000)
    scene.supervisor.restraint.reset(scene.watch)
    await scene.reads(151_000)
    await scene.supervisor.take_hook(scene.watch, start("00000009-0000-0000-0000-000000000000"), scene.clock.now())
    await scene.reads(150_000)
    scene.close()
    await scene.reads(151_000)
    assert (len(scene.cycles), guard(scene)) == (1, FUTILE)


async def test_one_that_was_postponed_waits_for_news_with_a_later_daemon_too(
    scene: Scene, tmp_path: Path, store: Store
) -> None:
    await fill(scene)
    scene.close(CycleState.POSTPONED)
    scene.clock.advance(600)
    scene.supervisor = Supervisor(store, scene.clock, Settings(tmp_path / "home", {}), scene._notify)
    scene.supervisor.starter.pass_baton = scene._pass
    scene.supervisor.reopen(scene.watch)
    scene.supervisor.consider(scene.watch)
    await looked_at(scene)
    assert len(scene.cycles) == 1
    await scene.reads(146_500)
    assert len(scene.cycles) == 2


async def test_a_handoff_by_hand_that_was_postponed_is_not_begun_by_itself_a_moment_later(scene: Scene) -> None:
    await fill(scene, 130_000)
    await scene.supervisor.starter.hand_off(scene.watch, "asked for by hand")
    await scene.reads(145_000)
    await looked_at(scene)
    scene.close(CycleState.POSTPONED)
    await looked_at(scene)
    assert len(scene.cycles) == 1


async def test_no_clock_starts_a_handoff_while_the_agent_is_not_served(scene: Scene) -> None:
    for _ in range(3):
        await fill(scene, 160_000)
        await pass_on(scene)
    await fill(scene, 160_000)
    scene.talk.prompt("go on")
    scene.talk.add("failed", kind="rate_limit", text="You've hit your usage limit. Try again in 2 hours.")
    scene.watch.conversation.follow(scene.talk.path)
    scene.watch.read()
    scene.clock.advance(HOUR)
    await looked_at(scene)
    assert len(scene.cycles) == 3, "it could not be asked for a document"
    scene.talk.prompt("go on")
    scene.talk.say("done")
    scene.watch.read()
    await looked_at(scene)
    assert len(scene.cycles) == 4


async def test_a_session_that_is_being_told_something_is_handed_off_when_that_is_done(scene: Scene) -> None:
    await fill(scene, 130_000)
    scene.watch.being_told = True
    await scene.reads(146_000)
    assert scene.cycles == []
    scene.watch.being_told = False
    await looked_at(scene)
    assert len(scene.cycles) == 1
