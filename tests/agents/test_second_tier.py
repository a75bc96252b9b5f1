"""Agents that are read and run headless, and no more: by what the real ones wrote."""

import shutil
from pathlib import Path

import pytest

from batonpass import agents
from batonpass.agents import readable
from batonpass.agents.aider import Aider
from batonpass.agents.aider.history import History
from batonpass.agents.base import LaunchError
from batonpass.agents.copilot import Copilot
from batonpass.agents.copilot.headless import CopilotHeadless
from batonpass.agents.headless import HeadlessOrder
from batonpass.agents.qwen import Qwen
from batonpass.agents.qwen.headless import QwenHeadless
from batonpass.transcripts.events import (
    Compacted,
    Event,
    Failed,
    Prompted,
    Said,
    ToolCalled,
    ToolReturned,
    TurnEnded,
    Used,
)

FIXTURES = Path(__file__).parents[1] / "fixtures"
QWEN_ID = "11111111-2222-4333-8444-555555555555"
COPILOT_ID = "22222222-2222-4333-8444-555555555555"


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """A home in which each of them keeps its conversation."""
    places = {
        FIXTURES / "qwen" / f"{QWEN_ID}.jsonl": f".qwen/projects/-home-dev-project/chats/{QWEN_ID}.jsonl",
        FIXTURES / "copilot" / "events.jsonl": f".copilot/session-state/{COPILOT_ID}/events.jsonl",
        FIXTURES / "aider" / "chat.history.md": "project/.aider.chat.history.md",
    }
    for source, place in places.items():
        (tmp_path / place).parent.mkdir(parents=True)
        shutil.copyfile(source, tmp_path / place)
    return {"HOME": str(tmp_path), "PATH": str(tmp_path)}


def of(events: tuple[Event, ...], *kinds: type[Event]) -> list[Event]:
    return [event for event in events if isinstance(event, kinds)]


def test_they_are_marked_as_experimental_and_cannot_be_supervised() -> None:
    assert set(agents.experimental_names()) == {"aider", "copilot", "qwen"}
    assert not set(agents.experimental_names()) & set(agents.names())
    for name in agents.experimental_names():
        with pytest.raises(agents.UnknownAgent):
            agents.get(name)


@pytest.mark.parametrize(
    ("agent", "wanted", "used", "window", "usable"),
    [
        (Qwen(), QWEN_ID, 45_040, None, None),
        (Copilot(), COPILOT_ID, 45_040, 128_000, 128_000),
    ],
)
def test_a_conversation_is_found_by_its_id_and_its_usage_is_that_of_the_last_call(
    agent: readable.Readable, wanted: str, used: int, window: int | None, usable: int | None, home: dict[str, str]
) -> None:
    past = agent.past(wanted, home)
    assert past is not None
    assert (past.agent_session, past.folder) == (wanted, Path("/home/dev/project"))
    assert agent.past(str(past.transcript), home) == past
    reading = readable.reading(agent, past, home)
    assert (reading.used, reading.window, reading.usable) == (used, window, usable)
    assert reading.model == "scripted-1"


def test_aiders_history_is_found_by_its_folder_or_its_path_and_tells_rounded_figures(home: dict[str, str]) -> None:
    folder = Path(home["HOME"]) / "project"
    past = Aider().past(str(folder), home)
    assert past is not None
    assert past == Aider().past(str(folder / ".aider.chat.history.md"), home)
    reading = readable.reading(Aider(), past, home)
    assert (reading.used, reading.window, reading.model) == (31_040, None, "openai/scripted-1")


@pytest.mark.parametrize("agent", [Qwen(), Copilot(), Aider()])
@pytest.mark.parametrize("wanted", ["../../etc", "no-such", "", "/etc/hostname.jsonl", "x\0y"])
def test_what_is_no_conversation_is_not_found(agent: readable.Readable, wanted: str, home: dict[str, str]) -> None:
    assert agent.past(wanted, home) is None


def test_qwens_record_tells_prompts_tools_answers_and_what_failed() -> None:
    events = Qwen().record(FIXTURES / "qwen" / f"{QWEN_ID}.jsonl").read().events
    assert [str(event.text)[:6] for event in events if isinstance(event, Prompted)] == ["First ", "Second", "Third."]
    assert [event.text for event in events if isinstance(event, Said)] == ["First done.", "Second done."]
    assert [event.tool for event in events if isinstance(event, ToolCalled)] == ["run_shell_command", "write_file"]
    assert [event.ok for event in events if isinstance(event, ToolReturned)] == [True, True]
    # The call of its own memory keeper, 33,040, is none of the conversation.
    assert [event.used for event in events if isinstance(event, Used)] == [17_040, 21_040, 25_040, 45_040]
    (failed,) = of(events, Failed)
    assert isinstance(failed, Failed)
    assert (failed.kind, failed.text, events[-1]) == ("authentication", "401 scripted error", failed)


