"""A headless run from its order to its result: nothing it started goes on, whatever happens."""

import asyncio
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from batonpass import agents
from batonpass.agents.base import LaunchError
from batonpass.agents.headless import Began, Command, HeadlessOrder, HeadlessResult, Recorder, Told
from batonpass.agents.headless_run import run
from batonpass.agents.scripted import Scripted
from batonpass.agents.setbacks import TriesAgain
from batonpass.agents.wishes import Approval
from batonpass.clock import ManualClock
from batonpass.transcripts.events import Event, Failed, Prompted, Said, ToolReturned, TurnEnded, Used
from tests.gone import gone

FIXTURES = Path(__file__).parents[1] / "fixtures" / "codex"


class Shell:
    """A headless agent that is a shell script; it prints `said TEXT`, `failed TEXT` and `session ID`."""

    name = "shell"
    kind = "overloaded"  # of its failures

    def __init__(self, script: str) -> None:
        self.reads, self.told, self._script = Scripted(), Told(), script

    def command(self, order: HeadlessOrder) -> Command:
        return Command(("/bin/sh", "-c", self._script), order.env, order.prompt.encode())

    def hear(self, line: bytes, at: float) -> Iterator[Event]:
        word, _, rest = line.decode().partition(" ")
        if word == "session":
            self.told.agent_session = rest
        elif word == "said":
            yield Said(at, rest, "")
        elif word == "failed":
            yield Failed(at, self.kind, rest)

    def overhear(self, line: bytes, at: float) -> TriesAgain | None:
        """Of `again SECONDS TEXT` on standard error."""
        word, _, rest = line.decode().partition(" ")
        seconds, _, words = rest.partition(" ")
        return TriesAgain(Failed(at, "rate_limit", words), at + float(seconds)) if word == "again" else None


@pytest.fixture
def order(tmp_path: Path) -> Callable[..., HeadlessOrder]:
    folder = tmp_path / "project"
    folder.mkdir()
    root = str(Path(__file__).parents[2])
    env = {
        **os.environ,
        "PYTHONPATH": root,
        "BATON_HOME": str(tmp_path / "home"),
        "BATON_SCRIPTED_HOME": str(tmp_path / "scripted"),
    }

    def made(prompt: str = "go", brain: object = None, **more: object) -> HeadlessOrder:
        own = {"BATON_SCRIPTED_BRAIN": json.dumps(brain)} if brain else {}
        return HeadlessOrder(prompt, folder, {**env, **own}, **more)  # type: ignore[arg-type]

    return made


def nobody(event: Event) -> None:
    return


async def test_a_prompt_is_answered_with_events_as_they_come_and_the_context_at_the_end(
    order: Callable[..., HeadlessOrder],
) -> None:
    told = Recorder()
    result = await run(agents.headless("scripted"), order("read it", {"steps": 1, "start": 41_000}), told)
    kinds = [type(event) for event in told.events]
    assert kinds[:2] == [Began, Prompted]
    assert kinds[-2:] == [TurnEnded, Used]
    assert [event.ok for event in told.events if isinstance(event, ToolReturned)] == [True]
    assert isinstance(told.events[0], Began)
    assert result == HeadlessResult(
        agent="scripted",
        agent_session=told.events[0].agent_session,
        text=next(event.text for event in reversed(told.events) if isinstance(event, Said)),
        used=46_000,
        window=200_000,
        usable=167_000,
        exit=0,
    )


async def test_a_conversation_is_gone_on_with_by_its_id_and_only_its_news_are_told(
    order: Callable[..., HeadlessOrder],
) -> None:
    first = await run(agents.headless("scripted"), order("begin", {"steps": 1, "start": 41_000}), nobody)
    told = Recorder()
    again = order("go on", {"steps": 1, "start": 41_000}, resume=first.agent_session)
    second = await run(agents.headless("scripted"), again, told)
    assert second.agent_session == first.agent_session
    assert first.used is not None
    assert second.used is not None
    assert second.used > first.used
    assert [event.text for event in told.events if isinstance(event, Prompted)] == ["go on"]
    assert [event.used for event in told.events if isinstance(event, Used)] == [second.used]


