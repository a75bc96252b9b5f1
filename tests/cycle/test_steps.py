"""How a step is run: what it reports holds no secret, and one that waits for the machine alone has a ceiling."""

import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from batonpass.cycle import sealing, steps, workflow, writing
from batonpass.cycle.case import Case
from batonpass.cycle.moves import GAPS, GONE, LATE, Move, Outcome, Policy, Result, Step
from batonpass.cycle.plan import next_move
from batonpass.handoff.seal import checksum_ok
from batonpass.store import Store, StoreAway
from tests.cycle.scene import CYCLE, DOCUMENT, Scene

SECRET = "hunter2-of-the-shop"


@pytest.fixture
async def standstill(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[threading.Event]:
    """From when this is set, a file system that answers nobody who asks for facts."""
    stands, answers, facts = threading.Event(), threading.Event(), scene.supervisor.known.facts

    def asked(*what: Any, **more: Any) -> Any:
        if stands.is_set():
            answers.wait(60)
        return facts(*what, **more)

    monkeypatch.setattr(scene.supervisor.known, "facts", asked)
    yield stands
    answers.set()


async def test_a_steps_report_holds_no_secret(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    path = "/home/ada@engine.org/handoff.md"

    async def told(case: Case, move: Move) -> Outcome:
        message = f"the constraint is missing: DB_PASSWORD={SECRET}"
        return Outcome(Step.CHECK, GAPS, message, {"gaps": [message], "path": path})

    monkeypatch.setitem(steps._ACTS, Step.CHECK, told)
    outcome = await steps.run(scene.stage, CYCLE, Move(Step.CHECK))
    assert SECRET not in f"{outcome}"
    assert outcome.data["path"] == path
    (step,) = scene.store.steps(CYCLE)
    assert SECRET not in f"{step}"
    assert "the constraint is missing" in (step.note or "")


async def test_a_fault_nobody_foresaw_holds_none_either(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(case: Case, move: Move) -> Outcome:
        raise RuntimeError(f"cannot reach postgres://app:{SECRET}@db/app")

    monkeypatch.setitem(steps._ACTS, Step.CHECK, broken)
    outcome = await steps.run(scene.stage, CYCLE, Move(Step.CHECK))
    assert outcome.code == "error"
    assert SECRET not in f"{outcome}{scene.store.steps(CYCLE)}"


@pytest.mark.parametrize("step", [Step.PREPARE, Step.CHECK, Step.SEAL, Step.CLOSE])
async def test_a_step_that_waits_for_nobody_but_the_machine_is_given_up_at_its_ceiling(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, step: Step
) -> None:
    async def hangs(case: Case, move: Move) -> Outcome:
        await asyncio.Event().wait()
        return Outcome(step)

    monkeypatch.setitem(steps._ACTS, step, hangs)
    began = scene.clock.ticks()
    outcome = await steps.run(scene.stage, CYCLE, Move(step))
    assert (outcome.code, scene.clock.ticks() - began) == (LATE, steps._CEILINGS[step])
    assert f"does {scene.project}, or git in it, still answer" in outcome.note
    (noted,) = scene.store.steps(CYCLE)
    assert (noted.step, noted.state, noted.ended is None) == (step, LATE, False)


async def test_a_step_that_waits_for_an_agent_has_the_time_that_the_settings_give_it(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def waits(case: Case, move: Move) -> Outcome:
        await case.stage.clock.sleep(10_000)
        return Outcome(Step.VERIFY)

    monkeypatch.setitem(steps._ACTS, Step.VERIFY, waits)
    assert (await steps.run(scene.stage, CYCLE, Move(Step.VERIFY))).ok


async def test_a_timeout_of_something_else_within_a_step_is_no_ceiling(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(case: Case, move: Move) -> Outcome:
        raise TimeoutError("nobody answered the door")

    monkeypatch.setitem(steps._ACTS, Step.CLOSE, fails)
    outcome = await steps.run(scene.stage, CYCLE, Move(Step.CLOSE))
    assert (outcome.code, outcome.note) == ("error", "TimeoutError: nobody answered the door")


async def test_waiting_for_the_database_is_not_counted(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    away = [StoreAway("it is away")]

    async def act(case: Case, move: Move) -> Outcome:
        if away:
            raise away.pop()
        return Outcome(move.step, GONE if move.step is Step.ASK else "ok")

    async def until_back(store: Store, clock: object) -> None:
        scene.clock.advance(100_000)

    for step in Step:
        monkeypatch.setitem(steps._ACTS, step, act)
    monkeypatch.setattr(workflow, "until_back", until_back)
    outcomes = await workflow._moves(scene.stage, CYCLE, Policy(), [])
    assert (away, [outcome.code for outcome in outcomes]) == ([], ["ok", "ok", GONE])


async def test_where_nothing_can_be_gathered_the_agent_is_asked_all_the_same(
    scene: Scene, standstill: threading.Event
) -> None:
    standstill.set()
    outcome = await steps.run(scene.stage, CYCLE, Move(Step.PREPARE))
    assert outcome.code == LATE
    assert next_move([outcome], Policy()) == Move(Step.SAFE_POINT)


async def test_where_nothing_can_be_compared_the_document_is_sealed_with_what_was_known_last(
    scene: Scene, standstill: threading.Event
) -> None:
    await writing.prepare(scene.case, Move(Step.PREPARE))
    draft = scene.case.draft(1)
    draft.parent.mkdir(parents=True)
    draft.write_text(DOCUMENT, encoding="utf-8")
    scene.case.remember(draft=str(draft))
    standstill.set()
    outcome = await steps.run(scene.stage, CYCLE, Move(Step.CHECK))
    assert outcome.code == LATE
    move = next_move([Outcome(Step.PREPARE), outcome], Policy())
    assert move is not None
    sealed = await sealing.seal(scene.case, move)
    assert sealed.ok, sealed.note
    assert "nothing could be compared; with the facts of 2027-" in sealed.note
    text = Path(str(sealed.data["path"])).read_text(encoding="utf-8")
    assert checksum_ok(text)
    assert "Keep the torn bytes and not the torn text" in text
    assert "make the reader survive torn lines" in text.partition("## Recorded by Baton")[2]


async def test_a_seal_that_does_not_end_stops_the_cycle_and_a_person_is_called(
    scene: Scene, standstill: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    standstill.set()
    late = await steps.run(scene.stage, CYCLE, Move(Step.SEAL, document=False))
    move = next_move([Outcome(Step.PREPARE, GONE), late], Policy())
    assert move is not None
    assert (move.step, move.result) == (Step.CLOSE, Result.FAILED)
    assert (await steps.run(scene.stage, CYCLE, move)).ok
    (told,) = scene.told
    assert "seal was given up after 240 s" in told
    assert "nothing was cleared" in told
    assert told.endswith(f"run: baton handoff {scene.watch.session.name}")
    assert (scene.documents(), scene.panes.typed, scene.launcher.kicks) == ([], [], [])


async def test_from_the_way_back_to_the_close_the_ladder_lets_the_predecessor_be(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[Step, str | None]] = []

    async def act(case: Case, move: Move) -> Outcome:
        seen.append((move.step, case.watch.brought_back))
        if move.step is Step.BACK:
            case.remember(back_at=case.stage.clock.now())
        return Outcome(move.step)

    for step in Step:
        monkeypatch.setitem(steps._ACTS, step, act)
    old = scene.case.cycle.old_agent_session
    for step in (Step.VERIFY, Step.BACK, Step.SAFE_POINT):
        await steps.run(scene.stage, CYCLE, Move(step))
    scene.watch.brought_back = None  # as the next daemon finds it
    for step in (Step.ASK, Step.CLOSE):
        await steps.run(scene.stage, CYCLE, Move(step))
    assert seen == [(Step.VERIFY, None), *((step, old) for step in (Step.BACK, Step.SAFE_POINT, Step.ASK, Step.CLOSE))]
    assert scene.watch.brought_back is None
