"""The adapter of the scripted agent: what it reads, and what it says how to start."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from batonpass.agents.base import Agent, BackgroundTask, Binding, Box, BoxState, HookKind, LaunchOrder
from batonpass.agents.scripted import Scripted
from batonpass.reading import Source
from batonpass.session import State
from batonpass.sim.agent_options import parse
from batonpass.sim.agent_record import StateFile, proc_start
from batonpass.terminals.base import Screen
from batonpass.transcripts.events import (
    Compacted,
    Event,
    Failed,
    Interrupted,
    Notice,
    Origin,
    Prompted,
    Said,
    ToolCalled,
    ToolReturned,
    TurnEnded,
    Used,
)

SCRIPTED: Agent = Scripted()
NEWS = "<task-notification><task-id>b1</task-id><status>failed</status></task-notification>"


@pytest.fixture
def order(tmp_path: Path) -> LaunchOrder:
    return LaunchOrder(
        session="s1",
        folder=tmp_path / "folder",
        project=tmp_path,
        args=(),
        env={
            "HOME": str(tmp_path),
            "TMUX_PANE": "%9",
            "BATON_SCRIPTED_WINDOW": "100000",
            "PYTHONPATH": "/mine",
        },
        draft_dir=tmp_path / ".baton" / "drafts",
        hook=("baton", "hook"),
        statusline=("baton", "statusline"),
    )


def _line(event: str, **fields: object) -> bytes:
    return json.dumps({"event": event, "at": 5.0, **fields}).encode()


@pytest.mark.parametrize(
    ("line", "event"),
    [
        (
            _line("prompted", text="hi", origin="system", prompt_id="p"),
            Prompted(5.0, "hi", Origin.SYSTEM, "p"),
        ),
        (
            _line("prompted", text=NEWS, origin="system"),
            Prompted(5.0, NEWS, Origin.SYSTEM, None, Notice("b1", "", "failed")),
        ),
        (_line("said", text="yes", message_id="m"), Said(5.0, "yes", "m")),
        (
            _line("tool_called", call_id="c", tool="write", arguments={"path": "/x"}),
            ToolCalled(5.0, "c", "write", {"path": "/x"}),
        ),
        (_line("tool_returned", call_id="c", ok=True, text="done"), ToolReturned(5.0, "c", True, "done")),
        (_line("used", used=7, output=2, model="m1", message_id="m"), Used(5.0, 7, 2, "m1", "m")),
        (_line("compacted", trigger="auto", before=9), Compacted(5.0, "auto", 9)),
        (_line("failed", kind="overloaded", text="busy"), Failed(5.0, "overloaded", "busy")),
        (_line("turn_ended"), TurnEnded(5.0)),
        (_line("interrupted"), Interrupted(5.0)),
    ],
)
def test_every_event_of_the_transcript_is_understood(line: bytes, event: Event) -> None:
    assert list(SCRIPTED.reader()(line)) == [event]


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{torn",
        b"[]",
        b"\xff\xfe",
        b'{"event":"said"}',
        _line("context", text="x"),
        _line("used", used="7"),
    ],
)
def test_other_lines_say_nothing(line: bytes) -> None:
    assert list(SCRIPTED.reader()(line)) == []


def test_a_stop_report_is_understood() -> None:
    shell = {"id": "b1", "kind": "shell", "state": "running", "description": "make"}
    report = SCRIPTED.report(
        {
            "hook": "stop",
            "session": "abc",
            "transcript": "/t/abc.jsonl",
            "prompt_id": "p",
            "last_message": "done",
            "continued": True,
            "background": [shell],
            "model": "m1",
            "permission_mode": "plan",
        }
    )
    assert report is not None
    assert (report.kind, report.agent_session, report.transcript) == (
        HookKind.STOP,
        "abc",
        Path("/t/abc.jsonl"),
    )
    assert (report.prompt_id, report.last_message, report.continued) == ("p", "done", True)
    assert report.background == (BackgroundTask("b1", "shell", "running", "make"),)
    assert (report.model, report.permission_mode) == ("m1", "plan")


@pytest.mark.parametrize(
    ("prompt", "origin", "requested"),
    [
        ("/handoff", "human", ""),
        ("/handoff end of day", "human", "end of day"),
        ("/handoffs", "human", None),
        ("say /handoff", "human", None),
        ("/handoff", "system", None),
    ],
)
def test_only_the_users_own_command_asks_for_a_handoff(prompt: str, origin: str, requested: str | None) -> None:
    report = SCRIPTED.report({"hook": "prompt", "session": "abc", "prompt": prompt, "origin": origin})
    assert report is not None
    assert report.handoff_requested == requested


def test_a_payload_of_something_else_says_nothing() -> None:
    assert SCRIPTED.report({"hook": "stop"}) is None
    assert SCRIPTED.report({"session": "abc"}) is None


def test_the_end_of_a_conversation_tells_its_reason() -> None:
    report = SCRIPTED.report({"hook": "session_end", "session": "abc", "reason": "clear"})
    assert report is not None
    assert (report.kind, report.source) == (HookKind.SESSION_END, "clear")


def test_the_status_line_gives_a_reading_of_the_usable_window() -> None:
    payload = {"session": "abc", "used": 83_500, "window": 200_000, "model": "m1"}
    reading = SCRIPTED.statusline(payload, 9.0, {})
    assert reading is not None
    assert (reading.used, reading.window, reading.usable, reading.percent) == (83_500, 200_000, 167_000, 50.0)
    assert (reading.source, reading.at, reading.model) == (Source.STATUSLINE, 9.0, "m1")


def test_unknown_usage_is_not_zero() -> None:
    reading = SCRIPTED.statusline({"session": "abc", "used": None, "window": 200_000}, 9.0, {})
    assert reading is not None
    assert reading.used is None
    assert SCRIPTED.statusline({}, 9.0, {}) is None


def test_the_screen_gives_a_reading() -> None:
    reading = SCRIPTED.screen_reading(Screen(("  m1 · context: 45.2k tokens (23%)",), 0, 0), 9.0, "abc")
    assert reading is not None
    assert (reading.used, reading.window, reading.source) == (45_200, 200_000, Source.SCREEN)
    assert SCRIPTED.screen_reading(Screen(("context: unknown",), 0, 0), 9.0, "abc") is None


def test_windows_and_limits_follow_model_and_environment() -> None:
    assert SCRIPTED.window("scripted-1", {}) == 200_000
    assert SCRIPTED.window("scripted-1[1m]", {}) == 1_000_000
    assert SCRIPTED.window(None, {"BATON_SCRIPTED_WINDOW": "50000"}) == 50_000
    assert SCRIPTED.usable(200_000, {}) == 167_000
    assert SCRIPTED.usable(200_000, {"BATON_SCRIPTED_NO_COMPACT": "1"}) == 177_000


def test_a_launch_writes_settings_and_binds_the_conversation(order: LaunchOrder) -> None:
    launch = SCRIPTED.launch(order)
    assert launch.argv[:3] == (sys.executable, "-m", "batonpass.sim.agent")
    options = parse(launch.argv[3:], launch.env)
    assert options.session_id == launch.agent_session
    assert launch.transcript == Path(options.home) / "transcripts" / f"{launch.agent_session}.jsonl"
    assert options.settings
    settings = json.loads(Path(options.settings).read_text(encoding="utf-8"))
    assert Path(options.settings).parent == order.folder
    assert Path(options.settings).stat().st_mode & 0o077 == 0
    assert settings["hooks"]["stop"] == [["baton", "hook", "ask"]]
    assert settings["hooks"]["session_start"] == [["baton", "hook", "prime", str(part)] for part in (1, 2, 3)]
    assert settings["hooks"]["permission"] == [["baton", "hook", "permit"]]
    assert settings["hooks"]["prompt"] == [["baton", "hook", "note"]]
    assert settings["statusline"] == ["baton", "statusline"]
    assert settings["allow"] == [str(order.draft_dir)]


def test_the_child_finds_the_package_and_the_users_settings(order: LaunchOrder) -> None:
    launch = SCRIPTED.launch(order)
    assert launch.env["BATON_SCRIPTED_WINDOW"] == "100000"
    assert launch.env["PYTHONPATH"].split(os.pathsep)[-1] == "/mine"
    assert "TMUX_PANE" not in launch.env
    code = "import batonpass.sim.agent"
    subprocess.run([sys.executable, "-c", code], env=dict(launch.env), cwd="/", check=True)


def test_the_users_arguments_are_kept(order: LaunchOrder) -> None:
    order = replace(order, args=("--model", "big[1m]", "--no-compact", "--session-id=mine", "fix it"), model="other")
    launch = SCRIPTED.launch(order)
    options = parse(launch.argv[3:], {})
    assert (options.model, options.compact, options.prompt) == ("big[1m]", False, "fix it")
    assert launch.agent_session == options.session_id == "mine"


def test_a_restart_gives_the_kick_and_a_fresh_conversation(order: LaunchOrder) -> None:
    args = ("--session-id", "mine", "--model", "old", "--window=90000", "fix it")
    order = replace(order, args=args, kick="[baton 7f3a91c2 kick 1] --go on", model="new", permission_mode="plan")
    launch = SCRIPTED.launch(order)
    options = parse(launch.argv[3:], {})
    assert options.prompt == "[baton 7f3a91c2 kick 1] --go on"
    assert (options.model, options.permission_mode, options.window) == ("new", "plan", 90_000)
    assert launch.agent_session == options.session_id
    assert launch.agent_session != "mine"


def test_the_way_back_resumes_by_id_and_repeats_no_prompt(order: LaunchOrder) -> None:
    launch = SCRIPTED.launch(replace(order, args=("--", "fix it"), resume="old"))
    options = parse(launch.argv[3:], {})
    assert (options.resume, options.session_id, options.prompt) == ("old", None, None)
    assert launch.agent_session == "old"


def _binding(home: Path, pid: int | None) -> Binding:
    return Binding(pid, "abc", home / "transcripts" / "abc.jsonl", home, {})


def test_the_state_file_tells_the_state(tmp_path: Path) -> None:
    binding = _binding(tmp_path, os.getpid())
    assert SCRIPTED.status(binding).state is State.UNKNOWN
    state = StateFile(str(tmp_path))
    for said, expected in (("idle", State.IDLE), ("busy", State.BUSY), ("waiting", State.WAITING)):
        state.put("abc", said, "permission prompt" if said == "waiting" else None)
        assert SCRIPTED.status(binding).state is expected
    assert SCRIPTED.status(binding).waiting_for == "permission prompt"
    state.put("def", "shell")
    status = SCRIPTED.status(binding)
    assert (status.state, status.agent_session, status.background) == (State.IDLE, "def", True)
    assert SCRIPTED.state_files(binding) == [tmp_path / "state" / f"{os.getpid()}.json"]


def test_a_state_file_of_a_process_that_is_gone_says_dead(tmp_path: Path) -> None:
    gone = subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE)
    started = proc_start(gone.pid)
    state = tmp_path / "state" / f"{gone.pid}.json"
    state.parent.mkdir()
    state.write_text(json.dumps({"session": "abc", "status": "busy", "proc_start": started}), encoding="utf-8")
    assert SCRIPTED.status(_binding(tmp_path, gone.pid)).state is State.BUSY
    assert gone.stdin is not None
    gone.stdin.close()
    os.waitid(os.P_PID, gone.pid, os.WEXITED | os.WNOWAIT)  # ended, and its parent has not taken note
    assert SCRIPTED.status(_binding(tmp_path, gone.pid)).state is State.DEAD
    gone.wait()
    assert SCRIPTED.status(_binding(tmp_path, gone.pid)).state is State.DEAD


def test_a_state_file_of_another_process_with_that_pid_says_dead(tmp_path: Path) -> None:
    StateFile(str(tmp_path)).put("abc", "idle")
    file = tmp_path / "state" / f"{os.getpid()}.json"
    told = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**told, "proc_start": "1"}), encoding="utf-8")
    assert SCRIPTED.status(_binding(tmp_path, os.getpid())).state is State.DEAD
    assert SCRIPTED.status(_binding(tmp_path, None)).state is State.UNKNOWN


def test_a_torn_state_file_says_unknown(tmp_path: Path) -> None:
    file = tmp_path / "state" / f"{os.getpid()}.json"
    file.parent.mkdir()
    file.write_text('{"pid": 1, "stat', encoding="utf-8")
    assert SCRIPTED.status(_binding(tmp_path, os.getpid())).state is State.UNKNOWN


def test_no_agent_is_found_in_another_program() -> None:
    assert SCRIPTED.find(os.getpid()) is None
    assert SCRIPTED.find(2**22 + 1) is None


def test_a_process_is_named_by_pid_and_start() -> None:
    assert proc_start(os.getpid()) == proc_start(os.getpid())
    assert proc_start(2**22 + 1) is None


RULE = "\x1b[38;5;245m" + "─" * 40 + "\x1b[0m"


@pytest.mark.parametrize(
    ("rows", "caret", "box"),
    [
        ((RULE, "❯", RULE, "  m1"), 2, Box(BoxState.EMPTY)),
        ((RULE, "❯ ", RULE, "  m1"), 5, Box(BoxState.TEXT, "")),
        ((RULE, "❯ hello", RULE), 7, Box(BoxState.TEXT, "hello")),
        ((RULE, "❯ one", "  two", RULE), 5, Box(BoxState.TEXT, "one\ntwo")),
        (("said:", RULE, "more", RULE, RULE, "❯ ", RULE), 2, Box(BoxState.EMPTY)),
        (("no box at all",), 2, Box(BoxState.UNKNOWN)),
        ((" Do you want to create x?", " ❯ 1. Yes", "   2. No, Esc to cancel"), 1, Box(BoxState.UNKNOWN)),
    ],
)
def test_the_box_is_read_from_the_screen(rows: tuple[str, ...], caret: int, box: Box) -> None:
    assert SCRIPTED.box(Screen(rows, caret, 1)) == box


def test_a_dialog_is_seen_and_talk_about_one_is_not() -> None:
    rows = (" Do you want to create x?", " ❯ 1. Yes", "   2. No, Esc to cancel", "")
    assert SCRIPTED.dialog(Screen(rows, 1, 2)) == "Do you want to create x?"
    talk = ("● 2. No, Esc to cancel", RULE, "❯ ", RULE, "  m1")
    assert SCRIPTED.dialog(Screen(talk, 2, 2)) is None
