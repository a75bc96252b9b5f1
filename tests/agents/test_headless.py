"""What agents print in headless runs, as events; and how each is started."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from batonpass import agents
from batonpass.agents.base import NotInstalled
from batonpass.agents.claude.headless import ClaudeHeadless
from batonpass.agents.codex.headless import CodexHeadless
from batonpass.agents.gemini.headless import GeminiHeadless
from batonpass.agents.headless import Headless, HeadlessOrder
from batonpass.agents.opencode.headless import OpenCodeHeadless
from batonpass.agents.setbacks import TriesAgain
from batonpass.agents.wishes import Approval
from batonpass.transcripts.events import Event, Failed, Said, ToolCalled, ToolReturned, TurnEnded, Used

_CHOSEN = {"aider": "--chat-history-file", "opencode": "--session"}
FIXTURES = Path(__file__).parents[1] / "fixtures"


def heard(run: Headless, *lines: bytes) -> list[Event]:
    return [event for line in lines for event in run.hear(line, 7.0)]


def lines(*of: object) -> list[bytes]:
    return [json.dumps(one).encode() for one in of]


def order(tmp_path: Path, *, prompt: str = "go", **more: object) -> HeadlessOrder:
    """An order in an environment in which every agent is installed."""
    for name in agents.headless_names():
        program = tmp_path / name
        program.write_text("#!/bin/sh\n", encoding="utf-8")
        program.chmod(0o755)
    env = {"PATH": str(tmp_path), "HOME": str(tmp_path), "CLAUDECODE": "1", "CODEX_THREAD_ID": "x", "TMUX_PANE": "%1"}
    return HeadlessOrder(prompt, tmp_path, env, **more)  # type: ignore[arg-type]


def test_every_agent_that_is_driven_can_also_run_headless() -> None:
    assert set(agents.names()) - {"understudy"} <= set(agents.headless_names())
    for name in agents.headless_names():
        assert agents.headless(name).name == name
        assert agents.headless(name).reads.name == name


def test_an_unknown_agent_is_an_error_that_names_those_that_can_run_headless() -> None:
    with pytest.raises(agents.UnknownAgent, match="no agent called 'clod'; choose one of: claude, codex"):
        agents.headless("clod")


@pytest.mark.parametrize("name", [name for name in agents.headless_names() if name != "aider"])
def test_a_prompt_of_any_length_and_kind_reaches_the_agent_as_it_is(name: str, tmp_path: Path) -> None:
    prompt = "-- --help \N{SNOWMAN}\n" * 20_000
    command = agents.headless(name).command(order(tmp_path, prompt=prompt))
    assert command.stdin == prompt.encode()
    assert not [word for word in command.argv if "SNOWMAN" in word or len(word) > 4096]


@pytest.mark.parametrize("name", agents.headless_names())
def test_the_marks_of_a_surrounding_session_are_left_behind(name: str, tmp_path: Path) -> None:
    command = agents.headless(name).command(order(tmp_path))
    own: Mapping[str, set[str]] = {"claude": {"CLAUDECODE", "TMUX_PANE"}, "codex": {"CODEX_THREAD_ID", "TMUX_PANE"}}
    assert not own.get(name, {"TMUX_PANE"}) & set(command.env)


@pytest.mark.parametrize("name", agents.headless_names())
def test_what_is_asked_for_is_on_the_command_line(name: str, tmp_path: Path) -> None:
    talk = tmp_path / "3af9dc71-d672-4ccd-be73-af21fd56e563"
    talk.touch()
    wanted = str(talk) if name == "aider" else talk.name
    asked = order(tmp_path, resume=wanted, model="big-1", args=("--extra", "word"))
    joined = " ".join(agents.headless(name).command(asked).argv).replace("=", " ")
    assert f"{_CHOSEN.get(name, 'resume')} {wanted}" in joined
    assert "--model big-1" in joined
    assert "--extra word" in joined


@pytest.mark.parametrize("name", agents.headless_names())
def test_more_than_the_agent_does_unasked_is_allowed_only_when_asked_for(name: str, tmp_path: Path) -> None:
    given = {
        approval: set(agents.headless(name).command(order(tmp_path, approval=approval)).argv) for approval in Approval
    }
    told_apart = 2 if name == "opencode" else 3  # opencode edits unasked
    assert len({frozenset(given[approval]) for approval in (Approval.ASK, Approval.EDITS, Approval.ALL)}) == told_apart
    risky = [
        word
        for word in given[Approval.ASK]
        if "dangerously" in word or "bypass" in word or "yolo" in word or "yes" in word
    ]
    assert not risky


@pytest.mark.parametrize("name", ["claude", "codex", "gemini", "opencode", "qwen", "copilot"])
def test_an_agent_that_is_not_installed_is_said_with_the_command_that_installs_it(name: str, tmp_path: Path) -> None:
    with pytest.raises(NotInstalled, match="npm install -g"):
        agents.headless(name).command(HeadlessOrder("go", tmp_path, {"PATH": str(tmp_path / "nothing")}))


@pytest.mark.parametrize("name", agents.headless_names())
def test_what_nobody_foresaw_is_passed_over(name: str) -> None:
    run = agents.headless(name)
    odd = [b"", b"\xff\xfe", b"[]", b"7", b'{"type": []}', b'{"type": "result"', b'{"type":"item.completed","item":3}']
    assert not [event for event in heard(run, *odd, b"[" * 100_000) if not isinstance(event, TurnEnded | Failed)]
    assert run.told.agent_session is None


@pytest.mark.parametrize(("version", "model", "window"), [
    ("2.1.197", "claude-opus-4-8", 200_000),
    ("2.1.325", "claude-opus-5-5", 1_000_000),
])  # fmt: skip
def test_claude_tells_conversation_model_window_and_what_it_says(version: str, model: str, window: int) -> None:
    run = ClaudeHeadless()
    printed = (FIXTURES / "claude-code" / version / "stream_json_stdout.jsonl").read_bytes().splitlines()
    events = heard(run, *printed[:3])
    assert events == [Said(7.0, "hello", events[0].message_id), TurnEnded(7.0)]  # type: ignore[attr-defined]
    assert run.told.agent_session == json.loads(printed[0])["session_id"]
    assert (run.told.model, run.told.window) == (model, window)


def test_claudes_tools_are_told_and_its_sub_agents_and_half_counted_usage_are_not() -> None:
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
    back = {"type": "tool_result", "tool_use_id": "t1", "content": "README.md"}
    usage = {"input_tokens": 3, "output_tokens": 1}
    mine = {"type": "assistant", "message": {"id": "m", "model": "x", "content": [call], "usage": usage}}
    subs = {**mine, "parent_tool_use_id": "t9"}
    events = heard(ClaudeHeadless(), *lines(mine, subs, {"type": "user", "message": {"content": [back]}}))
    assert events == [ToolCalled(7.0, "t1", "Bash", {"command": "ls"}), ToolReturned(7.0, "t1", True, "README.md")]
    assert not [event for event in events if isinstance(event, Used)]


def test_a_failed_turn_of_claude_is_told_with_its_words() -> None:
    result = {"type": "result", "subtype": "success", "is_error": True, "result": "API Error: 529", "session_id": "s"}
    assert heard(ClaudeHeadless(), *lines(result)) == [Failed(7.0, "other", "API Error: 529")]


def test_codex_tells_conversation_tools_and_what_it_says_and_no_warning_is_an_error() -> None:
    run = CodexHeadless()
    events = heard(run, *(FIXTURES / "codex" / "exec-json-first.jsonl").read_bytes().splitlines())
    command = {"command": "/bin/bash -lc 'echo hi'"}
    assert events == [
        ToolCalled(7.0, "item_2", "command_execution", command),
        ToolReturned(7.0, "item_2", True, "hi\n"),
        Said(7.0, "First done.", "item_3"),
        TurnEnded(7.0),
    ]
    assert run.told.agent_session == "01a1e0af-0b64-7b12-afb5-e4364be1ce29"


def test_codexs_sub_agents_are_a_tool_like_others() -> None:
    events = heard(CodexHeadless(), *(FIXTURES / "codex" / "exec-json-subagent.jsonl").read_bytes().splitlines())
    assert [event.tool for event in events if isinstance(event, ToolCalled)] == [
        "collab_tool_call",
        "command_execution",
    ]
    assert [event.text for event in events if isinstance(event, Said)] == ["Parent done."]


def test_a_failed_turn_of_codex_is_told_with_its_words() -> None:
    said = {"type": "turn.failed", "error": {"message": "stream disconnected"}}
    assert heard(CodexHeadless(), *lines(said)) == [Failed(7.0, "other", "stream disconnected")]


def test_gemini_tells_conversation_tools_and_its_words_as_one_text() -> None:
    run = GeminiHeadless()
    events = heard(run, *(FIXTURES / "gemini" / "stdout-stream-json.jsonl").read_bytes().splitlines())
    call = "run_shell_command__574a2c23d14f"
    assert events == [
        ToolCalled(7.0, call, "run_shell_command", {"command": "echo hi", "description": "scripted"}),
        ToolReturned(7.0, call, True, "hi"),
        Said(7.0, "First done.", ""),
        TurnEnded(7.0),
    ]
    assert (run.told.agent_session, run.told.model) == ("3af9dc71-d672-4ccd-be73-af21fd56e563", "gemini-2.5-pro")


def test_geminis_sub_agents_are_a_tool_like_others() -> None:
    run = GeminiHeadless()
    events = heard(run, *(FIXTURES / "gemini" / "stdout-stream-json-subagent.jsonl").read_bytes().splitlines())
    assert [type(event) for event in events] == [ToolCalled, ToolReturned, Said, TurnEnded]


def test_a_failed_run_of_gemini_is_told_with_its_words() -> None:
    said = {
        "type": "result",
        "status": "error",
        "error": {"type": "FatalError", "message": "no such tool"},
        "stats": {},
    }
    assert heard(GeminiHeadless(), *lines(said)) == [Failed(7.0, "other", "no such tool")]


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ('{"error":{"code":401,"message":"API key not valid.","status":"UNAUTHENTICATED"}}', "authentication"),
        ("The model is overloaded. Please try again later.", "overloaded"),
        ('{"error":{"code":400,"message":"The input token count (7) exceeds the maximum (6)."}}', "too_long"),
        ('{"error":{"code":429,"message":"Resource has been exhausted (e.g. check quota)."}}', "rate_limit"),
    ],
)
def test_geminis_failures_are_told_apart_by_their_words(words: str, kind: str) -> None:
    said = {"type": "result", "status": "error", "error": {"type": "unknown", "message": f"[API Error: {words}]"}}
    assert heard(GeminiHeadless(), *lines(said)) == [Failed(7.0, kind, f"[API Error: {words}]")]


def test_gemini_is_overheard_when_it_tries_again_by_itself() -> None:
    run, words = GeminiHeadless(), '_ApiError: {"error":{"code":429,"message":"Resource has been exhausted"}}'
    first = f"Attempt 2 failed with status 429. Retrying with backoff... {words}".encode()
    assert run.overhear(first, 7.0) == TriesAgain(Failed(7.0, "rate_limit", f"with status 429 {words}"))
    second = b"Attempt 1 failed: You exceeded your current quota. Retrying after 3600500ms..."
    assert run.overhear(second, 7.0) == TriesAgain(Failed(7.0, "rate_limit", "You exceeded your current quota"), 3607.5)
    assert run.overhear(b"Attempt 10 failed: it is over. Max attempts reached", 7.0) is None


def test_opencode_tells_conversation_tools_and_what_it_says() -> None:
    run = OpenCodeHeadless()
    events = heard(run, *(FIXTURES / "opencode" / "run-format-json.jsonl").read_bytes().splitlines())
    assert events == [
        ToolCalled(7.0, "call_c655cf3d813a4f248f33", "bash", {"command": "echo hi"}),
        ToolReturned(7.0, "call_c655cf3d813a4f248f33", True, "hi\n"),
        Said(7.0, "Done.", "msg_1e0b484c1001vZu0w77eRnrHK5"),
        TurnEnded(7.0),
    ]
    assert run.told.agent_session == "ses_e1f4b8883ffegmsp2P2ohJEQy2"


def test_a_failed_run_of_opencode_is_told_with_its_words() -> None:
    error = {"name": "APIError", "data": {"message": "Incorrect API key provided.", "statusCode": 401}}
    said = {"type": "error", "sessionID": "ses_1", "error": error}
    assert heard(OpenCodeHeadless(), *lines(said)) == [Failed(7.0, "authentication", "Incorrect API key provided.")]


@pytest.mark.parametrize(
    ("words", "kind"),
    [("Slow down.", "rate_limit"), ("The engine is overloaded.", "overloaded"), ('"a" b', "rate_limit")],
)
def test_opencode_is_overheard_when_it_tries_again_by_itself(words: str, kind: str) -> None:
    def logged(small: str) -> bytes:
        said = json.dumps(f"AI_APICallError: {words}")
        return f'level=ERROR message="stream error" small={small} agent=build mode=primary error.error={said}'.encode()

    assert OpenCodeHeadless().overhear(logged("false"), 7.0) == TriesAgain(Failed(7.0, kind, words))
    assert OpenCodeHeadless().overhear(logged("true"), 7.0) is None  # it makes a title, which nobody waits for
