"""An agent that is started again: what a person should know of how that is done is said at every start."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from batonpass.agents.codex import launch as codex
from batonpass.session import PaneRef
from batonpass.supervisor import orders
from batonpass.supervisor.launch import PaneLauncher
from batonpass.supervisor.orders import Order, Successor
from batonpass.supervisor.watch import Watch
from batonpass.terminals.base import PaneInfo, TerminalError
from tests.supervisor.fakes import PANE, TALK, HastyClock

NEW = PaneInfo(PANE, 4713, False, None, "", 80, 24, "", "agent", Path("/"), "shop", 0)


class House:
    """A tmux server in which every start succeeds, unless it is broken, and a person who is told things."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str]] = []
        self.broken = False

    async def open(self, name: str, cwd: Path, argv: Sequence[str]) -> PaneInfo:
        return NEW

    async def respawn(self, pane: PaneRef, cwd: Path, argv: Sequence[str]) -> PaneInfo:
        if self.broken:
            raise TerminalError("no such pane")
        return NEW

    async def tell(self, session: str, text: str) -> None:
        self.told.append((session, text))


@pytest.fixture
def house() -> House:
    return House()


@pytest.fixture
def launcher(tmp_path: Path, watch: Watch, clock: HastyClock, house: House) -> PaneLauncher:
    launcher = PaneLauncher(tmp_path, "here", clock, lambda socket: cast(Any, house), house.tell)
    watch.folder = launcher.folder(watch.session.id)
    watch.folder.mkdir(parents=True)
    program = tmp_path / "codex"
    program.touch(mode=0o700)
    env = {"BATON_CODEX": str(program), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    orders.write(watch.folder, Order("scripted", (), env))
    return launcher


async def test_who_is_switched_to_codex_is_told_that_its_question_about_hooks_was_answered(
    watch: Watch, launcher: PaneLauncher, house: House
) -> None:
    await launcher.respawn(watch, kick="go on", to=Successor("codex"))
    assert house.told == [(watch.session.id, codex.NOTICE)]
    assert watch.notice == codex.NOTICE


async def test_it_is_told_once_at_each_start_also_by_a_respawn_and_a_restore(
    watch: Watch, launcher: PaneLauncher, house: House
) -> None:
    await launcher.respawn(watch, kick="go on", to=Successor("codex"))
    await launcher.respawn(watch, kick="go on")
    assert len(house.told) == 2
    await launcher.reopen_pane(watch, kick=None, resume=TALK, socket="")
    assert house.told == [(watch.session.id, codex.NOTICE)] * 3


async def test_what_held_for_codex_is_not_said_of_the_agent_that_comes_after_it(
    watch: Watch, launcher: PaneLauncher, house: House
) -> None:
    await launcher.respawn(watch, kick="go on", to=Successor("codex"))
    await launcher.respawn(watch, kick="go on", to=Successor("scripted"))
    assert (len(house.told), watch.notice) == (1, None)


async def test_nothing_is_said_of_a_start_that_failed(watch: Watch, launcher: PaneLauncher, house: House) -> None:
    house.broken = True
    with pytest.raises(TerminalError):
        await launcher.respawn(watch, kick="go on", to=Successor("codex"))
    assert (house.told, watch.notice, watch.session.agent) == ([], None, "scripted")
