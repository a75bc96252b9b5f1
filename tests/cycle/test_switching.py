"""Another agent takes over from one that cannot be asked: what a person does meanwhile is left alone."""

import asyncio
import json
from collections.abc import Callable

import pytest

from batonpass.agents.setbacks import TriesAgain
from batonpass.cycle import passing, priming, sealing, verifying
from batonpass.cycle.moves import (
    BOX_IN_USE,
    MOVED,
    NOT_SEEN,
    REJECTED,
    WORKED_ON,
    Move,
    Outcome,
    Policy,
    Result,
    Step,
    Way,
)
from batonpass.cycle.plan import next_move
from batonpass.delivery import DeliveryState
from batonpass.session import State
from batonpass.supervisor.setback import Phase, Setback, kept, key
from batonpass.transcripts.events import Failed
from tests.cycle.scene import CYCLE, Scene
from tests.supervisor.fakes import OTHER

REFUSED = "You've hit your usage limit. Try again in 2 hours."
SWITCH = Move(Step.PASS, way=Way.SWITCH)
SILENT = Policy(way=Way.SWITCH, silent=True, force=True)


@pytest.fixture
async def refused(scene: Scene) -> Scene:
    """A session whose provider has ended its turn, and whose handoff is sealed from what was recorded."""
    scene.watch.hooks_seen = 1
    scene.talk.add("failed", kind="rate_limit", text=REFUSED)
    scene.supervisor.take_news(scene.watch)
    scene.case.remember(to="understudy", silent=True)
    await sealing.seal(scene.case, Move(Step.SEAL, document=False))
    scene.clock.advance(1)
    return scene


def left_alone(scene: Scene, outcome: Outcome) -> bool:
    closing = next_move([Outcome(Step.PREPARE), Outcome(Step.SEAL), outcome], SILENT)
    assert closing is not None
    assert (closing.step, closing.result) == (Step.CLOSE, Result.PENDING)
    return outcome.code == MOVED and scene.launcher.kicks == []


@pytest.mark.parametrize("state", [State.IDLE, State.WAITING])
async def test_one_that_cannot_answer_is_replaced_also_where_it_stands_at_a_dialog(
    refused: Scene, state: State
) -> None:
    refused.says(state)
    assert (await passing.hand_over(refused.case, SWITCH)).ok
    assert (len(refused.launcher.kicks), refused.panes.typed) == (1, [])


async def test_what_a_person_has_typed_does_not_go_with_it(refused: Scene) -> None:
    refused.panes.box = "half a thought"
    assert (await passing.hand_over(refused.case, SWITCH)).code == BOX_IN_USE


async def test_what_one_that_can_be_asked_did_since_the_seal_is_sealed_before_another_takes_over(scene: Scene) -> None:
    scene.watch.hooks_seen = 1
    scene.case.remember(to="understudy")
    await sealing.seal(scene.case, Move(Step.SEAL, document=False))
    scene.talk.prompt("Run the linter before you stop.", "hook")
    scene.talk.say("It found a torn name.")
    scene.clock.advance(1)
    scene.says(State.IDLE)
    assert (await passing.hand_over(scene.case, SWITCH)).code == WORKED_ON
    await sealing.seal(scene.case, Move(Step.SEAL, document=False))
    assert (await passing.hand_over(scene.case, SWITCH)).ok
    assert len(scene.launcher.kicks) == 1


@pytest.fixture
async def waiting(scene: Scene) -> Scene:
    """A session that is busy until its agent asks its provider again, hours later; its handoff is sealed."""
    scene.talk.prompt("go on")
    scene.supervisor.take_news(scene.watch)
    scene.case.remember(to="understudy", silent=True)
    await sealing.seal(scene.case, Move(Step.SEAL, document=False))
    again = TriesAgain(Failed(scene.clock.now(), "rate_limit", "Too many."), scene.clock.now() + 7200)
    scene.says(State.BUSY, tries_again=again)
    scene.clock.advance(1)
    return scene


async def test_one_that_waits_to_ask_again_is_replaced_at_once_although_it_is_busy(waiting: Scene) -> None:
    began = waiting.clock.ticks()
    assert (await passing.hand_over(waiting.case, SWITCH)).ok
    assert waiting.clock.ticks() - began < 5
    assert (len(waiting.launcher.kicks), waiting.panes.typed) == (1, [])


async def test_what_a_person_has_typed_beside_its_wait_does_not_go_with_it(waiting: Scene) -> None:
    waiting.panes.box = "half a thought"
    assert (await passing.hand_over(waiting.case, SWITCH)).code == BOX_IN_USE
    assert waiting.launcher.kicks == []


@pytest.mark.parametrize("speaks", [False, True])
async def test_one_that_came_back_after_it_was_cut_off_in_its_wait_is_replaced_unless_a_person_speaks_to_it(
    waiting: Scene, speaks: bool
) -> None:
    session = waiting.watch.session.id
    cut_off = Setback(Phase.SWITCHING, at=waiting.clock.now(), kind="rate_limit", own=True)
    waiting.store.put(key(session), kept(cut_off))
    waiting.says(State.IDLE)
    if speaks:
        waiting.clock.advance(1)
        waiting.talk.prompt("try it once more")
    outcome = await passing.hand_over(waiting.case, SWITCH)
    assert left_alone(waiting, outcome) if speaks else outcome.ok


