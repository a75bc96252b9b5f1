"""A move that the database cut off has no outcome: it is made again, as after a crash."""

from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from batonpass.clock import SystemClock
from batonpass.config import Config
from batonpass.cycle import steps
from batonpass.cycle.case import Case
from batonpass.cycle.moves import Move, Outcome, Step
from batonpass.cycle.stage import Stage, at_once
from batonpass.cycle.workflow import _patiently
from batonpass.store import StoreAway, default_url, open_store
from batonpass.supervisor.slots import Slots
from tests.store.samples import SESSION, cycle


async def test_a_move_that_the_database_cut_off_is_made_again_under_its_old_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = []

    async def prepare(case: Case, move: Move) -> Outcome:
        tried.append(move.step)
        if len(tried) == 1:
            raise StoreAway("it is away")
        return Outcome(Step.PREPARE)

    monkeypatch.setitem(steps._ACTS, Step.PREPARE, prepare)
    watch = SimpleNamespace(session=SESSION, folder=tmp_path, step=None, changed=lambda: None)
    with open_store(default_url(tmp_path)) as store:
        store.save_session(SESSION)
        store.start_cycle(cycle())
        stage: Any = SimpleNamespace(
            store=store, clock=SystemClock(), slots=Slots(1), watch=lambda session: watch,
            config=lambda project: Config(), probe=lambda point: None, hold=at_once,
        )  # fmt: skip
        work = partial(steps.run, cast(Stage, stage), cycle().id, Move(Step.PREPARE))
        outcome = await _patiently(cast(Stage, stage), cycle().id, work)
        assert outcome.ok
        assert len(tried) == 2
        assert [(step.seq, step.state) for step in store.steps(cycle().id)] == [(1, "ok")]
