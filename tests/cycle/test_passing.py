import asyncio
import json
import os
import subprocess
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from batonpass.agents.setbacks import TriesAgain
from batonpass.clock import ManualClock
from batonpass.cycle import closing, passing, priming, returning, said, sealing, verifying, writing
from batonpass.cycle.moves import (
    BOX_IN_USE,
    GONE,
    NEW_PROMPT,
    NOT_CLEARED,
    NOT_SEEN,
    REJECTED,
    UNSERVED,
    WORKED_ON,
    Move,
    Outcome,
    Result,
    Step,
    Way,
)
from batonpass.cycle.worked_on import worked_on
from batonpass.delivery import Channel, DeliveryState
from batonpass.session import State
from batonpass.store import CycleState
from batonpass.supervisor.act import Supervisor
from batonpass.supervisor.watch import Watch
from batonpass.transcripts.events import Failed
from tests.cycle.scene import CYCLE, DOCUMENT, Scene
from tests.supervisor.fakes import OTHER, TALK, stop

KICK = f"[baton {CYCLE} kick 1]"
PASS = Move(Step.PASS)
RECEIPT = {
    "baton_receipt": CYCLE, "task": "Make the reader survive torn lines", "next_step": "N1", "branch": "torn-lines",
    "files": ["reader.py"], "constraints": ["C1"], "open_items": ["P1", "I1"],
}  # fmt: skip


@pytest.fixture
async def sealed(scene: Scene) -> Scene:
    """A session whose handoff is sealed; entering /clear begins another conversation."""
    scene.watch.hooks_seen = 1
    scene.panes.on_enter = scene.hears
    await writing.ask(scene.case, Move(Step.ASK))
    Path(str(scene.case.recall("draft"))).write_text(DOCUMENT, encoding="utf-8")
    await writing.check(scene.case, Move(Step.CHECK))
    await sealing.seal(scene.case, Move(Step.SEAL))
    scene.panes.typed.clear()
    scene.panes.sent.clear()
    scene.panes.on_enter = lambda text: scene.begins(OTHER, "clear")
    return scene


@pytest.fixture
async def passed(sealed: Scene) -> Scene:
    """A session whose successor has begun; what is entered reaches its record."""
    assert (await passing.hand_over(sealed.case, PASS)).ok
    sealed.panes.typed.clear()
    sealed.panes.sent.clear()
    sealed.panes.on_enter = sealed.hears
    return sealed


# -- pass --------------------------------------------------------------------------------------------


async def test_the_handoff_lies_ready_before_the_clear_is_typed(sealed: Scene) -> None:
    ready: list[bool] = []
    sealed.panes.on_paste = lambda: ready.append(sealed.offers.primed("clear"))
    outcome = await passing.hand_over(sealed.case, PASS)
    assert (outcome.ok, ready, sealed.panes.sent) == (True, [True], ["/clear"])
    cycle = sealed.case.cycle
    assert (cycle.way, cycle.old_agent_session, cycle.new_agent_session) == ("clear", TALK, OTHER)


async def test_a_pass_that_is_run_again_does_not_clear_the_successor(sealed: Scene) -> None:
    await passing.hand_over(sealed.case, PASS)
    assert (await passing.hand_over(sealed.case, PASS)).ok
    assert sealed.panes.sent == ["/clear"]


async def test_after_a_restart_the_store_tells_that_the_clear_has_happened(sealed: Scene) -> None:
    await passing.hand_over(sealed.case, PASS)
    old = sealed.watch
    again = Watch(old.session, sealed.agent, old.folder, {}, sealed.clock)
    later = Supervisor(sealed.store, sealed.clock, sealed.settings, sealed._notify)
    later.reopen(again)
    case = sealed.case
    case.watch = again
    assert (await passing.hand_over(case, PASS)).ok
    assert sealed.panes.sent == ["/clear"]


async def test_a_clear_that_stands_typed_in_the_box_after_a_crash_is_only_entered(sealed: Scene) -> None:
    sealed.case.remember(clear_typed=True)
    sealed.panes.box = "/clear"
    assert (await passing.hand_over(sealed.case, PASS)).ok
    assert sealed.panes.typed == ["Enter"]


