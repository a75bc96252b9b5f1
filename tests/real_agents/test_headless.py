"""Real agents without a screen: a prompt in, events and usage out, the conversation gone on with by its id."""

import asyncio
import re
import threading
from collections.abc import Mapping
from pathlib import Path

import pytest

from batonpass import agents
from batonpass.agents import processes
from batonpass.agents.headless import Began, HeadlessOrder, HeadlessResult, Recorder
from batonpass.agents.headless_run import run
from batonpass.agents.wishes import Approval
from batonpass.clock import ManualClock
from batonpass.sim.anthropic import AnthropicModel
from batonpass.sim.brain import Asked, Reply, ToolUse
from batonpass.sim.gemini_api import GeminiModel
from batonpass.sim.model_wire import Kind
from batonpass.sim.openai_chat import ChatModel
from batonpass.sim.openai_responses import ResponsesModel
from batonpass.sim.scripted_model import ScriptedModel
from batonpass.transcripts.events import Event, Said, ToolCalled, ToolReturned, TurnEnded, Used
from tests.gone import gone
from tests.real_agents.users import UsersHome

pytestmark = pytest.mark.long_on("2.1.197")


class Writer:
    """Writes a file when it is asked to, and is fuller after each answer."""

    def reply(self, asked: Asked) -> Reply:
        if "write" in asked.text and not asked.tool_results:
            note = ToolUse("write", {"path": "note.md", "content": "torn lines are kept\n"})
            return Reply("I write.", tools=(note,), used=31_000, output=40)
        return Reply(f"Heard: {asked.text.strip()}", used=31_234 + 1_000 * asked.turn, output=21)


class Place:
    """One agent with its model: runs it headless, and looks at what came of it."""

    def __init__(self, name: str, env: Mapping[str, str], project: Path, model: ScriptedModel, window: int) -> None:
        self.name, self.project, self.model, self.window = name, project, model, window
        self.baton_home = project.parent / "baton"
        self.env = {**env, "BATON_HOME": str(self.baton_home)}
        self.told = Recorder()
        model.brain = Writer()

    def order(self, prompt: str, **more: object) -> HeadlessOrder:
        return HeadlessOrder(prompt, self.project, self.env, **more)  # type: ignore[arg-type]

    async def run(self, prompt: str, **more: object) -> HeadlessResult:
        self.told.events.clear()
        return await run(agents.headless(self.name), self.order(prompt, **more), self.told)

    def heard(self, *kinds: type[Event]) -> list[Event]:
        return [event for event in self.told.events if isinstance(event, kinds)]


@pytest.fixture
def claude(claude_cli: Path, claude_home: dict[str, str], project: Path, model: AnthropicModel) -> Place:
    return Place("claude", {**claude_home, "BATON_CLAUDE": str(claude_cli)}, project, model, 200_000)


@pytest.fixture
def codex(codex_cli: Path, codex_home: dict[str, str], project: Path, codex_model: ResponsesModel) -> Place:
    return Place("codex", {**codex_home, "BATON_CODEX": str(codex_cli)}, project, codex_model, 258_400)


@pytest.fixture
def gemini(gemini_cli: Path, gemini_home: dict[str, str], project: Path, gemini_model: GeminiModel) -> Place:
    return Place("gemini", {**gemini_home, "BATON_GEMINI": str(gemini_cli)}, project, gemini_model, 1_048_576)


@pytest.fixture
def opencode(opencode_cli: Path, opencode_home: dict[str, str], project: Path, opencode_model: ChatModel) -> Place:
    return Place("opencode", {**opencode_home, "BATON_OPENCODE": str(opencode_cli)}, project, opencode_model, 200_000)


async def assert_runs_and_goes_on(place: Place, **more: object) -> None:
    """Two runs of one conversation: the file is written, the figures are those of the last call, both are told.

    And nothing of the user's is touched.
    """
    users_home = UsersHome(place.name, place.env)
    first = await place.run("please write it down\n-- as it is", approval=Approval.EDITS, **more)
    assert (first.error, first.exit, first.detail) == (None, 0, "")
    assert (place.project / "note.md").read_text(encoding="utf-8") == "torn lines are kept\n"
    began, *events = place.told.events
    assert isinstance(began, Began)
    assert began.agent_session == first.agent_session
    assert [event.text for event in events if isinstance(event, Said)] == ["I write.", first.text]
    assert first.text == "Heard: please write it down\n-- as it is"
    (call,) = place.heard(ToolCalled)
    (back,) = place.heard(ToolReturned)
    assert isinstance(call, ToolCalled)
    assert isinstance(back, ToolReturned)
    assert (back.call_id, back.ok) == (call.call_id, True)
    assert len(place.heard(TurnEnded)) == 1
    assert isinstance(events[-1], Used)
    assert (first.used, first.window, events[-1].used) == (32_234, place.window, 32_234)
    second = await place.run("and now?", resume=first.agent_session, **more)
    assert (second.error, second.agent_session, second.text) == (None, first.agent_session, "Heard: and now?")
    assert (second.used, second.window) == (33_234, place.window)
    assert [event.text for event in place.heard(Said) if isinstance(event, Said)] == ["Heard: and now?"]
    assert place.model.user_texts() == ["please write it down\n-- as it is", "and now?"]
    users_home.assert_kept(place.baton_home)


