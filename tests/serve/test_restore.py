"""Bringing sessions back, as the daemon does it; what a reboot is like is in tests/system/test_restore.py."""

import asyncio
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from batonpass.agents.base import Past, Status
from batonpass.agents.wishes import Approval, Size, Wishes
from batonpass.cycle.giving import Untold
from batonpass.delivery import Delivery
from batonpass.serve.restore import Restore
from batonpass.session import Session, State
from batonpass.store import Store
from batonpass.supervisor import orders
from batonpass.supervisor.orders import Order, Start, Successor
from batonpass.supervisor.promises import Promises
from batonpass.supervisor.watch import Watch
from tests.supervisor.fakes import OTHER, TALK, HastyClock, Talk, ToldAgent, a_watch


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

    def __init__(self, folder: Path, kept: Store, clock: HastyClock) -> None:
        self.store, self.clock, self.agent = kept, clock, Recorded()
        self.watch, self.talk = a_watch(folder, clock, self.agent)
        self.talk.prompt("make the reader survive torn lines")
        kept.save_session(self.watch.session)
        self.comes_back = Status(State.IDLE, TALK)
        self.was, self.words = str(State.IDLE), ""
        self.closed: list[object] = []
        self.given: list[str] = []
        self.trouble: Untold | None = None
        self.told: list[str] = []
        self.noted: list[tuple[str, str] | None] = []  # what was owed, as a later daemon would find it at each start
        self.watch.session = _with_state(self.watch, State.DEAD)
        self.watch.status = Status(State.DEAD)
        self.opened: list[str | None] = []
        self.cycle: object = None
        self.starting = False
        self.document: Path | None = None
        self.gone_on: list[tuple[object, Start]] = []
        orders.write(self.watch.folder, Order("scripted", (), {}))
        told = SimpleNamespace(
            events=lambda **asked: [SimpleNamespace(id=1, data={"server": True, "was": self.was})],
            add_event=lambda *event: None,
            last_handoff=lambda **asked: SimpleNamespace(path=self.document) if self.document else None,
            running_cycle=lambda session: self.cycle,
        )
        starter = SimpleNamespace(starting=lambda session: self.starting)
        self.watches = {"one": self.watch}
        supervisor = SimpleNamespace(
            watches=self.watches, persist=lambda watch: None, starter=starter, store=self.store, clock=self.clock,
            tell=self._tell, also_forget=[],
        )  # fmt: skip
        self.supervisor = supervisor
        daemon = SimpleNamespace(
            store=told, supervisor=supervisor, launcher=self, clock=self.watch.clock,
            looks=SimpleNamespace(follow=lambda: None),
            promises=Promises(cast(Any, supervisor), self._give), new_id=lambda: "0c1e0001",
            terminal=lambda socket: SimpleNamespace(close=self._close),
        )  # fmt: skip
        self.restore = Restore(cast(Any, daemon), cast(Any, SimpleNamespace(attach=self._attach)), self._go_on)

    async def _attach(self, watch: Watch) -> list[str]:
        return []

    async def _go_on(self, request: object, project: Path, document: Path, like: Start) -> dict[str, object]:
        self.gone_on.append((request, like))
        return {"session": "successor", "attach": []}

    async def _give(self, watch: Watch, given: Delivery, talk: str | None, seconds: float) -> Untold | None:
        assert talk == TALK
        self.given.append(given.tag)
        return self.trouble

    async def _tell(self, watch: Watch, text: str) -> None:
        self.told.append(text)

    def later(self) -> Promises:
        """What a later daemon has of the promises that were made."""
        return Promises(cast(Any, self.supervisor), self._give)

    async def _close(self, pane: object) -> None:
        self.closed.append(pane)

    async def last_words(self, watch: Watch) -> str:
        return self.words

    async def reopen_pane(self, watch: Watch, *, kick: str | None, resume: str | None, socket: str) -> None:
        self.opened.append(resume)
        owed = self.later().of(watch)
        self.noted.append((owed.tag, owed.channel) if owed else None)
        await asyncio.sleep(0)
        watch.session = _with_state(watch, State.STARTING)
        watch.status = Status(State.STARTING)
        self.agent.says = self.comes_back

    async def found(self) -> dict[str, str]:
        (one,) = cast(list[dict[str, str]], await self.restore.restore({}))
        return one

    async def asked(self) -> list[str]:
        found = cast(list[dict[str, str]], await self.restore.restore({}))
        return [one["how"] for one in found]