async def test_the_same_text_typed_by_a_person_is_not_entered_for_them(sealed: Scene) -> None:
    sealed.panes.box = "/clear"
    assert (await passing.hand_over(sealed.case, PASS)).code == BOX_IN_USE
    assert sealed.panes.typed == []


async def test_a_prompt_since_the_document_sends_the_cycle_back_and_nothing_is_cleared(sealed: Scene) -> None:
    before = sealed.case.since
    sealed.clock.advance(5)
    sealed.talk.prompt("and keep the public names")
    assert (await passing.hand_over(sealed.case, PASS)).code == NEW_PROMPT
    assert sealed.panes.typed == []
    assert sealed.case.since > before


async def test_what_the_agent_said_since_the_seal_is_sealed_too_before_anything_is_cleared(sealed: Scene) -> None:
    before, first = sealed.case.since, sealed.case.recall("sealed")
    sealed.clock.advance(5)
    sealed.talk.prompt("Run the linter before you stop.", "hook")
    sealed.talk.say("The linter found a torn name.")
    outcome = await passing.hand_over(sealed.case, PASS)
    assert outcome.code == WORKED_ON
    assert sealed.panes.typed == []
    assert not sealed.offers.primed("clear")
    assert sealed.case.since > before
    await sealing.seal(sealed.case, Move(Step.SEAL))
    again = Path(str(sealed.case.recall("sealed")))
    assert str(again) != first
    assert "The linter found a torn name." in again.read_text(encoding="utf-8")
    assert (await passing.hand_over(sealed.case, PASS)).ok


async def sealed_anew(scene: Scene) -> None:
    said.new_round(scene.case)
    await sealing.seal(scene.case, Move(Step.SEAL))


async def test_a_record_that_lags_behind_the_end_of_a_turn_is_waited_for(sealed: Scene) -> None:
    async def later() -> None:
        for _ in range(30):
            await asyncio.sleep(0)
        sealed.talk.say("The linter has nothing to say.")

    sealed.talk.prompt("Run the linter before you stop.", "hook")
    sealed.watch.take_hook(stop("The linter has nothing to say."), sealed.clock.now())
    writing_it = asyncio.create_task(later())
    assert (await passing.hand_over(sealed.case, PASS)).code == WORKED_ON
    await writing_it


async def test_the_last_words_of_the_turn_that_wrote_may_be_recorded_after_the_seal(sealed: Scene) -> None:
    sealed.watch.take_hook(stop("Done."), sealed.clock.now())
    await sealed_anew(sealed)
    sealed.talk.say("I have written it.")
    sealed.talk.say("Done.")
    assert (await passing.hand_over(sealed.case, PASS)).ok


@pytest.mark.parametrize("recorded", [True, False])
async def test_who_goes_back_to_work_and_ends_in_the_same_words_has_worked_on(sealed: Scene, recorded: bool) -> None:
    if recorded:
        sealed.talk.say("Done.")
    sealed.watch.take_hook(stop("Done."), sealed.clock.now())
    await sealed_anew(sealed)
    if not recorded:
        sealed.talk.say("Done.")
    sealed.talk.prompt("Run the linter before you stop.", "hook")
    sealed.talk.say("Done.")
    assert (await passing.hand_over(sealed.case, PASS)).code == WORKED_ON


@pytest.mark.parametrize("jump", [-3600, 3600])
async def test_a_clock_that_is_set_makes_nothing_newer_or_older_than_the_seal(sealed: Scene, jump: float) -> None:
    sealed.talk.say("Done.")
    sealed.watch.take_hook(stop("Done."), sealed.clock.now())
    sealed.clock.jump(jump)
    await sealed_anew(sealed)
    assert not await worked_on(sealed.case)
    sealed.clock.jump(-jump)
    sealed.talk.prompt("A task has ended.", "system")
    sealed.talk.say("I look at its result.")
    assert await worked_on(sealed.case)


