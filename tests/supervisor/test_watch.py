import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from batonpass.agents.base import BackgroundTask, HookKind, HookReport, Status
from batonpass.agents.codex import Codex
from batonpass.clock import ManualClock
from batonpass.reading import Reading, Source
from batonpass.session import State
from batonpass.supervisor.conversation import Conversation
from batonpass.supervisor.watch import Watch
from tests.supervisor.fakes import OTHER, TALK, Talk, ToldAgent, start, stop

ASK = "[baton 7f3a91c2 ask 1]"


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(1000.0)


def reading(used: int, source: Source, at: float = 1000.0, talk: str = TALK) -> Reading:
    return Reading(at, talk, used, 200_000, 167_000, source, 1.0)


async def test_waiting_ends_as_soon_as_a_change_makes_it_true(watch: Watch, clock: ManualClock) -> None:
    seen: list[int] = []
    waiting = asyncio.create_task(watch.until(lambda: bool(seen), 60))
    await asyncio.sleep(0)
    watch.changed()
    await asyncio.sleep(0)
    assert not waiting.done()
    seen.append(1)
    watch.changed()
    assert await waiting
    assert clock.now() == 1000.0


async def test_waiting_ends_at_its_deadline_however_often_something_changes(watch: Watch, clock: ManualClock) -> None:
    waiting = asyncio.create_task(watch.until(lambda: False, 60))
    for _ in range(6):
        await asyncio.sleep(0)
        assert not waiting.done()
        clock.advance(10)
        watch.changed()
    assert not await waiting


async def test_what_is_true_already_is_not_waited_for(watch: Watch) -> None:
    assert await watch.until(lambda: True, 0)
    assert not await watch.until(lambda: False, 0)


def test_a_better_source_replaces_a_worse_one_and_not_the_other_way_round(watch: Watch) -> None:
    assert watch.take_reading(reading(900, Source.SCREEN))
    assert watch.take_reading(reading(1000, Source.STATUSLINE))
    assert not watch.take_reading(reading(1100, Source.SCREEN, at=1010.0))
    assert watch.reading is not None
    assert watch.reading.used == 1000


def test_a_worse_source_counts_again_when_the_better_one_has_fallen_silent(watch: Watch) -> None:
    watch.take_reading(reading(1000, Source.STATUSLINE))
    assert watch.take_reading(reading(1100, Source.SCREEN, at=1021.0))


def test_the_transcript_counts_at_once_beside_the_status_line(watch: Watch) -> None:
    watch.take_reading(reading(1000, Source.STATUSLINE))
    assert watch.take_reading(reading(1500, Source.TRANSCRIPT))


def test_the_same_count_from_a_better_source_is_no_news_but_is_surer(watch: Watch) -> None:
    watch.take_reading(reading(1000, Source.TRANSCRIPT))
    assert not watch.take_reading(reading(1000, Source.STATUSLINE, at=1005.0))
    assert [(r.source, r.at) for r in watch.readings] == [(Source.STATUSLINE, 1000.0)]


def test_a_reading_of_another_conversation_or_of_none_is_refused(watch: Watch) -> None:
    assert not watch.take_reading(reading(1000, Source.STATUSLINE, talk=OTHER))
    assert not watch.take_reading(replace(reading(1000, Source.STATUSLINE), used=None))
    assert watch.reading is None


def test_the_window_that_the_status_line_told_holds_for_the_transcript(watch: Watch) -> None:
    before = watch.reading_of(1000, 1.0, None, Source.TRANSCRIPT)
    watch.take_reading(replace(reading(900, Source.STATUSLINE), window=1_000_000))
    after = watch.reading_of(1000, 1.0, None, Source.TRANSCRIPT)
    assert (before.window, after.window) == (200_000, 1_000_000)
    assert before.confidence < after.confidence


def test_a_compaction_that_was_seen_lowers_what_is_usable(watch: Watch, talk: Talk) -> None:
    talk.add("compacted", trigger="auto", before=150_000)
    talk.add("compacted", trigger="manual", before=90_000)
    watch.read()
    assert watch.usable(200_000) == 150_000
    assert watch.usable(1_000_000) == 967_000, "another model's window was not seen full"


