"""Bringing sessions back, as the daemon does it; what a reboot is like is in tests/system/test_restore.py."""

import asyncio
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from batonpass.agents.base import Past, Status
from batonpass.agents.wishes import Approval
from batonpass.clock import ManualClock
from batonpass.serve.restore import Restore
from batonpass.session import Session, State
from batonpass.supervisor import orders
from batonpass.supervisor.orders import Order, Start, Successor
from batonpass.supervisor.watch import Watch
from tests.supervisor.fakes import TALK, ToldAgent, a_watch


class Recorded(ToldAgent):
    """An agent that has its conversation on record; no process holds it."""

    def past(self, wanted: str, env: object) -> Past | None:
        return Past(wanted, Path("talk.jsonl"), Path("/"))


class Forgetful(ToldAgent):
    """One that has no record of it any more."""

    def past(self, wanted: str, env: object) -> Past | None:
        return None


class House:
    """One dead session, and a launcher that takes a while."""

    def __init__(self, folder: Path) -> None:
        self.watch, _ = a_watch(folder, ManualClock(), Recorded())
        self.watch.session = _with_state(self.watch, State.DEAD)
        self.watch.status = Status(State.DEAD)
        self.opened: list[str | None] = []
        self.cycle: object = None
        self.starting = False
        self.document: Path | None = None
        self.gone_on: list[tuple[object, Start]] = []
        orders.write(self.watch.folder, Order("scripted", (), {}))
        store = SimpleNamespace(
            events=lambda **asked: [SimpleNamespace(id=1, data={"server": True})],
            last_handoff=lambda **asked: SimpleNamespace(path=self.document) if self.document else None,
            running_cycle=lambda session: self.cycle,
        )
        starter = SimpleNamespace(starting=lambda session: self.starting)
        supervisor = SimpleNamespace(watches={"one": self.watch}, persist=lambda watch: None, starter=starter)
        daemon = SimpleNamespace(
            store=store, supervisor=supervisor, launcher=self, follow_files=lambda: None, clock=self.watch.clock
        )
        self.restore = Restore(cast(Any, daemon), cast(Any, SimpleNamespace(attach=self._attach)), self._go_on)

    async def _attach(self, watch: Watch) -> list[str]:
        return []

    async def _go_on(self, request: object, project: Path, document: Path, like: Start) -> dict[str, object]:
        self.gone_on.append((request, like))
        return {"session": "successor", "attach": []}

    async def reopen_pane(self, watch: Watch, *, kick: str | None, resume: str | None, socket: str) -> None:
        self.opened.append(resume)
        await asyncio.sleep(0)
        watch.session = _with_state(watch, State.STARTING)
        watch.status = Status(State.STARTING)

    async def asked(self) -> list[str]:
        found = cast(list[dict[str, str]], await self.restore.restore({}))
        return [one["how"] for one in found]


def _with_state(watch: Watch, state: State) -> Session:
    return replace(watch.session, state=state)


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


async def test_two_who_ask_at_once_open_a_conversation_once(house: House) -> None:
    answers = await asyncio.gather(house.asked(), house.asked())
    assert house.opened == [TALK]
    assert list(answers) == [["resumed"], ["left"]]


@pytest.mark.parametrize("under_way", ["cycle", "starting"])
async def test_a_session_whose_handoff_is_under_way_is_left_to_that(house: House, under_way: str) -> None:
    setattr(house, under_way, True)
    assert (await house.asked(), house.opened) == (["left"], [])


async def test_one_that_goes_on_from_its_handoff_has_the_arguments_of_the_agent_that_it_had_last(
    house: House, tmp_path: Path
) -> None:
    first = replace(house.watch.session, agent="claude", permission_mode="plan")
    order = Order("claude", ("--dangerously-skip-permissions", "--model", "opus"), {"MINE": "kept"})
    night = Successor("codex", ("--profile", "night"))
    orders.write(house.watch.folder, orders.passed_on(order, first, night))
    house.watch.agent = Forgetful()
    house.watch.session = replace(house.watch.session, agent="codex", model="gpt-5.5")
    house.document = tmp_path / "handoff.md"
    house.document.touch()
    assert await house.asked() == ["continued"]
    ((request, like),) = house.gone_on
    assert request == {"agent": "codex", "name": "shop", "env": {"MINE": "kept"}, "ladder": None}
    assert like == Start(("--profile", "night"), Approval.PLAN, None, "gpt-5.5", None)