async def test_an_agent_that_is_at_work_again_is_neither_cleared_nor_replaced(sealed: Scene) -> None:
    sealed.talk.prompt("Run the tests before you stop.", "hook")
    sealed.talk.say("I run them.")
    sealed.says(State.BUSY)
    assert (await passing.hand_over(sealed.case, PASS)).code == WORKED_ON
    assert sealed.launcher.kicks == []


async def test_a_tool_without_a_word_is_work_too(sealed: Scene) -> None:
    sealed.talk.prompt("Run the tests before you stop.", "hook")
    sealed.says(State.BUSY)
    assert (await passing.hand_over(sealed.case, PASS)).code == WORKED_ON


async def test_a_person_who_speaks_to_an_agent_at_work_again_is_heard_first(sealed: Scene) -> None:
    sealed.talk.prompt("and keep the public names")
    sealed.says(State.BUSY)
    assert (await passing.hand_over(sealed.case, PASS)).code == NEW_PROMPT


async def test_what_a_turn_that_was_not_over_at_the_seal_brings_is_work(sealed: Scene) -> None:
    sealed.says(State.BUSY)
    sealed.clock.advance(1)
    await sealed_anew(sealed)
    sealed.talk.say("The reader is done now.")
    sealed.says(State.IDLE)
    assert (await passing.hand_over(sealed.case, PASS)).code == WORKED_ON


async def test_after_a_restart_the_same_place_is_found_also_where_the_record_was_written_anew(sealed: Scene) -> None:
    before = sealed.talk.path.read_bytes()
    sealed.talk.path.write_bytes(before.splitlines(keepends=True)[-1])  # shorter: it is read anew
    sealed.watch.read()
    sealed.clock.advance(1)
    await sealed_anew(sealed)
    again = Watch(sealed.watch.session, sealed.agent, sealed.watch.folder, {}, sealed.clock)
    Supervisor(sealed.store, sealed.clock, sealed.settings, sealed._notify).reopen(again)
    case = sealed.case
    case.watch = again
    assert not await worked_on(case)
    sealed.talk.prompt("A task has ended.", "system")
    assert await worked_on(case)


async def test_a_process_is_not_replaced_before_what_it_did_is_sealed_but_not_put_off_for_ever(sealed: Scene) -> None:
    respawn = Move(Step.PASS, way=Way.RESPAWN)
    sealed.talk.prompt("A task has ended.", "system")
    sealed.talk.say("And one thing more.")
    assert (await passing.hand_over(sealed.case, respawn)).code == WORKED_ON
    assert sealed.launcher.kicks == []
    assert (await passing.hand_over(sealed.case, replace(respawn, at_last=True))).ok


async def test_a_clear_that_the_agent_ignores_is_not_taken_for_done(sealed: Scene) -> None:
    sealed.panes.on_enter = lambda text: None
    outcome = await passing.hand_over(sealed.case, PASS)
    assert outcome.code == NOT_CLEARED
    assert sealed.case.cycle.new_agent_session is None


async def test_a_conversation_that_the_user_resumed_is_not_the_successor(sealed: Scene) -> None:
    sealed.panes.on_enter = lambda text: sealed.begins(OTHER, "resume")
    assert (await passing.hand_over(sealed.case, PASS)).code == NOT_CLEARED


async def test_an_agent_that_dies_of_the_clear_is_gone(sealed: Scene) -> None:
    sealed.panes.on_enter = lambda text: sealed.says(State.DEAD)
    assert (await passing.hand_over(sealed.case, PASS)).code == GONE


async def test_a_new_process_gets_the_kick_on_its_command_line(sealed: Scene) -> None:
    outcome = await passing.hand_over(sealed.case, Move(Step.PASS, way=Way.RESPAWN))
    assert (outcome.ok, sealed.case.cycle.way) == (True, "respawn")
    (kick,) = sealed.launcher.kicks
    assert kick is not None
    assert kick.startswith(KICK)
    given = sealed.store.delivery(KICK)
    assert given is not None
    assert (given.channel, given.state) == (Channel.ARGV, DeliveryState.SENT)
    sealed.hears(kick)
    assert (await priming.prime(sealed.case, Move(Step.PRIME))).data["channel"] == Channel.ARGV
    assert sealed.panes.typed == []