def test_growth_is_the_last_step_up(watch: Watch) -> None:
    assert watch.growth is None
    for used in (1000, 5000, 7000, 6900):
        watch.take_reading(reading(used, Source.STATUSLINE))
    assert watch.growth == 2000


def test_a_start_of_another_conversation_moves_the_session_and_begins_its_readings_anew(watch: Watch) -> None:
    watch.take_reading(reading(1000, Source.STATUSLINE))
    assert watch.take_hook(start(OTHER, transcript=Path("/t/other.jsonl")), 1001.0)
    assert (watch.session.agent_session, watch.session.transcript) == (OTHER, Path("/t/other.jsonl"))
    assert (watch.reading, watch.starts[-1].source) == (None, "clear")
    before = watch.conversation_of(TALK)
    assert before is not None
    assert before is not watch.conversation
    assert watch.conversation_of("nobody") is None


def test_a_start_of_the_same_conversation_keeps_its_readings(watch: Watch) -> None:
    watch.take_reading(reading(1000, Source.STATUSLINE))
    assert not watch.take_hook(start(TALK, "compact"), 1001.0)
    assert watch.reading is not None


def test_hooks_tell_of_background_work_and_of_the_permission_mode(watch: Watch) -> None:
    task = BackgroundTask("b1", "shell", "running", "npm test")
    watch.take_hook(HookReport(HookKind.TOOL, TALK, background=(task,), permission_mode="plan"), 1001.0)
    watch.take_hook(HookReport(HookKind.TOOL, TALK), 1002.0)
    assert (watch.background, watch.session.permission_mode) == ((task,), "plan")


@pytest.mark.parametrize("signal", ["hook", "record", "status"])
def test_a_turn_is_over_by_any_of_the_agents_own_signals_but_only_after_its_prompt(
    watch: Watch, talk: Talk, agent: ToldAgent, clock: ManualClock, signal: str
) -> None:
    def end() -> None:
        if signal == "hook":
            watch.take_hook(stop(), clock.now())
        elif signal == "record":
            talk.add("turn_ended")
        else:
            agent.says = Status(State.IDLE, TALK, since=clock.now())

    agent.says = Status(State.BUSY, TALK, since=900.0)
    end()
    clock.advance(10)
    if signal == "status":
        agent.says = Status(State.BUSY, TALK, since=clock.now())
    since = clock.now()
    talk.prompt(f"{ASK} write it")
    watch.read()
    watch.refresh()
    assert not watch.turn_over(ASK, since)
    clock.advance(5)
    end()
    watch.read()
    watch.refresh()
    assert watch.turn_over(ASK, since)
    assert not watch.turn_over("[baton 7f3a91c2 ask 2]", since)


def test_an_idleness_from_before_the_prompt_does_not_end_its_turn(watch: Watch, talk: Talk, agent: ToldAgent) -> None:
    agent.says = Status(State.IDLE, TALK, since=999.0)
    watch.refresh()
    talk.prompt(f"{ASK} write it")
    watch.read()
    assert not watch.turn_over(ASK, 1000.0)


def test_a_stop_of_another_conversation_does_not_end_the_turn(watch: Watch, talk: Talk, agent: ToldAgent) -> None:
    agent.says = Status(State.BUSY, TALK)
    watch.refresh()
    talk.prompt(f"{ASK} write it")
    watch.read()
    watch.take_hook(stop(talk=OTHER), 1010.0)
    assert not watch.turn_over(ASK, 1000.0)


def test_a_stop_whose_turn_is_written_down_later_ends_it_once_the_record_shows_its_last_words(
    watch: Watch, talk: Talk, agent: ToldAgent, clock: ManualClock
) -> None:
    agent.says = Status(State.BUSY, TALK)
    watch.refresh()
    watch.take_hook(stop("Three steps are done."), clock.now())  # ends the turn before
    clock.advance(1)
    since = clock.now()
    watch.take_hook(stop("The handoff is written."), clock.now())
    talk.prompt(f"{ASK} write it")
    watch.read()
    assert not watch.turn_over(ASK, since), "the stop may have been that of an earlier turn"
    talk.say("The handoff is written.")
    watch.read()
    assert watch.turn_over(ASK, since)
    assert watch.last_message(ASK, since) == "The handoff is written."


