"""A session whose agent has an interface of its own: nothing is typed, and each prompt is given once."""

import asyncio
from pathlib import Path

import pytest

from batonpass.agents.base import Binding, Control, ControlError
from batonpass.cycle import passing, priming, returning, sealing, writing
from batonpass.cycle.moves import BOX_IN_USE, NOT_CLEARED, NOT_SEEN, Move, Step
from batonpass.delivery import Channel, DeliveryState
from batonpass.session import State
from tests.cycle.scene import CYCLE, DOCUMENT, Scene
from tests.supervisor.fakes import OTHER, TALK

ASK = f"[baton {CYCLE} ask 1]"
KICK = f"[baton {CYCLE} kick 1]"
PASS = Move(Step.PASS)


class FakeControl:
    """An interface that does as it is told, unless it `fails`."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self.calls: list[tuple[str, ...]] = []
        self.fails = False
        self.deaf = False  # takes prompts and records nothing

    async def submit(self, agent_session: str, prompt: str) -> None:
        self._called("submit", agent_session, prompt.split("]")[0] + "]")
        if not self.deaf:
            self._scene.hears(prompt)

    async def fresh(self, after: str | None) -> str:
        self._called("fresh", str(after))
        self._scene.begins(OTHER, "clear")
        return OTHER

    async def back(self, agent_session: str) -> None:
        self._called("back", agent_session)
        self._scene.begins(agent_session, "resume")

    def _called(self, *words: str) -> None:
        self.calls.append(words)
        if self.fails:
            raise ControlError("it does not answer")


@pytest.fixture
def control(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> FakeControl:
    found = FakeControl(scene)

    def of(binding: Binding) -> Control | None:
        return found

    monkeypatch.setattr(scene.agent, "control", of)
    monkeypatch.setattr(scene.agent, "has_hooks", False, raising=False)
    return found


@pytest.fixture
async def sealed(scene: Scene, control: FakeControl) -> Scene:
    await writing.ask(scene.case, Move(Step.ASK))
    Path(str(scene.case.recall("draft"))).write_text(DOCUMENT, encoding="utf-8")
    await writing.check(scene.case, Move(Step.CHECK))
    await sealing.seal(scene.case, Move(Step.SEAL))
    control.calls.clear()
    return scene


async def test_a_session_is_asked_over_its_own_interface_while_a_person_types(
    scene: Scene, control: FakeControl
) -> None:
    scene.panes.box = "a thought of the user's"
    safe = await writing.safe_point(scene.case, Move(Step.SAFE_POINT))
    assert safe.data["channel"] == Channel.API
    assert (await writing.ask(scene.case, Move(Step.ASK))).ok
    assert (control.calls, scene.panes.typed, scene.panes.box) == (
        [("submit", TALK, ASK)], [], "a thought of the user's",
    )  # fmt: skip
    given = scene.store.delivery(ASK)
    assert given is not None
    assert (given.channel, given.state) == (Channel.API, DeliveryState.SEEN)


async def test_a_session_that_waits_in_a_dialog_is_not_asked(scene: Scene, control: FakeControl) -> None:
    scene.says(State.WAITING, waiting_for="a permission")
    safe = await writing.safe_point(scene.case, Move(Step.SAFE_POINT))
    assert (safe.ok, control.calls) == (False, [])
    assert "a permission" in safe.note


async def test_what_may_have_been_sent_before_a_crash_is_waited_for_and_not_sent_again(
    scene: Scene, control: FakeControl
) -> None:
    control.deaf = True
    assert (await writing.ask(scene.case, Move(Step.ASK))).code == NOT_SEEN
    assert (await writing.ask(scene.case, Move(Step.ASK))).code == NOT_SEEN
    assert control.calls == [("submit", TALK, ASK)]
    scene.hears(f"{ASK} write it down")
    assert (await writing.ask(scene.case, Move(Step.ASK))).ok


async def test_an_interface_that_fails_halfway_leaves_it_to_the_record_whether_the_prompt_arrived(
    scene: Scene, control: FakeControl
) -> None:
    control.fails = True
    assert (await writing.ask(scene.case, Move(Step.ASK))).code == NOT_SEEN
    given = scene.store.delivery(ASK)
    assert given is not None
    assert given.state is DeliveryState.SENT


async def test_the_successor_begins_over_the_interface_and_its_first_prompt_brings_the_handoff(
    sealed: Scene, control: FakeControl
) -> None:
    assert (await passing.hand_over(sealed.case, PASS)).ok
    assert (await priming.prime(sealed.case, Move(Step.PRIME))).ok
    assert control.calls == [("fresh", TALK), ("submit", OTHER, KICK)]
    assert sealed.panes.typed == []
    given = sealed.store.delivery(KICK)
    assert given is not None
    assert "Measure a file of a million lines." in given.text
    assert sealed.case.cycle.new_agent_session == OTHER


async def test_a_conversation_that_was_begun_before_a_crash_is_shown_and_no_second_one_begun(
    sealed: Scene, control: FakeControl
) -> None:
    sealed.case.remember(fresh=OTHER)
    assert (await passing.hand_over(sealed.case, PASS)).code in ("ok", NOT_CLEARED)
    assert control.calls == [("back", OTHER)]


async def test_no_other_conversation_is_shown_while_text_of_a_person_stands_in_the_box(
    sealed: Scene, control: FakeControl
) -> None:
    sealed.panes.box = "a thought of the user's"
    assert (await passing.hand_over(sealed.case, PASS)).code == BOX_IN_USE
    assert control.calls == []


async def test_an_interface_that_cannot_begin_a_conversation_is_no_pass(sealed: Scene, control: FakeControl) -> None:
    control.fails = True
    outcome = await passing.hand_over(sealed.case, PASS)
    assert (outcome.code, outcome.note) == (NOT_CLEARED, "it does not answer")


async def test_the_way_back_shows_the_predecessor_in_the_process_that_runs(sealed: Scene, control: FakeControl) -> None:
    await passing.hand_over(sealed.case, PASS)
    outcome = await returning.bring_back(sealed.case, Move(Step.BACK, missing=("the branch is wrong",)))
    assert outcome.ok, outcome.note
    assert control.calls[1:] == [("back", TALK), ("submit", TALK, f"[baton {CYCLE} back 1]")]
    assert sealed.launcher.kicks == []


# -- and where it has none ---------------------------------------------------------------------------


@pytest.fixture
async def unnamed(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """A sealed session whose agent can only be typed into, and names a new conversation with its first prompt."""
    monkeypatch.setattr(scene.agent, "has_hooks", False, raising=False)
    monkeypatch.setattr(scene.agent, "clears_with_prompt", True, raising=False)
    scene.panes.on_enter = scene.hears
    await writing.ask(scene.case, Move(Step.ASK))
    Path(str(scene.case.recall("draft"))).write_text(DOCUMENT, encoding="utf-8")
    await writing.check(scene.case, Move(Step.CHECK))
    await sealing.seal(scene.case, Move(Step.SEAL))
    scene.panes.sent.clear()
    return scene


async def test_clear_and_kick_are_typed_one_after_the_other_where_only_a_prompt_names_the_conversation(
    unnamed: Scene,
) -> None:
    def entered(text: str) -> None:
        if KICK in text:
            unnamed.begins(OTHER, "clear")
            unnamed.hears(text)

    unnamed.panes.on_enter = entered
    assert (await passing.hand_over(unnamed.case, PASS)).ok
    assert (await priming.prime(unnamed.case, Move(Step.PRIME))).ok
    assert [text.split("]")[0] for text in unnamed.panes.sent] == ["/clear", KICK.removesuffix("]")]
    given = unnamed.store.delivery(KICK)
    assert given is not None
    assert (given.channel, given.state) == (Channel.KEYS, DeliveryState.SEEN)
    assert "Measure a file of a million lines." in given.text


async def test_a_kick_that_shows_later_than_the_conversation_that_it_began_is_not_typed_again(unnamed: Scene) -> None:
    entered: list[str] = []

    def enter(text: str) -> None:
        if KICK in text:
            unnamed.begins(OTHER, "clear")
            entered.append(text)

    async def later() -> None:
        for _ in range(5):
            await asyncio.sleep(0)
        unnamed.hears(entered[0])
        unnamed.watch.read()

    unnamed.panes.on_enter = enter
    assert (await passing.hand_over(unnamed.case, PASS)).ok
    showing = asyncio.create_task(later())
    assert (await priming.prime(unnamed.case, Move(Step.PRIME))).ok
    await showing
    assert len(entered) == 1


async def test_a_kick_that_was_typed_before_a_crash_is_not_typed_again(unnamed: Scene) -> None:
    unnamed.panes.on_enter = lambda text: None
    assert (await passing.hand_over(unnamed.case, PASS)).code == NOT_CLEARED
    sent = list(unnamed.panes.sent)
    assert (await passing.hand_over(unnamed.case, PASS)).code == NOT_CLEARED
    assert unnamed.panes.sent == sent
    unnamed.begins(OTHER, "clear")
    assert (await passing.hand_over(unnamed.case, PASS)).ok
    assert unnamed.panes.sent == sent


async def test_a_session_that_rests_is_asked_before_the_net_is_laid_out(scene: Scene, control: FakeControl) -> None:
    assert (await writing.prepare(scene.case, Move(Step.PREPARE))).ok
    assert not scene.case.recall("kept")


async def test_the_net_is_laid_out_while_an_interface_does_not_answer(scene: Scene, control: FakeControl) -> None:
    await writing.prepare(scene.case, Move(Step.PREPARE))
    control.deaf = True
    assert (await writing.ask(scene.case, Move(Step.ASK))).code == NOT_SEEN
    assert scene.case.recall("kept")
    assert (scene.watch.folder / "draft.md").exists()