async def test_a_process_that_cannot_be_started_is_said_so(sealed: Scene) -> None:
    sealed.launcher.fails = True
    outcome = await passing.hand_over(sealed.case, Move(Step.PASS, way=Way.RESPAWN))
    assert outcome.code == NOT_CLEARED
    assert "could not be started again" in outcome.note


async def test_what_the_user_said_too_late_for_the_document_goes_along_with_the_kick(sealed: Scene) -> None:
    sealed.talk.prompt("and keep the public names")
    await passing.hand_over(sealed.case, Move(Step.PASS, way=Way.RESPAWN))
    (kick,) = sealed.launcher.kicks
    assert "and keep the public names" in (kick or "")


# -- prime -------------------------------------------------------------------------------------------


async def test_the_kick_is_typed_once_even_if_the_step_is_run_again(passed: Scene) -> None:
    assert (await priming.prime(passed.case, Move(Step.PRIME))).ok
    assert (await priming.prime(passed.case, Move(Step.PRIME))).ok
    (kick,) = passed.panes.sent
    assert kick.startswith(KICK)
    given = passed.store.delivery(KICK)
    assert given is not None
    assert given.state is DeliveryState.SEEN


async def test_where_context_comes_with_the_prompt_the_handoff_lies_ready_for_the_kick_and_a_cleared_box_has_its_rest(
    passed: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passed.agent, "primes_with_prompt", True)
    monkeypatch.setattr(passed.agent, "clear_seconds", 1.0)
    laid = passed.watch.folder / f"brief.{OTHER}"
    ready: list[bool] = []
    passed.panes.on_paste = lambda: ready.append(laid.exists())
    began = passed.clock.ticks()
    assert (await priming.prime(passed.case, Move(Step.PRIME))).ok
    assert ready == [True]
    assert passed.clock.ticks() - began > 0.999  # two sums of floats
    assert "torn lines" in laid.read_text(encoding="utf-8")


async def test_a_kick_that_cannot_be_typed_is_withdrawn_and_can_be_typed_later(passed: Scene) -> None:
    passed.panes.box = "a person is quicker"
    assert (await priming.prime(passed.case, Move(Step.PRIME))).code == NOT_SEEN
    assert passed.panes.typed == []
    passed.panes.box = ""
    assert (await priming.prime(passed.case, Move(Step.PRIME))).ok
    assert len(passed.panes.sent) == 1


async def test_the_second_kick_says_what_was_wrong_with_the_receipt(passed: Scene) -> None:
    await priming.prime(passed.case, Move(Step.PRIME, attempt=2, missing=('"branch" is "main"',)))
    assert passed.panes.sent[0].startswith(f"[baton {CYCLE} kick 2]")
    assert '"branch" is "main"' in passed.panes.sent[0]


# -- verify ------------------------------------------------------------------------------------------


async def answered(scene: Scene, text: str) -> None:
    await priming.prime(scene.case, Move(Step.PRIME))
    scene.says(State.BUSY)
    scene.clock.advance(1)
    scene.talk.say(text)
    scene.supervisor.take_news(scene.watch)
    scene.watch.take_hook(stop(text, OTHER), scene.clock.now())


async def test_a_true_receipt_is_accepted(passed: Scene) -> None:
    await answered(passed, f"```json\n{json.dumps(RECEIPT)}\n```\nOn with it.")
    outcome = await verifying.verify(passed.case, Move(Step.VERIFY))
    assert (outcome.code, outcome.note) == ("ok", "receipt accepted")


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("Good, I have read it.", "does not begin with the receipt"),
        (f"```json\n{json.dumps({**RECEIPT, 'branch': 'main'})}\n```", "branch"),
        (f"```json\n{json.dumps({**RECEIPT, 'constraints': []})}\n```", "C1"),
        (f"```json\n{json.dumps({**RECEIPT, 'baton_receipt': '00000000'})}\n```", "another handoff"),
    ],
)
async def test_any_other_answer_is_rejected_with_what_is_wrong(passed: Scene, answer: str, problem: str) -> None:
    await answered(passed, answer)
    outcome = await verifying.verify(passed.case, Move(Step.VERIFY))
    assert outcome.code == REJECTED
    assert problem in outcome.note
    assert outcome.data["problems"]


