"""How cycles come to the engine. Its queue is a stand-in here; the real one runs in the system tests."""

import asyncio
from typing import Any, cast

import pytest
from dbos import DBOS, Queue
from dbos import error as dbos_error

from batonpass.cycle import steps, workflow
from batonpass.cycle.case import Case
from batonpass.cycle.moves import GONE, Move, Outcome, Policy, Step
from batonpass.cycle.stage import Stage
from batonpass.cycle.workflow import Engine
from batonpass.store import CycleState, StoreAway
from tests.cycle.scene import CYCLE, Scene


class BusyQueue:
    """Has a cycle of the session under way for so many tries."""

    def __init__(self, tries: int) -> None:
        self.left, self.taken = tries, 0

    async def enqueue_async(self, *args: object) -> None:
        if self.left:
            self.left -= 1
            raise dbos_error.DBOSQueueDeduplicatedError(CYCLE, "host-here", "session")
        self.taken += 1


@pytest.fixture
def engine(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> Engine:
    async def unknown(cycle: str) -> None:
        return None

    monkeypatch.setattr(workflow, "claim", lambda queue: None)
    monkeypatch.setattr(workflow._Running, "ahead", {})
    monkeypatch.setattr(DBOS, "get_workflow_status_async", unknown)
    return Engine("sqlite:////nowhere", "here", scene.stage)


def _with(engine: Engine, tries: int) -> BusyQueue:
    queue = BusyQueue(tries)
    engine._queue = cast(Queue, cast(Any, queue))
    return queue


async def test_a_cycle_is_started_as_soon_as_the_last_one_of_the_session_has_ended(engine: Engine) -> None:
    queue = _with(engine, tries=3)
    assert await engine.pass_baton("c0ffee00", "session", Policy())
    assert queue.taken == 1


async def test_a_session_whose_cycle_goes_on_gets_no_second_one(engine: Engine) -> None:
    queue = _with(engine, tries=1_000_000)
    assert not await engine.pass_baton("c0ffee00", "session", Policy())
    assert queue.taken == 0


async def test_a_cycle_that_cannot_be_taken_up_does_not_keep_its_session_from_passing_the_baton(
    engine: Engine, scene: Scene
) -> None:
    _with(engine, tries=1_000_000)
    await engine.take_up(scene.case.cycle)
    assert scene.case.cycle.state is CycleState.POSTPONED
    assert scene.store.running_cycle(scene.watch.session.id) is None


async def test_after_a_crash_moves_that_had_ended_are_not_made_again(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Step] = []

    def does(step: Step, outcome: Outcome) -> None:
        async def act(case: Case, move: Move) -> Outcome:
            made.append(step)
            return outcome

        monkeypatch.setitem(steps._ACTS, step, act)

    does(Step.PREPARE, Outcome(Step.PREPARE, note="a checkpoint", data={"files": ["reader.py"]}))
    does(Step.SAFE_POINT, Outcome(Step.SAFE_POINT))
    does(Step.ASK, Outcome(Step.ASK, GONE, "it died"))
    first = await workflow._moves(scene.stage, CYCLE, Policy(), [])
    assert [outcome.step for outcome in first] == made == [Step.PREPARE, Step.SAFE_POINT, Step.ASK]
    # The engine had not written the phase down yet. What was cut off is made again, what had ended is known.
    again = scene.store.begin_step(CYCLE, Step.SEAL, 1, scene.clock.now())
    made.clear()
    assert await workflow._moves(scene.stage, CYCLE, Policy(), []) == first
    assert made == []
    does(Step.SEAL, Outcome(Step.SEAL))
    does(Step.PASS, Outcome(Step.PASS))
    await workflow._moves(scene.stage, CYCLE, Policy(), first)
    assert made == [Step.SEAL, Step.PASS]
    assert [step.seq for step in scene.store.steps(CYCLE) if step.step == Step.SEAL] == [again]


async def test_a_phase_ends_where_the_outside_has_seen_something(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    async def act(case: Case, move: Move) -> Outcome:
        return Outcome(move.step)

    for step in Step:
        monkeypatch.setitem(steps._ACTS, step, act)
    history: list[Outcome] = []
    phases = []
    while found := await workflow._moves(scene.stage, CYCLE, Policy(), history):
        history += found
        phases.append([outcome.step for outcome in found])
    assert phases == [
        [Step.PREPARE, Step.SAFE_POINT, Step.ASK],
        [Step.AWAIT, Step.CHECK, Step.SEAL, Step.PASS],
        [Step.PRIME, Step.VERIFY],
        [Step.CLOSE],
    ]


async def test_a_phase_begins_before_the_engine_has_written_down_that_it_is_due_and_is_made_once(
    engine: Engine, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Step] = []
    asked = asyncio.Event()

    async def act(case: Case, move: Move) -> Outcome:
        made.append(move.step)
        if move.step is Step.ASK:
            asked.set()
        return Outcome(move.step)

    for step in Step:
        monkeypatch.setitem(steps._ACTS, step, act)
    _with(engine, tries=0)
    assert await engine.pass_baton(CYCLE, "session", Policy())
    await asyncio.wait_for(asked.wait(), 10)
    first = await workflow._joined(scene.stage, CYCLE, Policy(), [])
    assert [outcome.step for outcome in first] == [Step.PREPARE, Step.SAFE_POINT, Step.ASK]
    second = await workflow._joined(scene.stage, CYCLE, Policy(), first)
    assert [outcome.step for outcome in second] == [Step.AWAIT, Step.CHECK, Step.SEAL, Step.PASS]
    third = await workflow._joined(scene.stage, CYCLE, Policy(), [*first, *second])
    await workflow._joined(scene.stage, CYCLE, Policy(), [*first, *second, *third])
    assert made == [step for step in Step if step is not Step.BACK]
    assert not workflow._Running.ahead


async def test_a_phase_that_the_engine_asks_for_again_is_not_made_again_and_neither_is_the_one_under_way(
    engine: Engine, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Step] = []
    written = asyncio.Event()

    async def act(case: Case, move: Move) -> Outcome:
        made.append(move.step)
        if move.step is Step.AWAIT:
            await written.wait()
        return Outcome(move.step)

    for step in Step:
        monkeypatch.setitem(steps._ACTS, step, act)
    first = await workflow._joined(scene.stage, CYCLE, Policy(), [])
    assert await workflow._joined(scene.stage, CYCLE, Policy(), []) == first
    both = [asyncio.ensure_future(workflow._joined(scene.stage, CYCLE, Policy(), first)) for _ in range(2)]
    written.set()
    one, other = await asyncio.gather(*both)
    assert one == other
    assert made[:7] == [Step.PREPARE, Step.SAFE_POINT, Step.ASK, Step.AWAIT, Step.CHECK, Step.SEAL, Step.PASS]
    assert made.count(Step.AWAIT) == 1


async def test_a_phase_that_broke_off_is_made_anew_when_it_is_asked_for_again(
    engine: Engine, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = [RuntimeError("broken off")]

    async def run(stage: Stage, cycle: str, move: Move) -> Outcome:
        if broken:
            raise broken.pop()
        return Outcome(move.step, GONE)

    monkeypatch.setattr(steps, "run", run)
    workflow._begin_ahead(scene.stage, CYCLE, Policy(), [])
    with pytest.raises(RuntimeError):
        await workflow._joined(scene.stage, CYCLE, Policy(), [])
    found = await workflow._joined(scene.stage, CYCLE, Policy(), [])
    assert found[0] == Outcome(Step.PREPARE, GONE)


async def test_an_ending_that_reached_the_store_although_its_answer_was_lost_is_not_made_twice(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Step] = []

    async def act(case: Case, move: Move) -> Outcome:
        made.append(move.step)
        return Outcome(move.step, GONE if move.step is Step.ASK else "ok")

    for step in Step:
        monkeypatch.setitem(steps._ACTS, step, act)
    end = scene.store.end_step

    def cut_off(*ending: Any) -> None:
        end(*ending)
        if len(made) == 1:
            monkeypatch.setattr(scene.store, "end_step", end)
            raise StoreAway("it is away")

    monkeypatch.setattr(scene.store, "end_step", cut_off)
    await workflow._moves(scene.stage, CYCLE, Policy(), [])
    assert made == [Step.PREPARE, Step.SAFE_POINT, Step.ASK]
    assert [step.step for step in scene.store.steps(CYCLE)] == made
