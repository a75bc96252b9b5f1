"""Taking over an agent that runs already, as the daemon does it."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from batonpass.agents.base import Found, FrontUnknown, Status
from batonpass.serve.api import Refusal
from batonpass.serve.sessions import Sessions
from batonpass.session import PaneRef, State
from batonpass.store import Store
from batonpass.supervisor.act import Supervisor
from batonpass.supervisor.settings import Settings
from batonpass.supervisor.watch import Watch
from batonpass.terminals.base import PaneInfo
from tests.supervisor.fakes import OTHER, TALK, HastyClock, ToldAgent


class Running(ToldAgent):
    """One that runs in a pane, or not, as the test says; its session-start hook comes with the first prompt."""

    starts_with_prompt = True

    def __init__(self, *looks: Callable[[int], Found | None]) -> None:
        super().__init__()
        self.looks = list(looks)

    def find(self, pid: int) -> Found | None:
        return (self.looks.pop(0) if len(self.looks) > 1 else self.looks[0])(pid)


def nobody(pid: int) -> Found | None:
    return None


def unclear(pid: int) -> Found | None:
    raise FrontUnknown("nobody tells which conversation is in front")


def there(pid: int, talk: str = TALK) -> Found:
    return Found(pid, talk, None)


class House:
    def __init__(self, folder: Path, store: Store, clock: HastyClock, agents: dict[str, Running]) -> None:
        self.told: list[str] = []

        async def tell(session: str, text: str) -> None:
            self.told.append(text)

        self.panes = [self.pane(folder, "%1", 11)]
        self.supervisor = Supervisor(store, clock, Settings(folder / "home", {}), tell)
        terminal = SimpleNamespace(list=self._list, info=self._info, attach_argv=lambda info: [])
        daemon = SimpleNamespace(
            supervisor=self.supervisor, store=store, clock=clock, config=self.supervisor.config, host="here",
            terminal=lambda socket: terminal, launcher=SimpleNamespace(folder=lambda id: folder / "private" / id),
            looks=SimpleNamespace(follow=lambda: None), new_id=lambda: "ad0b7ed1", tell=tell,
        )  # fmt: skip
        self.sessions = Sessions(cast(Any, daemon))

    def pane(self, folder: Path, id: str, pid: int) -> PaneInfo:
        return PaneInfo(PaneRef("", 1, id), pid, False, None, "", 80, 24, "", "sh", folder, "shop", 0)

    async def _list(self) -> list[PaneInfo]:
        return self.panes

    async def _info(self, pane: PaneRef) -> PaneInfo:
        return self.panes[0]

    async def adopt(self, **request: object) -> Watch:
        adopted = cast(dict[str, str], await self.sessions.adopt(request))
        return self.supervisor.watches[adopted["session"]]


@pytest.fixture
def agents(monkeypatch: pytest.MonkeyPatch) -> dict[str, Running]:
    """Two that are looked for, in this order."""
    known = {"codex": Running(nobody), "gemini": Running(nobody)}
    for name, agent in known.items():
        agent.name = name
    monkeypatch.setattr("batonpass.serve.sessions.agents.names", lambda: tuple(known))
    monkeypatch.setattr("batonpass.serve.sessions.agents.get", lambda name: known[name])
    return known


@pytest.fixture
def house(tmp_path: Path, store: Store, clock: HastyClock, agents: dict[str, Running]) -> House:
    return House(tmp_path, store, clock, agents)


async def test_one_that_does_not_tell_its_conversation_does_not_hide_another_in_the_same_pane(
    house: House, agents: dict[str, Running]
) -> None:
    agents["codex"].looks, agents["gemini"].looks = [unclear], [there]
    assert (await house.adopt()).session.agent == "gemini"


async def test_one_that_does_not_tell_its_conversation_does_not_hide_one_in_another_pane(
    house: House, agents: dict[str, Running], tmp_path: Path
) -> None:
    house.panes.append(house.pane(tmp_path, "%2", 12))
    agents["codex"].looks = [lambda pid: unclear(pid) if pid == 11 else there(pid)]
    assert (await house.adopt()).session.pid == 12


async def test_one_that_answers_late_is_waited_for(house: House, agents: dict[str, Running]) -> None:
    agents["codex"].looks = [unclear, unclear, there]
    assert (await house.adopt()).session.agent_session == TALK


async def test_a_pane_that_another_request_took_meanwhile_is_not_taken_twice(
    house: House, agents: dict[str, Running]
) -> None:
    agents["codex"].looks = [unclear, unclear, there]
    found = await asyncio.gather(house.adopt(), house.adopt(), return_exceptions=True)
    assert sum(isinstance(one, Watch) for one in found) == 1
    assert sum(isinstance(one, Refusal) for one in found) == 1


async def test_one_that_never_tells_is_refused_with_its_own_words(house: House, agents: dict[str, Running]) -> None:
    agents["codex"].looks = [unclear]
    with pytest.raises(Refusal, match="nobody tells which conversation"):
        await house.adopt()


async def test_what_is_missing_without_hooks_is_said_at_once_of_every_agent_that_could_run_them(
    house: House, agents: dict[str, Running]
) -> None:
    agents["gemini"].looks = [there]
    watch = await house.adopt()
    assert "started without Baton's hooks" in (watch.notice or "")
    assert house.told == [watch.notice]


async def test_of_an_agent_that_runs_no_hooks_only_its_own_words_are_said(
    house: House, agents: dict[str, Running], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agents["codex"], "has_hooks", False)
    agents["codex"].looks = [lambda pid: Found(pid, TALK, None, notice="it has no port")]
    await house.adopt()
    assert house.told == ["it has no port"]


async def test_what_an_agent_says_itself_of_how_it_was_started_is_not_lost_beside_that(
    house: House, agents: dict[str, Running]
) -> None:
    agents["codex"].looks = [lambda pid: Found(pid, TALK, None, notice="it shares a server")]
    await house.adopt()
    (told,) = house.told
    assert told.startswith("it shares a server; it was started without Baton's hooks")


@pytest.mark.parametrize("later", [False, True])
async def test_going_back_to_the_conversation_that_it_was_adopted_with_is_a_resume_and_no_clear(
    house: House, agents: dict[str, Running], later: bool
) -> None:
    agent = agents["codex"]
    agent.looks = [there]
    watch = await house.adopt()
    agent.says = Status(State.IDLE, OTHER)
    watch.refresh()
    house.supervisor.follow_word(watch)
    assert (watch.conversation.agent_session, watch.starts[-1].source) == (OTHER, "clear")
    if later:  # another daemon, which knows what the store tells
        watch.starts = []
        house.supervisor.reopen(watch)
    agent.says = Status(State.IDLE, TALK)
    watch.refresh()
    assert watch.left_for == TALK  # nothing is typed meanwhile
    house.supervisor.follow_word(watch)
    assert (watch.conversation.agent_session, watch.starts[-1].source) == (TALK, "resume")
    told = house.sessions.store.events(session=watch.session.id, name="SESSION_STARTED")
    assert [event.data["source"] for event in sorted(told, key=lambda event: event.id)] == ["resume", "clear", "resume"]
