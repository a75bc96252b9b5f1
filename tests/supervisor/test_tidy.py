"""The daemon's own tidying: at its start, every hour, and each project once a day."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from batonpass.clock import ManualClock
from batonpass.cycle.giving import Untold
from batonpass.delivery import Channel, Delivery, tag
from batonpass.handoff.document import Handoff, Section
from batonpass.handoff.layouts import layout
from batonpass.handoff.seal import seal
from batonpass.session import State
from batonpass.store import CycleRecord, Store
from batonpass.supervisor.act import Supervisor
from batonpass.supervisor.health import DIED, Health
from batonpass.supervisor.promises import Promises
from batonpass.supervisor.setbacks import Setbacks
from batonpass.supervisor.settings import Settings
from batonpass.supervisor.tidy import Tidy
from batonpass.supervisor.watch import Watch
from batonpass.terminals.base import Terminal
from tests.supervisor.fakes import a_watch
from tests.supervisor.test_health import FakeServer

HOUR, DAY = 3600.0, 86_400.0
EPIC = ".bmad/epics/epic-001-old.md"


class House:
    def __init__(self, folder: Path, store: Store, clock: ManualClock) -> None:
        self.folder, self.store, self.clock = folder, store, clock
        self.settings = Settings(folder / "home", {})
        (folder / "home" / "sessions").mkdir(parents=True)
        self.supervisor = Supervisor(store, clock, self.settings, self._notify)
        self.watch, _ = a_watch(folder, clock)
        self.supervisor.add(self.watch)
        self.project = self.watch.session.project
        (self.project / EPIC).parent.mkdir(parents=True)
        (self.project / EPIC).write_text("# Old\n- [x] all\n", encoding="utf-8")
        self.dropped: list[str] = []  # what the engine of cycles was told to forget
        self.tidy = Tidy(self.supervisor, store, self.settings, folder / "home", "here", self._drop)

    async def _drop(self, cycles: Sequence[str]) -> None:
        self.dropped += cycles
        assert all(self.store.cycle(id) for id in cycles), "a crash before the purge must find them again"

    async def _notify(self, session: str, text: str) -> None:
        raise AssertionError(text)

    def hand_over(self, number: int) -> Path:
        place = layout("files", self.project)
        at = int(self.clock.now()) + number
        document = Handoff(number=number, created=at, epic=EPIC, sections=(Section("Current Task", "x"),))
        path = place.path_for(at)
        place.write(path, seal(document).text)
        return path

    async def look_after(self, seconds: float) -> None:
        self.clock.advance(seconds)
        await self.tidy.look(self.clock.now())


@pytest.fixture
def house(tmp_path: Path, store: Store, clock: ManualClock) -> House:
    return House(tmp_path, store, clock)


async def test_the_history_of_a_project_is_tidied_at_the_start_and_once_a_day(house: House) -> None:
    first, second = house.hand_over(1), house.hand_over(2)
    await house.look_after(0)
    assert (first.exists(), second.exists()) == (False, True)
    third = house.hand_over(3)
    await house.look_after(2 * HOUR)
    assert second.exists(), "its day is not over yet"
    await house.look_after(23 * HOUR)
    assert (second.exists(), third.exists()) == (False, True)


async def test_a_project_in_which_a_handoff_is_under_way_waits(house: House) -> None:
    first, _ = house.hand_over(1), house.hand_over(2)
    cycle = CycleRecord("7f3a91c2", house.watch.session.id, "here", "threshold", house.clock.now())
    house.store.start_cycle(cycle)
    await house.look_after(0)
    assert first.exists()
    house.store.update_cycle(cycle.id, state="done", ended=house.clock.now())
    await house.look_after(HOUR)
    assert not first.exists()


async def test_sessions_that_ended_are_let_go_and_the_others_are_not(house: House) -> None:
    (house.folder / "other").mkdir()
    other, _ = a_watch(house.folder / "other", house.clock)
    other.session = replace(other.session, id="0ther", state=State.ENDED, ended=house.clock.now())
    house.supervisor.add(other)
    await house.look_after(HOUR / 2)
    assert set(house.supervisor.watches) == {house.watch.session.id, "0ther"}
    await house.look_after(HOUR)
    assert set(house.supervisor.watches) == {house.watch.session.id}
    assert house.store.session("0ther") is not None


async def test_nothing_is_left_of_a_session_that_was_let_go(house: House) -> None:
    async def give(*_: object) -> bool:
        return True

    async def give_resumed(*_: object) -> Untold | None:
        return None

    async def bring_back(_: Watch) -> None: ...

    watch, supervisor = house.watch, house.supervisor
    id = watch.session.id
    tmux = cast(Terminal, FakeServer())
    health, setbacks = Health(supervisor, lambda _: tmux, bring_back), Setbacks(supervisor, give)
    promises = Promises(supervisor, give_resumed)
    promises.make(watch, Delivery.alone(tag("7f3a91c2", "restored", 1), id, Channel.KEYS, "go on", 1.0))
    await health.look()
    await setbacks.look()
    await promises.look()
    watch.session = replace(watch.session, state=State.ENDED, ended=house.clock.now())
    keepers = (supervisor, health, setbacks, promises)
    assert all(_notes_of(id, each) for each in keepers)
    await house.look_after(2 * HOUR)
    everyone = (*keepers, supervisor.restraint, supervisor.starter)
    assert [(each, noted) for each in everyone if (noted := _notes_of(id, each))] == []


def _notes_of(session: str, keeper: object) -> list[str]:
    """The attributes of an object that hold something of a session."""
    return [name for name, held in vars(keeper).items() if isinstance(held, dict | set | list) and session in held]


async def test_the_engine_forgets_a_cycle_before_the_store_does(house: House) -> None:
    then = house.clock.now()
    house.store.start_cycle(CycleRecord("7f3a91c2", house.watch.session.id, "here", "threshold", then))
    house.store.update_cycle("7f3a91c2", state="done", ended=then)
    await house.look_after(60 * DAY)
    assert (house.dropped, house.store.cycle("7f3a91c2") is None) == ([], False)
    await house.look_after(60 * DAY)
    assert (house.dropped, house.store.cycle("7f3a91c2") is None) == (["7f3a91c2"], True)


async def test_a_session_that_died_is_kept_for_as_long_as_its_death_is(house: House) -> None:
    watch = house.watch
    await house.look_after(100 * DAY)
    watch.session = replace(watch.session, state=State.DEAD)
    house.store.add_event(DIED, house.clock.now(), watch.session.id)
    await house.look_after(60 * DAY)
    assert watch.session.state is State.DEAD
    await house.look_after(60 * DAY)
    kept = house.store.session(watch.session.id)
    assert kept is not None
    assert (kept.state, kept.ended) == (State.ENDED, house.clock.now())


async def test_folders_of_forgotten_sessions_are_removed(house: House) -> None:
    folders = [house.folder / "home" / "sessions" / name for name in ("forgotten", "new", house.watch.session.id)]
    now = house.clock.now()
    for folder, age in zip(folders, (2 * DAY, 0.0, 2 * DAY), strict=True):
        folder.mkdir()
        (folder / "draft.md").write_text("x", encoding="utf-8")
        os.utime(folder, (now - age, now - age))
    await house.look_after(0)
    assert [folder.exists() for folder in folders] == [False, True, True]