async def test_files_are_changed_only_where_that_is_approved(
    order: Callable[..., HeadlessOrder], tmp_path: Path
) -> None:
    replies = [{"text": "I write.", "tools": [["write", {"path": "note.md", "content": "x"}]]}]
    told = json.dumps({"replies": replies, "notes": str(tmp_path / "notes")})
    for approval, written in ((Approval.ASK, False), (Approval.EDITS, True)):
        asked = order("write", approval=approval, args=("--brain", f"tests.sim.recited:Recited {told}"))
        result = await run(agents.headless("scripted"), asked, nobody)
        assert (result.error, result.text) == (None, "heard: write")
        assert (asked.folder / "note.md").exists() is written


async def test_the_context_is_the_records_last_word_and_not_the_sum_that_is_printed(
    order: Callable[..., HeadlessOrder], tmp_path: Path
) -> None:
    folder = tmp_path / "codex/sessions/2026/11/15"
    folder.mkdir(parents=True)
    rollout = folder / "rollout-2026-11-15T19-28-50-01a1e0af-0b64-7b12-afb5-e4364be1ce29.jsonl"
    rollout.write_bytes((FIXTURES / "rollout-exec-resume-autocompact.jsonl").read_bytes())
    program = tmp_path / "codex-program"
    printed = FIXTURES / "exec-json-autocompact.jsonl"
    program.write_text(f"#!/bin/sh\ncat > {tmp_path}/prompt\ncat {printed}\n", encoding="utf-8")
    program.chmod(0o755)
    asked = order("go on")
    env = {**asked.env, "BATON_CODEX": str(program), "CODEX_HOME": str(tmp_path / "codex")}
    result = await run(agents.headless("codex"), HeadlessOrder("go on", asked.folder, env), nobody)
    assert (result.used, result.window, result.text) == (23_040, 95_000, "Next done.")
    assert (tmp_path / "prompt").read_text(encoding="utf-8") == "go on"


async def test_the_end_of_a_quota_is_told_apart_with_the_time_of_its_end(order: Callable[..., HeadlessOrder]) -> None:
    refused = Shell("echo 'failed You have hit your usage limit. Try again in 2 hours.'; exit 1")
    refused.kind = "rate_limit"
    clock = ManualClock()
    result = await run(refused, order(), nobody, clock)
    assert (result.error, result.until) == ("quota", clock.now() + 7200)


async def test_the_end_of_a_quota_that_only_standard_error_tells_counts_from_now(
    order: Callable[..., HeadlessOrder],
) -> None:
    clock = ManualClock()
    refused = Shell("echo 'You have hit your usage limit. Try again in 2 hours.' >&2; exit 1")
    result = await run(refused, order(), nobody, clock)
    assert (result.error, result.until) == ("quota", clock.now() + 7200)


async def test_a_record_that_does_not_date_the_end_of_a_quota_has_it_counted_from_now(
    order: Callable[..., HeadlessOrder],
) -> None:
    class Undated(Shell):
        def hear(self, line: bytes, at: float) -> Iterator[Event]:
            return super().hear(line, 0.0)

    clock = ManualClock()
    refused = Undated("echo 'failed You have hit your usage limit. Try again in 2 hours.'; exit 1")
    refused.kind = "rate_limit"
    result = await run(refused, order(), nobody, clock)
    assert (result.error, result.until) == ("quota", clock.now() + 7200)


async def test_who_would_try_again_only_when_the_time_is_up_is_stopped_at_once_and_says_why(
    order: Callable[..., HeadlessOrder],
) -> None:
    clock = ManualClock()
    waits = Shell("echo 'again 3600 Slow down.' >&2; sleep 1000")
    result = await asyncio.wait_for(run(waits, order(seconds=600.0), nobody, clock), 30)
    assert (result.error, result.detail, result.until) == ("rate_limit", "Slow down.", clock.now() + 3600)