async def test_claude_runs_headless_and_goes_on_by_id(claude: Place) -> None:
    await assert_runs_and_goes_on(claude, model="claude-sonnet-4-6")


async def test_codex_runs_headless_and_goes_on_by_id(codex: Place) -> None:
    await assert_runs_and_goes_on(codex)


@pytest.mark.long
async def test_gemini_runs_headless_and_goes_on_by_id(gemini: Place) -> None:
    await assert_runs_and_goes_on(gemini, model="gemini-2.5-pro")


@pytest.mark.long
async def test_a_conversation_of_gemini_that_was_gone_on_with_later_is_not_lost_at_the_next_start(
    gemini: Place,
) -> None:
    first = await gemini.run("begin", model="gemini-2.5-pro")
    (record,) = Path(gemini.env["HOME"]).glob(".gemini/tmp/*/chats/session-*.jsonl")
    minute = re.sub(r"-\d\dT\d\d-\d\d-", "-01T00-00-", record.name)
    record = record.rename(record.with_name(minute))  # as if it had begun long ago
    second = await gemini.run("go on", model="gemini-2.5-pro", resume=first.agent_session)
    assert (second.error, second.agent_session) == (None, first.agent_session)
    assert [path.name for path in record.parent.glob(f"*-{minute[-14:]}")] == [minute]
    third = await gemini.run("something else", model="gemini-2.5-pro")
    assert third.agent_session != first.agent_session
    assert "go on" in record.read_text(encoding="utf-8")


@pytest.mark.long
async def test_opencode_runs_headless_and_goes_on_by_id(opencode: Place) -> None:
    await assert_runs_and_goes_on(opencode)


@pytest.mark.long
async def test_claude_writes_nothing_where_that_is_not_approved(claude: Place) -> None:
    result = await claude.run("please write it down", model="claude-sonnet-4-6")
    assert result.error is None
    assert not (claude.project / "note.md").exists()
    (back,) = claude.heard(ToolReturned)
    assert isinstance(back, ToolReturned)
    assert not back.ok


@pytest.mark.long
async def test_codex_writes_nothing_where_that_is_not_approved(codex: Place) -> None:
    result = await codex.run("please write it down", approval=Approval.PLAN)
    assert result.error is None
    assert not (codex.project / "note.md").exists()


@pytest.mark.long
@pytest.mark.parametrize("error", ["authentication", "rate_limit"])
async def test_claudes_failures_are_told_apart(claude: Place, error: str) -> None:
    claude.env["CLAUDE_CODE_MAX_RETRIES"] = "0"
    claude.model.script(Reply(error=error), times=1000)
    result = await claude.run("go", model="claude-sonnet-4-6")
    assert result.error == error, result
    assert result.used is None


@pytest.mark.long
@pytest.mark.parametrize("error", ["authentication", "too_long"])
async def test_codexs_failures_are_told_apart(codex: Place, error: str) -> None:
    codex.model.script(Reply(error=error), times=1000)
    result = await codex.run("go")
    assert (result.error, result.exit) == (error, 1), result
    assert result.used is None


@pytest.mark.long
@pytest.mark.parametrize("error", ["authentication", "too_long"])
async def test_geminis_failures_are_told_apart(gemini: Place, error: str) -> None:
    gemini.model.script(Reply(error=error), times=1000)
    result = await gemini.run("go", model="gemini-2.5-pro")
    assert result.error == error, result
    assert result.used is None


@pytest.mark.long
async def test_geminis_limit_is_no_timeout_when_the_time_is_up_between_two_tries(gemini: Place) -> None:
    clock, loop = ManualClock(), asyncio.get_running_loop()
    gemini.model.script(Reply(error="rate_limit"), times=1000)
    # The second request comes after the first was refused, and that was said.
    asked = loop.run_in_executor(None, gemini.model.wait_for, lambda request: request.number == 2, 90.0)
    asked.add_done_callback(lambda _: clock.advance(601.0))
    order = gemini.order("go", model="gemini-2.5-pro")
    assert (await run(agents.headless("gemini"), order, gemini.told, clock)).error == "rate_limit"


async def assert_stopped(place: Place, **more: object) -> None:
    """A run that hangs is ended when its time is up, with its processes, and its conversation can be gone on with."""
    release, clock = threading.Event(), ManualClock()

    def hang(asked: Asked) -> Reply:
        loop.call_soon_threadsafe(clock.advance, 61.0)
        release.wait(60)
        return Reply("too late")

    loop = asyncio.get_running_loop()
    place.model.script(hang, kind=Kind.MAIN, times=10)
    place.told.events.clear()
    try:
        order = place.order("hang on", seconds=60.0, **more)
        result = await run(agents.headless(place.name), order, place.told, clock)
    finally:
        release.set()
    assert (result.error, result.detail) == ("timeout", "it was stopped after 60 s")
    mine = str(place.env["HOME"])
    left = [pid for pid in processes.everyone() if processes.environment(pid).get("HOME") == mine]
    assert not [processes.arguments(pid) for pid in left if not gone(pid)]


@pytest.mark.long
async def test_claude_is_stopped_when_its_time_is_up(claude: Place) -> None:
    await assert_stopped(claude, model="claude-sonnet-4-6")


@pytest.mark.long
async def test_codex_is_stopped_when_its_time_is_up(codex: Place) -> None:
    await assert_stopped(codex)
