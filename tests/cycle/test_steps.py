"""What a step reports goes to the store and to the engine: neither keeps a secret of it."""

import pytest

from batonpass.cycle import steps
from batonpass.cycle.case import Case
from batonpass.cycle.moves import GAPS, Move, Outcome, Step
from tests.cycle.scene import CYCLE, Scene

SECRET = "hunter2-of-the-shop"


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