def test_copilots_record_tells_prompts_tools_answers_and_what_failed() -> None:
    events = Copilot().record(FIXTURES / "copilot" / "events.jsonl").read().events
    assert [str(event.text)[:6] for event in events if isinstance(event, Prompted)] == ["First ", "Second", "x\n@@er"]
    assert [event.text for event in events if isinstance(event, Said)] == ["First done.", "Second done."]
    assert [event.tool for event in events if isinstance(event, ToolCalled)] == ["bash"]
    assert [event.used for event in events if isinstance(event, Used)] == [13_040, 17_040, 45_040]
    (failed,) = of(events, Failed)
    assert isinstance(failed, Failed)
    assert failed.kind == "authentication"


def test_aiders_history_tells_prompts_and_answers_and_not_its_long_command_line() -> None:
    events = Aider().record(FIXTURES / "aider" / "chat.history.md").read().events
    assert [type(event) for event in events] == [Prompted, Said, Used] * 3
    prompts = [event.text for event in events if isinstance(event, Prompted)]
    assert prompts[0] == "-- First.\n  indented\n@@shell echo hi\n@@say First done."
    assert {event.text for event in events if isinstance(event, Said)} == {"SCRIPTED SUMMARY of the conversation"}


def test_what_aiders_history_told_is_not_told_again(tmp_path: Path) -> None:
    path = tmp_path / "history.md"
    history = History(path)
    assert history.read().events == ()
    path.write_text("#### one\n\nyes\n\n> Tokens: 1.5k sent, 40 received.\n", encoding="utf-8")
    assert [type(event) for event in history.read().events] == [Prompted, Said, Used]
    with path.open("a", encoding="utf-8") as file:
        file.write("\n#### two\n\n> litellm.RateLimitError: slow down\n")
    prompted, failed = history.read().events
    assert isinstance(prompted, Prompted)
    assert isinstance(failed, Failed)
    assert (prompted.text, failed.kind) == ("two", "rate_limit")
    path.write_text("#### another\n", encoding="utf-8")
    assert history.read().reset


def test_a_compaction_is_told_and_the_usage_is_unknown_until_the_next_answer(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    shutil.copyfile(FIXTURES / "qwen" / f"{QWEN_ID}.jsonl", path)
    record = Qwen().record(path)
    record.read()
    with path.open("a", encoding="utf-8") as file:
        file.write('{"type":"system","subtype":"chat_compression","systemPayload":{"info":{"originalTokenCount":9}}}\n')
    assert record.read().events == (Compacted(0.0, "auto", 9),)


def test_qwen_prints_what_it_says_and_does_and_nothing_of_its_usage_is_heard() -> None:
    run = QwenHeadless()
    printed = (FIXTURES / "qwen" / "stdout-tools.jsonl").read_bytes().splitlines()
    events = [event for line in printed for event in run.hear(line, 7.0)]
    kinds = [type(event) for event in events]
    assert kinds == [ToolCalled, ToolReturned, ToolCalled, ToolReturned, Said, TurnEnded]
    assert (run.told.agent_session, run.told.model) == (QWEN_ID, "scripted-1")


def test_copilot_prints_its_events_and_says_at_the_end_whether_all_went_well() -> None:
    for name, last in (("stdout-tools", TurnEnded), ("stdout-error", Failed)):
        printed = (FIXTURES / "copilot" / f"{name}.jsonl").read_bytes().splitlines()
        events = [event for line in printed for event in CopilotHeadless().hear(line, 7.0)]
        assert isinstance(events[-1], last)
        assert not of(tuple(events), Used)


def test_aider_goes_on_only_with_a_history_that_is_there(tmp_path: Path) -> None:
    program = tmp_path / "aider"
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    env = {"PATH": str(tmp_path)}
    with pytest.raises(LaunchError, match="no chat history"):
        agents.headless("aider").command(HeadlessOrder("go", tmp_path, env, resume=str(tmp_path / "none.md")))
    fresh = agents.headless("aider")
    assert "--restore-chat-history" not in fresh.command(HeadlessOrder("go", tmp_path, env)).argv
    assert fresh.told.agent_session == str(tmp_path / ".aider.chat.history.md")