async def test_what_a_later_turn_says_is_not_the_receipt(passed: Scene) -> None:
    await answered(passed, "Let me look.")
    passed.hears("what are you doing?")
    passed.talk.say(f"```json\n{json.dumps(RECEIPT)}\n```")
    passed.supervisor.take_news(passed.watch)
    assert (await verifying.verify(passed.case, Move(Step.VERIFY))).code == REJECTED


async def test_a_receipt_is_waited_for_while_the_turn_goes_on(passed: Scene) -> None:
    await priming.prime(passed.case, Move(Step.PRIME))
    passed.says(State.BUSY)
    proof = asyncio.create_task(verifying.verify(passed.case, Move(Step.VERIFY)))
    for _ in range(5):
        await asyncio.sleep(0)
    assert not proof.done()
    passed.talk.say(f"```json\n{json.dumps(RECEIPT)}\n```")
    passed.supervisor.take_news(passed.watch)
    assert (await proof).ok


async def test_the_stop_hooks_own_copy_of_the_answer_is_enough_where_the_record_lags_behind(passed: Scene) -> None:
    await priming.prime(passed.case, Move(Step.PRIME))
    passed.says(State.BUSY)
    passed.watch.take_hook(stop(f"```json\n{json.dumps(RECEIPT)}\n```\nOn with it.", OTHER), passed.clock.now())
    assert (await verifying.verify(passed.case, Move(Step.VERIFY))).ok


async def test_the_stop_hook_of_a_later_turn_brings_no_receipt(passed: Scene) -> None:
    await priming.prime(passed.case, Move(Step.PRIME))
    passed.hears("what are you doing?")
    passed.watch.take_hook(stop(f"```json\n{json.dumps(RECEIPT)}\n```", OTHER), passed.clock.now())
    assert (await verifying.verify(passed.case, Move(Step.VERIFY))).code == REJECTED


async def _not_served(passed: Scene, text: str, kind: str = "rate_limit") -> Outcome:
    await priming.prime(passed.case, Move(Step.PRIME))
    passed.clock.advance(1)
    passed.talk.add("failed", kind=kind, text=text)
    passed.supervisor.take_news(passed.watch)
    return await verifying.verify(passed.case, Move(Step.VERIFY))


async def test_a_kick_whose_turn_the_provider_ended_is_no_bad_receipt_and_its_date_is_kept(passed: Scene) -> None:
    outcome = await _not_served(passed, "You've hit your usage limit. Try again in 2 hours.")
    assert outcome.code == UNSERVED
    assert "scripted is not served by its provider: You've hit your usage limit" in outcome.note
    failed = passed.watch.conversation.failure
    assert failed is not None
    assert passed.case.recall("refused") == {"agent": "scripted", "until": failed.at + 7200}


def _tries_again(passed: Scene, seconds: float) -> float:
    """The successor is refused and tries again by itself; gives when."""
    now = passed.clock.now()
    passed.says(State.BUSY, tries_again=TriesAgain(Failed(now, "rate_limit", "Too many."), now + seconds))
    return now + seconds


async def test_a_successor_that_waits_to_ask_again_is_not_served_where_that_is_far_off(passed: Scene) -> None:
    await priming.prime(passed.case, Move(Step.PRIME))
    began, until = passed.clock.now(), _tries_again(passed, 7200)
    assert (await verifying.verify(passed.case, Move(Step.VERIFY))).code == UNSERVED
    assert passed.case.recall("refused") == {"agent": "scripted", "until": until}
    assert passed.clock.now() - began < 10