@pytest.mark.parametrize("before", ["Done.", "Something else."])
def test_the_stop_of_the_turn_before_does_not_end_the_next_one_whatever_its_words_were(
    watch: Watch, talk: Talk, agent: ToldAgent, clock: ManualClock, before: str
) -> None:
    agent.says = Status(State.BUSY, TALK)
    watch.refresh()
    watch.take_hook(stop(before), clock.now())
    clock.advance(1)
    since = clock.now()
    talk.prompt(f"{ASK} write it")
    talk.say("Done.")
    watch.read()
    assert not watch.turn_over(ASK, since)


def test_an_agent_is_not_idle_while_its_stop_hook_waits_for_our_answer(watch: Watch) -> None:
    watch.refresh()
    assert watch.idle()
    watch.holding_stop = True
    assert not watch.idle()


def test_an_agent_that_says_nothing_yet_is_still_starting(watch: Watch, agent: ToldAgent) -> None:
    watch.status = Status(State.STARTING)
    agent.says = Status(State.UNKNOWN)
    assert not watch.refresh()
    assert watch.status.state is State.STARTING


def test_an_agent_is_at_work_from_the_moment_it_has_a_prompt_though_it_says_so_later(
    watch: Watch, agent: ToldAgent, clock: ManualClock
) -> None:
    agent.says = Status(State.IDLE, TALK, since=990.0)
    watch.refresh()
    watch.take_hook(HookReport(HookKind.PROMPT, TALK, prompt="go on"), clock.now())
    assert watch.working()
    assert not watch.idle()
    watch.take_hook(stop("done"), clock.now())
    assert watch.idle()


def test_an_agent_that_waits_in_a_dialog_is_not_at_work_because_of_a_prompt_that_is_heard_late(
    watch: Watch, agent: ToldAgent, clock: ManualClock
) -> None:
    agent.says = Status(State.WAITING, TALK, since=1000.0)
    watch.refresh()
    watch.take_hook(HookReport(HookKind.PROMPT, TALK, prompt="delete the old files"), clock.now())
    assert not watch.working()


def test_a_prompt_that_begins_no_turn_does_not_keep_the_agent_at_work(
    watch: Watch, agent: ToldAgent, clock: ManualClock
) -> None:
    agent.says = Status(State.IDLE, TALK, since=990.0)
    watch.refresh()
    watch.take_hook(HookReport(HookKind.PROMPT, TALK, prompt="blocked"), clock.now())
    clock.advance(4)
    assert watch.idle()
    watch.take_hook(HookReport(HookKind.PROMPT, OTHER, prompt="of another"), clock.now())
    assert watch.idle()
    watch.take_hook(HookReport(HookKind.PROMPT, TALK, prompt="from the spool"), clock.now() - 60)
    assert watch.idle()


def test_permissions_that_the_record_tells_are_those_of_the_session(watch: Watch, tmp_path: Path) -> None:
    rollout = tmp_path / "rollout.jsonl"
    watch.conversation = Conversation(TALK, rollout, Codex().record)

    def applied(profile: str | None) -> str | None:
        settings = {"approval_policy": "on-request", "active_permission_profile": {"id": profile} if profile else None}
        payload = {"type": "thread_settings_applied", "thread_settings": settings}
        with rollout.open("a", encoding="utf-8") as lines:
            stamp = "2026-11-18T05:33:42Z"
            lines.write(json.dumps({"timestamp": stamp, "type": "event_msg", "payload": payload}) + "\n")
        watch.read()
        return watch.session.permission_mode

    assert applied(":read-only") == "on-request user :read-only"
    assert applied(":workspace") == "on-request user :workspace"
    assert applied(None) is None
