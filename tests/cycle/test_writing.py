import asyncio
import os
from pathlib import Path

import pytest

from batonpass.cycle import writing
from batonpass.cycle.moves import GAPS, GONE, NO_DOCUMENT, NO_SAFE_POINT, NOT_SEEN, UNCLAIMED, Move, Outcome, Step
from batonpass.delivery import Channel, DeliveryState
from batonpass.session import State
from tests.cycle.scene import CYCLE, DOCUMENT, Scene
from tests.supervisor.fakes import TALK, stop

ASK = f"[baton {CYCLE} ask 1]"


def state_of(scene: Scene, tag: str = ASK) -> DeliveryState | None:
    given = scene.store.delivery(tag)
    return given.state if given else None


def hook_takes(scene: Scene) -> None:
    os.rename(scene.watch.folder / f"ask.{TALK}", scene.watch.folder / f"ask.{TALK}.taken")


async def laid(scene: Scene, asking: "asyncio.Task[Outcome]") -> None:
    """Wait until the ask lies ready for the stop hook."""
    while not scene.offers.ask_pending(TALK):
        assert not asking.done(), asking.result()
        await asyncio.sleep(0)


async def cut_off(asking: "asyncio.Task[Outcome]") -> None:
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)


@pytest.fixture
def busy(scene: Scene) -> Scene:
    scene.watch.hooks_seen = 1
    scene.says(State.BUSY)
    return scene


# -- prepare and the safe point ----------------------------------------------------------------------


async def test_before_anything_else_a_checkpoint_and_a_draft_from_facts_are_kept(scene: Scene) -> None:
    outcome = await writing.prepare(scene.case, Move(Step.PREPARE))
    assert outcome.ok
    assert outcome.data["files"] == ["reader.py"]
    draft = scene.watch.folder / "draft.md"
    assert "make the reader survive torn lines" in draft.read_text(encoding="utf-8")
    assert draft.stat().st_mode & 0o777 == 0o600
    assert Path(str(scene.case.recall("checkpoint"))).exists()
    assert scene.offers.primed("compact"), "should the agent compact itself now, it is told again"
    assert not scene.offers.primed("clear")


async def test_a_session_that_is_gone_is_prepared_all_the_same(scene: Scene) -> None:
    scene.says(State.DEAD)
    assert (await writing.prepare(scene.case, Move(Step.PREPARE))).code == GONE
    assert (scene.watch.folder / "draft.md").exists()


async def test_a_checkpoint_that_cannot_be_written_is_said_and_does_not_stop_the_cycle(scene: Scene) -> None:
    (scene.project / "tmp").write_text("a file where the folder should be", encoding="utf-8")
    outcome = await writing.prepare(scene.case, Move(Step.PREPARE))
    assert outcome.ok
    assert "no checkpoint could be written" in outcome.note


async def test_an_agent_whose_stop_hook_waits_is_asked_first_and_the_rest_is_kept_while_it_writes(busy: Scene) -> None:
    draft = busy.watch.folder / "draft.md"
    busy.watch.holding_stop = True
    assert (await writing.prepare(busy.case, Move(Step.PREPARE))).ok
    assert not draft.exists(), "the agent waits"
    asking = asyncio.create_task(writing.ask(busy.case, Move(Step.ASK)))
    await laid(busy, asking)
    assert not draft.exists()
    busy.watch.holding_stop = False
    hook_takes(busy)
    busy.watch.changed()
    busy.hears(f"Stop hook feedback: {ASK} write")
    assert (await asking).ok
    assert not draft.exists(), "it may write at once, and has the machine to itself"
    await writing.wait(busy.case, Move(Step.AWAIT))
    assert draft.exists()
    assert Path(str(busy.case.recall("checkpoint"))).exists()
    assert busy.offers.primed("compact")
    assert [event.name for event in busy.store.events(name="CHECKPOINT_CREATED")] == ["CHECKPOINT_CREATED"]


async def test_what_was_to_be_kept_while_the_agent_writes_is_kept_after_a_crash(busy: Scene) -> None:
    busy.watch.holding_stop = True
    await writing.prepare(busy.case, Move(Step.PREPARE))
    asking = asyncio.create_task(writing.ask(busy.case, Move(Step.ASK)))
    await laid(busy, asking)
    await cut_off(asking)
    busy.watch.holding_stop = False
    hook_takes(busy)
    busy.hears(f"Stop hook feedback: {ASK} write")
    await writing.wait(busy.case, Move(Step.AWAIT))
    assert Path(str(busy.case.recall("checkpoint"))).exists()


async def test_an_agent_that_writes_at_once_gets_no_draft_from_us(busy: Scene) -> None:
    busy.watch.holding_stop = True
    await writing.prepare(busy.case, Move(Step.PREPARE))
    asking = asyncio.create_task(writing.ask(busy.case, Move(Step.ASK)))
    await laid(busy, asking)
    busy.watch.holding_stop = False
    hook_takes(busy)
    busy.hears(f"Stop hook feedback: {ASK} write")
    await asking
    busy.watch.take_hook(stop("Done."), busy.clock.now())
    await writing.wait(busy.case, Move(Step.AWAIT))
    assert not (busy.watch.folder / "draft.md").exists()
    assert busy.case.recall("checkpoint") is None, "it is made with the seal"