def _with_state(watch: Watch, state: State) -> Session:
    return replace(watch.session, state=state)


@pytest.fixture
def house(tmp_path: Path, store: Store, clock: HastyClock) -> House:
    return House(tmp_path, store, clock)


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
    assert like == Start(("--profile", "night"), Approval.PLAN, None, "gpt-5.5", None, Wishes(Size.LARGE))


async def test_only_what_its_agent_says_it_has_is_called_resumed(house: House) -> None:
    house.comes_back = Status(State.IDLE, OTHER)
    found = await house.found()
    assert (found["how"], house.opened) == ("waiting", [TALK])
    assert "has not said yet" in found["why"]


async def test_one_that_ends_at_its_start_goes_on_from_its_handoff_and_its_last_words_are_told(
    house: House, tmp_path: Path
) -> None:
    house.comes_back, house.words = Status(State.DEAD), "no conversation found with that id"
    house.document = tmp_path / "handoff.md"
    house.document.touch()
    found = await house.found()
    assert (found["how"], found["successor"], len(house.closed)) == ("continued", "successor", 1)
    assert "no conversation found with that id" in found["why"]


async def test_one_that_ends_at_its_start_and_has_no_handoff_is_left_with_the_command_that_helps(house: House) -> None:
    house.comes_back, house.words = Status(State.DEAD), "no conversation found with that id"
    found = await house.found()
    assert (found["how"], house.watch.session.state) == ("left", State.DEAD)
    assert "no conversation found with that id" in found["why"]
    assert "baton continue --from 5e55a001" in found["why"]
    assert house.watch.step is None
    house.comes_back = Status(State.IDLE, TALK)
    assert (await house.found())["how"] == "resumed", "and it can be tried again"


async def test_a_conversation_that_another_session_has_gone_to_is_not_opened_twice(
    house: House, tmp_path: Path
) -> None:
    (tmp_path / "beside").mkdir()
    beside, _ = a_watch(tmp_path / "beside", house.clock, name="beside")
    house.watches["two"] = beside
    assert (await house.asked(), house.opened) == (["left"], [])
    beside.begin(OTHER, None, "resume", 0.0)
    assert (await house.asked(), house.opened) == (["resumed"], [TALK]), "one beside it is no reason"


@pytest.mark.parametrize("fields", [{"adopted": True, "created": 9.0}, {"created": -9.0}], ids=["adopted", "earlier"])
@pytest.mark.parametrize("first", [True, False])
async def test_of_two_lost_sessions_with_one_conversation_one_opens_it_and_the_other_says_so(
    house: House, tmp_path: Path, fields: dict[str, Any], first: bool
) -> None:
    (tmp_path / "beside").mkdir()
    beside, _ = a_watch(tmp_path / "beside", house.clock, Recorded(), id="5e55a002", name="beside", **fields)
    beside.session, beside.status = _with_state(beside, State.DEAD), Status(State.DEAD)
    if not beside.session.adopted:
        orders.write(beside.folder, Order("scripted", (), {}))
    watches = {"two": beside, **house.watches} if first else {**house.watches, "two": beside}
    house.watches.clear()
    house.watches.update(watches)
    for dry, told in ((True, "comes back in shop"), (False, "is open in shop already")):
        found = cast(list[dict[str, str]], await house.restore.restore({"dry": dry}))
        assert [one["name"] for one in found] == [watch.session.name for watch in watches.values()]
        by_name = {one["name"]: one for one in found}
        assert (by_name["shop"]["how"], by_name["beside"]["how"]) == ("resumed", "left")
        assert told in by_name["beside"]["why"]
    assert house.opened == [TALK]


async def test_one_that_stands_at_a_dialog_is_told_to_go_on_once_that_is_answered_also_by_a_later_daemon(
    house: House,
) -> None:
    house.agent.resumes_with_prompt, house.was = False, str(State.BUSY)
    house.comes_back = Status(State.WAITING, TALK, waiting_for="may it work here?")
    found = await house.found()
    assert (found["how"], house.given) == ("waiting", [])
    assert "may it work here?" in found["why"]
    assert "told to go on once that is answered" in found["why"]
    later = house.later()
    await later.look()
    assert house.given == [], "nobody has answered yet"
    house.agent.says = Status(State.IDLE, TALK)
    house.watch.refresh()
    house.trouble = Untold("somebody types")
    await later.look()
    house.trouble = None
    await later.look()
    await later.look()
    assert house.given == ["[baton 0c1e0001 restored 1]"] * 2, "as often as it takes, and then no more"
    assert house.later().of(house.watch) is None


