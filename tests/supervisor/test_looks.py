"""A session is looked at as soon as its agent has written or said something."""

import asyncio
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from batonpass.agents.base import Binding, Status
from batonpass.session import State
from batonpass.store import Store, StoreAway
from batonpass.supervisor.act import Supervisor
from batonpass.supervisor.looks import Looks
from batonpass.supervisor.settings import Settings
from batonpass.supervisor.watch import Watch
from tests.supervisor.fakes import TALK, HastyClock, ToldAgent, a_watch


class CountedAgent(ToldAgent):
    """Counts how often it is asked for its state."""

    looks = 0

    def status(self, binding: Binding) -> Status:
        self.looks += 1
        return super().status(binding)


class Scene:
    def __init__(self, folder: Path, store: Store, clock: HastyClock) -> None:
        self.supervisor = Supervisor(store, clock, Settings(folder / "home", {}), _nobody)
        self.agent = CountedAgent()
        self.watch, self.talk = a_watch(folder, clock, self.agent)
        self.supervisor.add(self.watch)
        self.looks = Looks(self.supervisor, lambda watch: watch.folder)


async def _nobody(session: str, text: str) -> None:
    return


@pytest.fixture
def scene(tmp_path: Path, store: Store, clock: HastyClock) -> Scene:
    return Scene(tmp_path, store, clock)


async def until(condition: Callable[[], bool]) -> None:
    """Other threads take real time, which the clock of the scene does not know of."""
    for _ in range(4000):
        if condition():
            return
        await asyncio.sleep(0.005)
    pytest.fail("it never came true")


async def test_what_an_agent_says_in_a_thread_of_its_own_is_seen_at_once(scene: Scene) -> None:
    scene.looks.follow()
    scene.watch.refresh()
    scene.agent.says = Status(State.BUSY, TALK)
    told = threading.Thread(target=lambda: scene.watch.agent.wake())
    told.start()
    await until(lambda: scene.watch.status.state is State.BUSY)
    told.join()


async def test_much_that_is_said_at_once_is_taken_in_by_one_look(scene: Scene) -> None:
    scene.looks.follow()
    before = scene.agent.looks
    for _ in range(50):
        scene.watch.agent.wake()
    scene.talk.say("Done.", used=1_000)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    looked = scene.agent.looks - before
    assert looked <= 2  # one, and one because of what it brought
    assert scene.watch.conversation.last_said() == "Done."
    scene.watch.agent.wake()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert scene.agent.looks - before > looked


async def test_who_waits_for_a_session_is_woken_by_what_its_agent_wrote(scene: Scene) -> None:
    def written_again() -> bool:
        scene.talk.say("Done.", used=1_000)
        return False

    scene.looks.follow()
    scene.looks.start()
    try:
        # Again and again: what is written before the watch has begun is not told.
        await until(lambda: written_again() or scene.watch.conversation.last_said() == "Done.")
    finally:
        await scene.looks.stop()


async def test_a_store_that_is_away_does_not_keep_anybody_from_looking(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(watch: Watch) -> None:
        raise StoreAway("no store")

    monkeypatch.setattr(scene.supervisor, "take_news", away)
    scene.agent.says = Status(State.BUSY, TALK)
    scene.looks.at(scene.watch)
    assert scene.watch.status.state is State.BUSY


async def test_an_agent_that_outlives_its_session_is_not_heard(scene: Scene) -> None:
    scene.looks.follow()
    scene.watch.session = replace(scene.watch.session, state=State.ENDED, ended=0.0)
    scene.supervisor.forget_ended(1.0)
    scene.talk.say("Done.", used=1_000)
    scene.watch.agent.wake()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert scene.watch.conversation.last_said() is None