async def test_a_fault_in_what_is_only_kept_for_safety_does_not_stop_the_cycle(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*words: object, **more: object) -> None:
        raise ValueError("a shape that nobody foresaw")

    monkeypatch.setattr(writing, "from_facts", broken)
    outcome = await writing.prepare(scene.case, Move(Step.PREPARE))
    assert outcome.ok
    assert "no draft could be written: a shape that nobody foresaw" in outcome.note
    assert scene.case.recall("checkpoint"), "what could be written was"


async def test_what_was_put_off_is_kept_when_the_safe_point_is_long_in_coming(busy: Scene) -> None:
    busy.watch.holding_stop = True
    await writing.prepare(busy.case, Move(Step.PREPARE))
    busy.watch.holding_stop = False
    busy.says(State.WAITING, waiting_for="permission prompt")
    await writing.safe_point(busy.case, Move(Step.SAFE_POINT))
    assert Path(str(busy.case.recall("checkpoint"))).exists()


async def test_a_running_turn_with_hooks_ends_at_a_safe_point(scene: Scene) -> None:
    scene.watch.hooks_seen = 1
    scene.says(State.BUSY)
    assert (await writing.safe_point(scene.case, Move(Step.SAFE_POINT))).data["channel"] == Channel.HOOK


async def test_an_idle_agent_at_an_empty_box_is_a_safe_point_for_keys(scene: Scene) -> None:
    assert (await writing.safe_point(scene.case, Move(Step.SAFE_POINT))).data["channel"] == Channel.KEYS


async def test_a_dialog_is_no_safe_point_and_is_told_once(scene: Scene) -> None:
    scene.says(State.WAITING, waiting_for="permission prompt")
    outcome = await writing.safe_point(scene.case, Move(Step.SAFE_POINT))
    assert (outcome.code, len(scene.told)) == (NO_SAFE_POINT, 1)
    assert "permission prompt" in outcome.note
    assert scene.panes.typed == []


async def test_in_the_middle_of_a_merge_is_no_safe_point(scene: Scene) -> None:
    scene.configure("timeouts: {safe_point: 1}\n")
    head = (scene.project / ".git" / "refs" / "heads" / "torn-lines").read_text(encoding="utf-8")
    (scene.project / ".git" / "MERGE_HEAD").write_text(head, encoding="utf-8")
    outcome = await writing.safe_point(scene.case, Move(Step.SAFE_POINT))
    assert outcome.code == NO_SAFE_POINT
    assert "git is in the middle of something" in outcome.note


# -- ask, by the stop hook ---------------------------------------------------------------------------


async def test_an_ask_by_the_hook_is_delivered_when_the_record_shows_it(busy: Scene) -> None:
    asking = asyncio.create_task(writing.ask(busy.case, Move(Step.ASK)))
    await laid(busy, asking)
    assert state_of(busy) is DeliveryState.OFFERED
    hook_takes(busy)
    busy.hears(f"Stop hook feedback: {ASK} write")
    assert (await asking).data["channel"] == Channel.HOOK
    assert state_of(busy) is DeliveryState.SEEN
    assert busy.panes.typed == []
    assert (busy.watch.folder / "permit.json").exists(), "the draft may be written"


async def test_an_ask_that_a_crash_cut_off_is_neither_laid_nor_typed_again(busy: Scene) -> None:
    asking = asyncio.create_task(writing.ask(busy.case, Move(Step.ASK)))
    await laid(busy, asking)
    await cut_off(asking)
    first = busy.store.delivery(ASK)
    hook_takes(busy)
    again = asyncio.create_task(writing.ask(busy.case, Move(Step.ASK)))
    busy.hears(f"Stop hook feedback: {ASK} write")
    assert (await again).ok
    assert not busy.offers.ask_pending(TALK), "what was taken is not laid out again"
    assert first is not None
    assert len(busy.store.deliveries(cycle=CYCLE)) == 1
    assert (await writing.ask(busy.case, Move(Step.ASK))).ok
    assert busy.panes.typed == []


async def test_a_turn_that_ends_without_its_hook_gives_the_ask_back(busy: Scene) -> None:
    asking = asyncio.create_task(writing.ask(busy.case, Move(Step.ASK)))
    await laid(busy, asking)
    busy.says(State.IDLE)
    assert (await asking).code == UNCLAIMED
    assert state_of(busy) is DeliveryState.WITHDRAWN
    assert not busy.offers.ask_pending(TALK)
    assert (await writing.ask(busy.case, Move(Step.ASK))).code == UNCLAIMED
    assert busy.panes.typed == [], "one channel: what was offered to the hook is not typed"


async def test_an_agent_that_dies_with_the_ask_before_it_is_gone(busy: Scene) -> None:
    asking = asyncio.create_task(writing.ask(busy.case, Move(Step.ASK)))
    await laid(busy, asking)
    busy.says(State.DEAD)
    assert (await asking).code == GONE
    assert state_of(busy) is DeliveryState.WITHDRAWN