async def test_what_a_person_set_to_work_again_is_not_told_to_go_on(house: House) -> None:
    house.agent.resumes_with_prompt, house.was = False, str(State.BUSY)
    house.comes_back = Status(State.WAITING, TALK)
    await house.found()
    house.clock.advance(60)
    house.talk.prompt("leave that, do the writer")
    house.agent.says = Status(State.IDLE, TALK)
    house.watch.refresh()
    await house.restore.daemon.promises.look()
    assert (house.given, house.restore.daemon.promises.of(house.watch)) == ([], None)


async def test_what_was_promised_to_one_conversation_is_not_told_to_another(house: House, tmp_path: Path) -> None:
    other = Talk(tmp_path / "other.jsonl", house.clock)
    other.prompt("what was asked in another one, long before")
    house.agent.resumes_with_prompt, house.was = False, str(State.BUSY)
    house.comes_back = Status(State.WAITING, TALK)
    await house.found()
    house.clock.advance(60)
    house.watch.begin(OTHER, other.path, "resume", house.clock.now())
    house.agent.says = Status(State.IDLE, OTHER)
    house.watch.refresh()
    await house.restore.daemon.promises.look()
    house.watch.begin(TALK, house.talk.path, "resume", house.clock.now())
    house.agent.says = Status(State.IDLE, TALK)
    house.watch.refresh()
    await house.later().look()
    assert house.given == [], "nor when its user comes back: they have seen to it"


async def test_a_promise_that_a_second_reboot_cut_off_is_kept(house: House) -> None:
    house.agent.resumes_with_prompt, house.was = False, str(State.BUSY)
    house.comes_back = Status(State.WAITING, TALK)
    await house.found()
    house.watch.session, house.was = _with_state(house.watch, State.DEAD), str(State.WAITING)
    house.watch.status = Status(State.DEAD)
    house.comes_back = Status(State.IDLE, TALK)
    assert (await house.found())["why"] == "it was told to go on"
    assert len(house.given) == 1


@pytest.mark.parametrize("channel", ["argv", "keys"])
async def test_what_it_is_owed_is_noted_before_it_is_started(house: House, channel: str) -> None:
    house.agent.resumes_with_prompt, house.was = channel == "argv", str(State.BUSY)
    house.comes_back, house.words = Status(State.DEAD), "no conversation found with that id"
    assert (await house.found())["how"] == "left"
    house.was, house.comes_back = str(State.WAITING), Status(State.IDLE, TALK)
    assert (await house.found())["why"] == "it was told to go on"
    assert house.noted == [("[baton 0c1e0001 restored 1]", channel)] * 2, "and it is still owed at the next try"


async def test_what_came_along_on_the_command_line_is_never_typed_and_is_owed_until_the_record_shows_it(
    house: House,
) -> None:
    house.was = str(State.BUSY)
    assert (await house.found())["why"] == "it was told to go on"
    await house.later().look()
    assert house.given == []
    owed = house.later().of(house.watch)
    assert owed is not None
    house.talk.prompt(owed.text)
    assert house.later().of(house.watch) is None


async def test_what_goes_on_from_its_handoff_is_owed_nothing_more(house: House, tmp_path: Path) -> None:
    house.was, house.comes_back = str(State.BUSY), Status(State.DEAD)
    house.document = tmp_path / "handoff.md"
    house.document.touch()
    assert (await house.found())["how"] == "continued"
    assert (house.noted != [None], house.later().of(house.watch)) == (True, None)


async def test_a_promise_that_shows_no_proof_is_tried_once_more_and_then_a_person_is_told_once(house: House) -> None:
    house.agent.resumes_with_prompt, house.was = False, str(State.BUSY)
    house.trouble = Untold("it did not take the prompt", tried=True)
    assert "it did not take the prompt" in (await house.found())["why"]
    assert (len(house.given), house.told) == (1, [])
    for _ in range(3):
        await house.later().look()
    assert len(house.given) == 2, "also where each look is another daemon's"
    (told,) = house.told
    assert "it did not take the prompt" in told