@pytest.fixture
def kicked(passed: Scene, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """The same, where time passes only as the test says."""
    monkeypatch.setattr(passed.clock, "sleep", partial(ManualClock.sleep, passed.clock))
    return passed


async def _passes(scene: Scene, seconds: float) -> None:
    """So much time passes, and whoever waited sees it."""
    scene.clock.advance(seconds)
    for _ in range(30):
        await asyncio.sleep(0)


@pytest.mark.parametrize("before", [0, 170])
async def test_a_successor_that_is_soon_to_ask_again_has_all_its_time_for_the_receipt_after_that(
    kicked: Scene, before: int
) -> None:
    kicked.hears(KICK)
    kicked.says(State.BUSY)
    proof = asyncio.create_task(verifying.verify(kicked.case, Move(Step.VERIFY)))
    await _passes(kicked, before)
    _tries_again(kicked, 600)
    await _passes(kicked, 600)
    kicked.says(State.BUSY)
    await _passes(kicked, 170)
    assert not proof.done(), "no correction is sent to one that is at work on it"
    kicked.talk.say(f"```json\n{json.dumps(RECEIPT)}\n```")
    kicked.supervisor.take_news(kicked.watch)
    assert (await proof).ok


async def test_a_successor_that_is_refused_at_every_try_is_not_waited_for_without_end(kicked: Scene) -> None:
    kicked.hears(KICK)
    limits, began = kicked.case.config, kicked.clock.now()
    proof = asyncio.create_task(verifying.verify(kicked.case, Move(Step.VERIFY)))
    for _ in range(100):
        if not proof.done():
            _tries_again(kicked, 30)
            await _passes(kicked, 30)
    assert proof.done()
    assert proof.result().code == UNSERVED, "its receipt was not wrong: it could give none"
    waited = kicked.clock.now() - began
    assert limits.timeouts.verify < waited <= 60 * limits.quota.wait_minutes + 2 * limits.timeouts.verify + 60


async def test_of_a_successor_that_died_of_its_refusal_the_date_is_kept_too(passed: Scene) -> None:
    await priming.prime(passed.case, Move(Step.PRIME))
    passed.talk.add("failed", kind="rate_limit", text="You've hit your usage limit. Try again in 2 hours.")
    passed.says(State.DEAD)
    assert (await verifying.verify(passed.case, Move(Step.VERIFY))).code == GONE
    failed = passed.watch.conversation.failure
    assert failed is not None
    assert passed.case.recall("refused") == {"agent": "scripted", "until": failed.at + 7200}


async def test_a_kick_that_failed_for_another_reason_is_a_bad_receipt(passed: Scene) -> None:
    assert (await _not_served(passed, "prompt is too long", "too_long")).code == REJECTED
    assert passed.case.recall("refused") is None


async def test_a_predecessor_that_keeps_the_work_is_told_why_and_not_asked_again(passed: Scene) -> None:
    await _not_served(passed, "You've hit your usage limit.")
    passed.launcher.begin = TALK
    await returning.bring_back(passed.case, Move(Step.BACK, note="codex is not served by its provider: no quota"))
    told = passed.launcher.kicks[-1] or ""
    assert "codex is not served by its provider: no quota" in told
    assert "Go on with the work" in told
    await closing.close(passed.case, Move(Step.CLOSE, result=Result.POSTPONED, note="codex is not served"))
    assert "codex is not served; scripted goes on" in passed.told[-1]


def _commit(scene: Scene, file: str, subject: str) -> str:
    """Commit one file at the time of the scene's clock; the commit's id."""
    at = f"@{int(scene.clock.now())} +0000"
    git = ["git", "-C", str(scene.project), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    env = {**os.environ, "GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at}
    for words in (["add", file], ["commit", "-qm", subject]):
        subprocess.run([*git, *words], check=True, capture_output=True, env=env)
    return subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()


async def test_a_predecessor_that_is_brought_back_is_told_what_its_successor_changed_meanwhile(passed: Scene) -> None:
    await answered(passed, "Let me look.")
    passed.clock.advance(60)
    for name, text in (("notes.md", "torn\n"), ("reader.py", "torn = bytearray()\n"), ("writer.py", "whole = None\n")):
        (passed.project / name).write_text(text, encoding="utf-8")
    os.utime(passed.project / "reader.py", (passed.clock.now(),) * 2)  # it was changed before the seal as well
    (passed.project / "untouched.py").write_text("", encoding="utf-8")
    passed.case.remember(dirty=["reader.py", "untouched.py"])
    head = _commit(passed, "writer.py", "Write whole lines")
    passed.launcher.begin = TALK
    await returning.bring_back(passed.case, Move(Step.BACK, missing=("the branch is wrong",)))
    told = passed.launcher.kicks[-1] or ""
    assert told.startswith(f"[baton {CYCLE} back 1]")
    assert "the branch is wrong" in told
    assert "- notes.md (untracked)" in told
    assert "- reader.py (modified)" in told
    assert f"- commit {head[:12]}: Write whole lines" in told
    assert "untouched.py" not in told
    assert ": first" not in told, "the commit of before the seal is not its successor's"


async def test_one_that_may_lose_a_prompt_of_its_command_line_is_resumed_first_and_told_by_keys(
    passed: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    await answered(passed, "Let me look.")
    monkeypatch.setattr(passed.agent, "resumes_with_prompt", False, raising=False)
    passed.launcher.begin = TALK
    passed.panes.sent.clear()
    outcome = await returning.bring_back(passed.case, Move(Step.BACK, missing=("the branch is wrong",)))
    assert outcome.ok, outcome.note
    assert (passed.launcher.kicks, passed.launcher.resumed) == ([None], [TALK])
    (told,) = passed.panes.sent
    assert told.startswith(f"[baton {CYCLE} back ")
    assert (await returning.bring_back(passed.case, Move(Step.BACK, missing=("the branch is wrong",)))).ok
    assert passed.panes.sent == [told], "after a crash it is not typed again"


# -- close -------------------------------------------------------------------------------------------


async def test_a_close_that_is_run_again_counts_once(passed: Scene) -> None:
    for _ in range(2):
        assert (await closing.close(passed.case, Move(Step.CLOSE))).ok
    kept = passed.store.session(passed.watch.session.id)
    assert kept is not None
    assert (kept.chain, passed.watch.session.chain) == (1, 1)
    assert passed.case.cycle.state is CycleState.DONE
    assert not passed.offers.primed("clear")
    check = passed.store.health_checks(session=passed.watch.session.id)[-1]
    assert (check.check_type, check.status, check.details["usage_reset"]) == ("handoff", "ok", True)
    assert check.details["handoff_file"] == str(passed.documents()[0])


async def test_a_baton_that_nobody_took_leaves_a_pending_file_and_a_notice(sealed: Scene) -> None:
    await closing.close(sealed.case, Move(Step.CLOSE, result=Result.PENDING, note="the box is in use"))
    (document,) = sealed.documents()
    pending = document.parent / "HANDOFF_PENDING.md"
    assert f"baton continue {document}" in pending.read_text(encoding="utf-8")
    assert "the box is in use" in sealed.told[-1]
    assert sealed.watch.session.chain == 0
    assert sealed.case.cycle.state is CycleState.PENDING


async def test_an_unverified_pass_tells_how_the_old_conversation_can_be_resumed(passed: Scene) -> None:
    await closing.close(passed.case, Move(Step.CLOSE, result=Result.UNVERIFIED, note="no receipt"))
    assert TALK in passed.told[-1]
    assert passed.case.cycle.state is CycleState.UNVERIFIED
    assert f"run: baton continue {passed.case.recall('sealed')}" in passed.told[-1]


async def test_a_handoff_that_failed_is_told_with_the_command_that_tries_it_again(sealed: Scene) -> None:
    await closing.close(
        sealed.case, Move(Step.CLOSE, result=Result.FAILED, note="the disk is full; nothing was cleared")
    )
    name = sealed.watch.session.name
    assert sealed.told[-1] == (
        f"{name}: the disk is full; nothing was cleared; when that is mended, run: baton handoff {name}"
    )