async def test_a_run_whose_time_is_up_while_it_tries_again_was_refused_and_is_no_timeout(
    order: Callable[..., HeadlessOrder],
) -> None:
    clock = ManualClock()

    class TimeFlies(Shell):
        def overhear(self, line: bytes, at: float) -> TriesAgain | None:
            asyncio.get_running_loop().call_soon(clock.advance, 61.0)
            return super().overhear(line, at)

    result = await run(TimeFlies("echo 'again 1 Slow down.' >&2; sleep 1000"), order(seconds=60.0), nobody, clock)
    assert (result.error, result.detail) == ("rate_limit", "Slow down.")


async def test_a_run_that_was_served_again_before_its_time_was_up_is_a_timeout(
    order: Callable[..., HeadlessOrder],
) -> None:
    clock = ManualClock()

    def time_flies(event: Event) -> None:
        asyncio.get_running_loop().call_soon(clock.advance, 61.0)

    class Overhearing(Shell):
        def overhear(self, line: bytes, at: float) -> TriesAgain | None:
            (asked.folder / "overheard").touch()
            return super().overhear(line, at)

    asked = order(seconds=60.0)
    # It goes on once what it said on the one side was heard, so that what it says on the other comes later.
    script = (
        "echo 'again 1 Slow down.' >&2; until [ -e overheard ]; do sleep 0.02; done; echo 'said at last'; sleep 1000"
    )
    result = await run(Overhearing(script), asked, time_flies, clock)
    assert (result.error, result.text) == ("timeout", "at last")


async def test_a_failure_is_named_by_the_agents_own_record(order: Callable[..., HeadlessOrder]) -> None:
    faults = json.dumps([{"fault": "api_error", "error": "rate_limit"}])
    result = await run(agents.headless("scripted"), order("go", args=("--faults", faults)), nobody)
    assert (result.exit, result.error, result.detail) == (1, "rate_limit", "API Error: rate limit")
    assert result.used is None


async def test_an_unknown_conversation_is_an_error_in_the_agents_own_words(
    order: Callable[..., HeadlessOrder],
) -> None:
    result = await run(agents.headless("scripted"), order(resume="no-such"), nobody)
    assert (result.error, result.used) == ("other", None)
    assert result.detail == "No conversation found with session ID: no-such"


async def test_what_is_printed_last_without_a_newline_is_heard(order: Callable[..., HeadlessOrder]) -> None:
    result = await run(Shell("cat; printf 'said the end'"), order("session s1\n"), nobody)
    assert (result.agent_session, result.text, result.error) == ("s1", "the end", None)


async def test_a_failure_that_only_standard_output_tells_is_an_error(order: Callable[..., HeadlessOrder]) -> None:
    result = await run(Shell("echo failed too much to do"), order(), nobody)
    assert (result.exit, result.error, result.detail) == (0, "overloaded", "too much to do")


async def test_a_program_that_ends_badly_is_quoted(order: Callable[..., HeadlessOrder]) -> None:
    result = await run(Shell("echo one >&2; echo no such flag >&2; exit 9"), order(), nobody)
    assert (result.exit, result.error, result.detail) == (9, "other", "one no such flag")
    silent = await run(Shell("exit 9"), order(), nobody)
    assert silent.detail == "it ended with status 9 and said nothing"


async def test_a_run_whose_time_is_up_is_stopped_with_all_that_it_started(
    order: Callable[..., HeadlessOrder],
) -> None:
    clock, pids = ManualClock(), list[int]()
    script = "echo said $$; sleep 1000 & echo said $!; setsid sleep 1000 & echo said $!; echo said 0; wait"

    def tell(event: Event) -> None:
        assert isinstance(event, Said)
        if event.text == "0":
            clock.advance(61.0)
        else:
            pids.append(int(event.text))

    result = await run(Shell(script), order(seconds=60.0), tell, clock)
    assert (result.error, result.detail) == ("timeout", "it was stopped after 60 s")
    assert len(pids) == 3
    assert all(gone(pid) for pid in pids)


