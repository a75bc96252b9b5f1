"""How the agent of a session is started that goes on from another one."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from batonpass.agents.base import LaunchError
from batonpass.agents.wishes import Approval, Wishes
from batonpass.clock import ManualClock
from batonpass.config import load
from batonpass.serve.api import Refusal
from batonpass.serve.handoffs import Handoffs
from batonpass.serve.sessions import Sessions
from batonpass.supervisor import orders
from batonpass.supervisor.launch import Request
from batonpass.supervisor.orders import Order, Start, Successor
from tests.supervisor.fakes import a_watch

CONFIG = """
agents:
  claude: {args: [--verbose]}
  codex: {args: [--profile, night]}
"""


WANTED = Wishes()


class House:
    """A dead session with its order, and a launcher that keeps what it is asked to start, and starts nothing."""

    def __init__(self, folder: Path) -> None:
        self.watch, _ = a_watch(folder, ManualClock())
        (folder / "home").mkdir()
        (folder / "home" / "config.yaml").write_text(CONFIG, encoding="utf-8")
        config = load(None, folder / "home", {})
        daemon = SimpleNamespace(
            config=lambda project: config, launcher=self, clock=self.watch.clock, new_id=lambda: "0c1e0001", store=None,
            supervisor=SimpleNamespace(),
        )  # fmt: skip
        self.sessions = Sessions(cast(Any, daemon))
        self.handoffs = Handoffs(cast(Any, daemon), self.sessions, cast(Any, None))
        document = folder / "handoff.md"
        document.touch()
        rescued = SimpleNamespace(watch=self.watch, document=document, before=self.watch.session)
        self.rescue = SimpleNamespace(seal=self._seal, take_back=lambda rescued: None, found=rescued)
        self.handoffs._rescue = cast(Any, self.rescue)
        self.asked: list[Request] = []

    async def _seal(self, request: object) -> object:
        self.rescue.found.before = self.watch.session
        return self.rescue.found

    async def start(self, request: Request, socket: str) -> object:
        self.asked.append(request)
        raise LaunchError("that is all that is wanted to know")

    async def continued(self, **fields: object) -> Request:
        with pytest.raises(Refusal, match="that is all"):
            await self.handoffs.continue_({"rescue": "shop", **fields})
        return self.asked.pop()


@pytest.fixture
def house(tmp_path: Path) -> House:
    """A session that was begun with Claude Code, which skipped permissions, and that Codex had last."""
    own = House(tmp_path)
    first = replace(own.watch.session, agent="claude", permission_mode="acceptEdits")
    order = Order("claude", ("--verbose", "--dangerously-skip-permissions"), {})
    orders.write(own.watch.folder, orders.passed_on(order, first, Successor("codex", ("--profile", "night"))))
    own.watch.session = replace(own.watch.session, agent="codex", model="gpt-5.5")
    return own


async def test_the_same_agent_goes_on_with_its_own_arguments_and_none_of_them_twice(house: House) -> None:
    request = await house.continued()
    assert (request.agent, request.args) == ("codex", ("--profile", "night"))
    assert request.like == Start(("--profile", "night"), Approval.EDITS, None, "gpt-5.5", None, WANTED)


async def test_another_agent_goes_on_with_what_the_arguments_mean_for_it(house: House) -> None:
    request = await house.continued(agent="gemini")
    assert (request.agent, request.args) == ("gemini", ("--model", "gemini-2.5-pro"))
    assert request.like is not None
    assert request.like.approval is Approval.EDITS


async def test_the_first_agent_goes_on_as_it_was_left(house: House) -> None:
    request = await house.continued(agent="claude")
    assert request.args == ("--verbose", "--dangerously-skip-permissions")
    assert request.like is not None
    assert request.like.permission_mode == "acceptEdits"


async def test_arguments_that_the_user_gives_stand_behind_the_configured_ones(house: House) -> None:
    assert (await house.continued(args=["-m", "gpt-6"])).args == ("--profile", "night", "-m", "gpt-6")
    other = await house.continued(agent="claude", args=["--model", "haiku"])
    assert other.args == ("--verbose", "--model", "haiku")
    assert other.like is not None
    assert other.like.approval is Approval.EDITS, "of which they say nothing"


async def test_a_new_session_has_the_configured_arguments_before_its_own(house: House, tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="that is all"):
        await house.sessions.run({"agent": "claude", "args": ["--model", "opus"], "cwd": str(tmp_path)})
    assert (house.asked[0].args, house.asked[0].like) == (("--verbose", "--model", "opus"), None)