async def test_one_that_was_served_before_the_pass_is_left_alone(waiting: Scene) -> None:
    waiting.says(State.BUSY)
    assert left_alone(waiting, await passing.hand_over(waiting.case, SWITCH))


async def test_a_conversation_that_a_person_begins_before_the_pass_is_left_alone(refused: Scene) -> None:
    refused.says(State.BUSY)

    async def clears() -> None:
        await asyncio.sleep(0)
        refused.begins(OTHER, "clear")

    outcome, _ = await asyncio.gather(passing.hand_over(refused.case, SWITCH), clears())
    assert left_alone(refused, outcome)


async def test_one_that_a_person_has_set_to_work_again_is_left_alone(refused: Scene) -> None:
    refused.talk.prompt("try it once more")
    refused.says(State.BUSY)
    assert left_alone(refused, await passing.hand_over(refused.case, SWITCH))


async def test_one_that_served_a_person_again_is_left_alone(refused: Scene) -> None:
    refused.talk.prompt("try it once more")
    refused.talk.say("It works.", used=146_000)
    assert left_alone(refused, await passing.hand_over(refused.case, SWITCH))


async def test_what_a_person_said_is_in_no_document_although_it_failed_again_and_so_the_agent_is_left_alone(
    refused: Scene,
) -> None:
    refused.talk.prompt("try it once more")
    refused.talk.add("failed", kind="rate_limit", text=REFUSED)
    assert left_alone(refused, await passing.hand_over(refused.case, SWITCH))


# -- the heir ----------------------------------------------------------------------------------------


def kick(number: int) -> Move:
    return Move(Step.PRIME, attempt=number, way=Way.SWITCH)


@pytest.fixture
async def begun(refused: Scene) -> Scene:
    """The heir has begun with the kick on its command line, which its record does not show yet."""
    assert (await passing.hand_over(refused.case, SWITCH)).ok
    return refused


def heard(scene: Scene) -> None:
    scene.hears(scene.launcher.kicks[-1] or "")


async def test_an_heir_at_work_whose_kick_shows_late_is_waited_for(
    begun: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun.says(State.BUSY)
    waits, until = list[float](), begun.watch.until

    async def spied(condition: Callable[[], bool], seconds: float) -> bool:
        waits.append(seconds)
        if len(waits) == 2:  # the time for the kick itself is over
            heard(begun)
        return await until(condition, seconds)

    monkeypatch.setattr(begun.watch, "until", spied)
    outcome = await priming.prime(begun.case, kick(1))
    assert (outcome.ok, begun.panes.typed) == (True, [])


async def test_a_kick_that_shows_after_it_was_given_up_is_not_given_again_and_its_receipt_counts(begun: Scene) -> None:
    assert (await priming.prime(begun.case, kick(1))).code == NOT_SEEN
    heard(begun)
    begun.says(State.BUSY)
    assert (await priming.prime(begun.case, kick(2))).ok
    assert begun.panes.typed == []
    (second,) = [d for d in begun.case.stage.store.deliveries(cycle=CYCLE) if d.attempt == 2]
    assert second.state is DeliveryState.WITHDRAWN, "it was never given"
    receipt = {"baton_receipt": CYCLE, "task": "something else"}
    begun.talk.say(f"```json\n{json.dumps(receipt)}\n```")
    begun.supervisor.take_news(begun.watch)
    outcome = await verifying.verify(begun.case, Move(Step.VERIFY, attempt=2))
    assert outcome.code == REJECTED
    assert "branch" in outcome.note, "it was read and compared"


async def test_a_correction_is_given_although_the_kick_before_it_was_heard(begun: Scene) -> None:
    heard(begun)
    begun.panes.on_enter = begun.hears
    wrong = Move(Step.PRIME, attempt=2, way=Way.SWITCH, missing=('"branch" is "main"',))
    assert (await priming.prime(begun.case, wrong)).ok
    assert len(begun.panes.sent) == 1


async def test_the_first_kick_of_an_heir_at_work_is_not_taken_for_the_correction_that_it_could_not_be_given(
    begun: Scene,
) -> None:
    heard(begun)
    begun.says(State.BUSY)
    wrong = Move(Step.PRIME, attempt=2, way=Way.SWITCH, missing=('"branch" is "main"',))
    outcome = await priming.prime(begun.case, wrong)
    assert (outcome.code, outcome.data, begun.panes.typed) == (NOT_SEEN, {"at_work": True}, [])


@pytest.mark.parametrize(("state", "at_work"), [(State.BUSY, True), (State.WAITING, False)])
async def test_of_an_heir_whose_kick_never_shows_it_is_told_whether_it_is_at_work(
    begun: Scene, state: State, at_work: bool
) -> None:
    begun.says(state)
    for number in (1, 2):
        outcome = await priming.prime(begun.case, kick(number))
        assert (outcome.code, outcome.data["at_work"]) == (NOT_SEEN, at_work)