async def test_one_that_will_not_end_is_ended_by_force(
    order: Callable[..., HeadlessOrder], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("batonpass.agents.headless_run._PATIENCE", 0.05)
    clock = ManualClock()

    def tell(event: Event) -> None:
        clock.advance(61.0)

    result = await run(Shell("trap '' TERM; echo said x; while :; do sleep 1; done"), order(seconds=60.0), tell, clock)
    assert (result.error, result.exit) == ("timeout", -9)


async def test_what_an_agent_leaves_running_ends_with_it_and_is_not_waited_for(
    order: Callable[..., HeadlessOrder],
) -> None:
    result = await run(Shell("sleep 1000 & echo said $!"), order(), nobody)
    assert result.error is None
    assert gone(int(result.text))


async def test_a_run_that_is_cancelled_leaves_nothing_running(order: Callable[..., HeadlessOrder]) -> None:
    heard: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def tell(event: Event) -> None:
        assert isinstance(event, Said)
        heard.set_result(event.text)

    task = asyncio.ensure_future(run(Shell("echo said $$; sleep 1000"), order(), tell))
    pid = int(await heard)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert gone(pid)


async def test_a_run_that_is_cancelled_again_while_it_is_stopped_leaves_nothing_running(
    order: Callable[..., HeadlessOrder],
) -> None:
    heard: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def tell(event: Event) -> None:
        assert isinstance(event, Said)
        heard.set_result(event.text)

    stubborn = Shell("trap '' TERM; echo said $$; while :; do sleep 1; done")
    task = asyncio.ensure_future(run(stubborn, order(), tell))
    pid = int(await heard)
    task.cancel()
    for _ in range(100):  # until it waits for an end that will not come
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert gone(pid)


async def test_what_has_left_for_a_session_of_its_own_ends_with_the_agent_too(
    order: Callable[..., HeadlessOrder],
) -> None:
    daemon = "(setsid sh -c 'echo $$ > own; mv own pid; exec sleep 1000' &)"
    script = f"{daemon}; until [ -e pid ]; do sleep 0.01; done; echo said $(cat pid)"
    result = await run(Shell(script), order(), nobody)
    assert result.error is None
    assert gone(int(result.text))


async def test_a_listener_that_fails_ends_the_run_at_once(order: Callable[..., HeadlessOrder]) -> None:
    pids: list[int] = []

    def tell(event: Event) -> None:
        assert isinstance(event, Said)
        pids.append(int(event.text))
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        await run(Shell("echo said $$; sleep 1000"), order(), tell)
    assert gone(pids[0])


async def test_one_that_closes_its_output_and_works_on_is_waited_for(order: Callable[..., HeadlessOrder]) -> None:
    asked = order()
    result = await run(Shell("echo said x; exec >&- 2>&-; sleep 0.2; touch done"), asked, nobody)
    assert (result.text, (asked.folder / "done").exists()) == ("x", True)


async def test_a_program_or_a_folder_that_is_not_there_is_said_and_nothing_is_started(
    order: Callable[..., HeadlessOrder], tmp_path: Path
) -> None:
    asked = order()
    gone_folder = HeadlessOrder("go", tmp_path / "nowhere", asked.env)
    with pytest.raises(LaunchError, match=r"could not be started in .*nowhere"):
        await run(Shell("true"), gone_folder, nobody)


async def test_files_that_others_open_meanwhile_stay_open(order: Callable[..., HeadlessOrder]) -> None:
    opened: list[int] = []

    def tell(event: Event) -> None:
        opened.extend(os.open(os.devnull, os.O_RDONLY) for _ in range(8))

    await run(Shell("echo said x"), order(), tell)
    for number in opened:
        os.close(number)  # an error where somebody has closed it already