# -- ask, by keys ------------------------------------------------------------------------------------


async def test_an_ask_by_keys_is_typed_once_even_if_the_step_is_run_again(scene: Scene) -> None:
    scene.panes.on_enter = scene.hears
    outcome = await writing.ask(scene.case, Move(Step.ASK))
    assert outcome.data["channel"] == Channel.KEYS
    assert (await writing.ask(scene.case, Move(Step.ASK))).ok
    assert len(scene.panes.sent) == 1
    assert "Changed files:\n- reader.py" in scene.panes.sent[0]


async def test_an_ask_that_stands_typed_in_the_box_after_a_crash_is_only_entered(scene: Scene) -> None:
    class Crash(Exception):
        pass

    def crash() -> None:
        raise Crash

    scene.panes.on_paste = crash
    with pytest.raises(Crash):
        await writing.ask(scene.case, Move(Step.ASK))
    scene.panes.on_enter = scene.hears
    assert (await writing.ask(scene.case, Move(Step.ASK))).ok
    assert [key for key in scene.panes.typed if key != "Enter"] == scene.panes.sent


async def test_an_ask_that_cannot_be_typed_is_withdrawn(scene: Scene) -> None:
    scene.panes.box = "half a thought"
    assert (await writing.ask(scene.case, Move(Step.ASK))).code == NOT_SEEN
    assert state_of(scene) is DeliveryState.WITHDRAWN
    assert scene.panes.typed == []


# -- await and check ---------------------------------------------------------------------------------


async def asked(scene: Scene) -> Path:
    scene.panes.on_enter = scene.hears
    await writing.ask(scene.case, Move(Step.ASK))
    scene.says(State.BUSY)
    scene.clock.advance(1)
    return Path(str(scene.case.recall("draft")))


def turn_ends(scene: Scene, last: str | None = None) -> None:
    scene.watch.take_hook(stop(last), scene.clock.now())


async def test_the_document_is_there_when_the_draft_exists_and_the_turn_is_over(scene: Scene) -> None:
    draft = await asked(scene)
    waiting = asyncio.create_task(writing.wait(scene.case, Move(Step.AWAIT)))
    draft.write_text(DOCUMENT[:100], encoding="utf-8")
    scene.watch.changed()
    for _ in range(10):
        await asyncio.sleep(0)
    assert not waiting.done(), "half a document is no document"
    draft.write_text(DOCUMENT, encoding="utf-8")
    turn_ends(scene)
    assert (await waiting).data == {"from": "file"}


async def test_a_document_in_the_last_message_is_taken_where_none_was_written(scene: Scene) -> None:
    draft = await asked(scene)
    turn_ends(scene, f"<<<BATON-HANDOFF\n{DOCUMENT}BATON-HANDOFF>>>")
    assert (await writing.wait(scene.case, Move(Step.AWAIT))).data == {"from": "message"}
    assert draft.read_text(encoding="utf-8").strip() == DOCUMENT.strip()
    assert draft.stat().st_mode & 0o777 == 0o600


async def test_a_turn_without_a_document_is_said_so_and_so_is_a_deadline(scene: Scene) -> None:
    await asked(scene)
    turn_ends(scene, "later")
    outcome = await writing.wait(scene.case, Move(Step.AWAIT))
    assert (outcome.code, outcome.note) == (NO_DOCUMENT, "the turn ended without a document")
    scene.watch.stops.clear()
    outcome = await writing.wait(scene.case, Move(Step.AWAIT))
    assert (outcome.code, outcome.note) == (NO_DOCUMENT, "no document before the deadline")


async def test_an_agent_that_goes_away_while_it_writes_is_gone(scene: Scene) -> None:
    await asked(scene)
    scene.says(State.DEAD)
    assert (await writing.wait(scene.case, Move(Step.AWAIT))).code == GONE


async def test_a_whole_document_passes_the_check(scene: Scene) -> None:
    draft = await asked(scene)
    draft.write_text(DOCUMENT, encoding="utf-8")
    outcome = await writing.check(scene.case, Move(Step.CHECK))
    assert (outcome.code, outcome.data["gaps"]) == ("ok", [])
    draft.unlink()  # the agent tidies up: what it wrote is kept all the same
    assert Path(str(scene.case.recall("document"))).read_text(encoding="utf-8") == DOCUMENT


async def test_a_changed_file_that_the_document_leaves_out_is_a_gap(scene: Scene) -> None:
    draft = await asked(scene)
    draft.write_text(DOCUMENT.replace("- reader.py (changed, not committed)", "- other.py"), encoding="utf-8")
    outcome = await writing.check(scene.case, Move(Step.CHECK))
    assert outcome.code == GAPS
    assert "reader.py" in outcome.note


@pytest.mark.parametrize("text", ["", "%PDF-1.4 \ufffd this is no handoff"])
async def test_what_cannot_be_read_as_a_document_is_a_gap_and_not_kept_as_one(scene: Scene, text: str) -> None:
    draft = await asked(scene)
    draft.write_text(text, encoding="utf-8")
    assert (await writing.check(scene.case, Move(Step.CHECK))).code == GAPS
    assert scene.case.recall("document") is None
