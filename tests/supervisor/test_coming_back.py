"""Whether an agent has come back: only what the new process says tells, not what an earlier one left behind."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from batonpass.agents.base import Status
from batonpass.session import PaneRef, State
from batonpass.supervisor import orders
from batonpass.supervisor.coming_back import Came, came_back
from batonpass.supervisor.launch import PaneLauncher
from batonpass.supervisor.orders import Order
from batonpass.supervisor.watch import Watch
from batonpass.terminals.base import PaneInfo
from tests.supervisor.fakes import OTHER, PANE, TALK, HastyClock, ToldAgent

NEW = PaneInfo(PANE, 4713, False, None, "", 80, 24, "", "agent", Path("/"), "shop", 0)


class Server:
    """A tmux server in which whatever is opened is a new process."""

    async def open(self, name: str, cwd: Path, argv: Sequence[str]) -> PaneInfo:
        return NEW

    async def info(self, pane: PaneRef) -> PaneInfo:
        return NEW


@pytest.fixture
def launcher(tmp_path: Path, watch: Watch, clock: HastyClock) -> PaneLauncher:
    async def tell(session: str, text: str) -> None:
        return

    launcher = PaneLauncher(tmp_path, "here", clock, lambda socket: cast(Any, Server()), tell)
    folder = launcher.folder(watch.session.id)
    folder.mkdir(parents=True)
    orders.write(folder, Order("scripted", (), {}))
    return launcher


@pytest.mark.parametrize("found", [False, True], ids=["started", "found after a crash"])
async def test_what_an_earlier_process_showed_last_is_no_word_of_the_new_one(
    watch: Watch, agent: ToldAgent, launcher: PaneLauncher, found: bool
) -> None:
    watch.dialog = "Do you trust the files in this folder?"
    watch.see_title("◇  Ready (shop)")
    watch.session = replace(watch.session, state=State.DEAD)
    if found:
        assert await launcher.replaced(watch, watch.session.pid)
    else:
        await launcher.reopen_pane(watch, kick=None, resume=TALK, socket="")
    agent.says = Status(State.UNKNOWN)
    assert (await came_back(watch, 10.0), watch.binding.title) == (Came.SILENT, "")
    agent.says = Status(State.IDLE, TALK)
    assert await came_back(watch, 10.0) is Came.THERE


async def test_one_that_begins_another_conversation_has_not_come_back(
    watch: Watch, agent: ToldAgent, launcher: PaneLauncher
) -> None:
    await launcher.reopen_pane(watch, kick=None, resume=TALK, socket="")
    agent.says = Status(State.UNKNOWN)

    async def begins() -> None:
        agent.says = Status(State.IDLE, OTHER)
        watch.begin(OTHER, None, "startup", 0.0)

    came, _ = await asyncio.gather(came_back(watch, 10.0), begins())
    assert came is Came.SILENT
    assert watch.agent.holds(watch.binding), "it has the other one"
