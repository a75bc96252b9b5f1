"""How cycles come to the engine. Its queue is a stand-in here; the real one runs in the system tests."""

from typing import Any, cast

import pytest
from dbos import DBOS, Queue
from dbos import error as dbos_error

from batonpass.cycle import workflow
from batonpass.cycle.moves import Policy
from batonpass.cycle.workflow import Engine
from batonpass.store import CycleState
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
