"""A prompt for a conversation that was resumed: entered once, whenever its record shows it, and nowhere else."""

import pytest

from batonpass.agents.base import Status
from batonpass.cycle.giving import Untold, give_resumed
from batonpass.delivery import Channel, Delivery, DeliveryState, tag
from batonpass.session import State
from batonpass.supervisor.promises import STEP, Promises
from batonpass.terminals.base import TerminalError
from tests.cycle.scene import Scene
from tests.supervisor.fakes import OTHER, TALK

MARK = tag("0c1e0001", STEP, 1)
TEXT = f"{MARK} This machine was restarted; go on."


@pytest.fixture
def given(scene: Scene) -> Delivery:
    owed = Delivery.alone(MARK, scene.watch.session.id, Channel.KEYS, TEXT, scene.clock.now())
    scene.store.save_delivery(owed)
    return owed


async def give(scene: Scene, given: Delivery) -> Untold | None:
    return await give_resumed(scene.stage, scene.watch, given, TALK, 5.0)


async def test_what_was_entered_is_not_typed_again_and_is_believed_when_the_record_shows_it_late(
    scene: Scene, given: Delivery
) -> None:
    for _ in range(2):
        untold = await give(scene, given)
        assert untold is not None
        assert untold.tried
        assert scene.panes.sent == [TEXT]
    scene.hears(TEXT)
    assert (await give(scene, given), scene.panes.sent) == (None, [TEXT])


async def test_a_crash_before_the_enter_leaves_it_in_the_box_and_only_that_is_pressed(
    scene: Scene, given: Delivery
) -> None:
    scene.store.save_delivery(given.become(DeliveryState.SENT, scene.clock.now()))
    scene.panes.box, scene.panes.on_enter = TEXT, scene.hears
    assert await give(scene, given) is None
    assert scene.panes.typed == ["Enter"]


async def test_a_terminal_that_fails_after_the_enter_does_not_have_it_typed_again(
    scene: Scene, given: Delivery
) -> None:
    def fail(text: str) -> None:
        raise TerminalError("the connection ended")

    scene.panes.on_enter = fail
    assert await give(scene, given) == Untold("it did not take the prompt", tried=True)
    assert scene.panes.typed == [TEXT, "Enter"]


async def test_what_could_not_be_entered_is_typed_once_the_box_is_free(scene: Scene, given: Delivery) -> None:
    scene.panes.box = "what a person has typed"
    untold = await give(scene, given)
    assert untold is not None
    assert (untold.tried, scene.panes.typed) == (False, [])
    scene.panes.box, scene.panes.on_enter = "", scene.hears
    assert (await give(scene, given), scene.panes.sent) == (None, [TEXT])


async def test_a_conversation_that_is_left_before_anything_is_typed_is_not_told_in_the_next_one(
    scene: Scene, given: Delivery, monkeypatch: pytest.MonkeyPatch
) -> None:
    sleep = scene.clock.sleep

    async def meanwhile(seconds: float) -> None:
        await sleep(seconds)
        scene.begins(OTHER, "clear")

    monkeypatch.setattr(scene.clock, "sleep", meanwhile)
    untold = await give(scene, given)
    assert untold is not None
    assert (untold.tried, scene.panes.typed) == (False, [])


async def test_a_promise_is_typed_once_and_a_person_is_told_when_no_proof_has_come(
    scene: Scene, given: Delivery
) -> None:
    async def by_keys(*asked: object) -> Untold | None:
        return await give_resumed(scene.stage, *asked)  # type: ignore[arg-type]

    Promises(scene.supervisor, by_keys).make(scene.watch, given)
    scene.agent.says = Status(State.IDLE, TALK)
    scene.watch.refresh()
    for _ in range(4):
        await Promises(scene.supervisor, by_keys).look()
    assert scene.panes.sent == [TEXT]
    (told,) = scene.told
    assert "may not have heard" in told
    scene.hears(TEXT)
    kept = scene.store.delivery(MARK)
    assert kept is not None
    assert kept.state is DeliveryState.SEEN
