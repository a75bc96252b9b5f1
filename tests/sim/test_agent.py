"""The scripted agent as its user meets it: keys in, conversation and screen out."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sim.played import ROOT, Played

SLOW = {"text": "one two three four", "chunks": 4, "chunk_delay": 60.0}


def test_a_prompt_is_answered_and_recorded(agent: Played) -> None:
    agent.start(replies=[{"text": "Hello.", "used": 21_000, "output": 7}])
    agent.until_state("idle")
    agent.type("hi\r")
    agent.until_event("turn_ended")
    kinds = [line["event"] for line in agent.events()]
    assert kinds == ["session", "prompted", "said", "used", "turn_ended"]
    prompted, said, used = agent.events()[1:4]
    assert (prompted["text"], prompted["origin"]) == ("hi", "human")
    assert said["text"] == "Hello."
    assert (used["used"], used["output"], used["message_id"]) == (21_000, 7, said["message_id"])
    agent.until_shown("● Hello.")


def test_a_prompt_on_the_command_line_is_sent_after_the_start_hooks(agent: Played) -> None:
    settings = agent.settings(session_start={"context": "the handoff text"})
    agent.start("--session-id=abc", "--", "carry on", settings=settings)
    agent.until_event("turn_ended")
    assert [hook["hook"] for hook in agent.hooks()] == ["session_start", "prompt", "stop"]
    assert agent.hooks()[0]["source"] == "startup"
    assert agent.asked()[0]["context"] == "the handoff text\n\ncarry on"
    assert {hook["session"] for hook in agent.hooks()} == {"abc"}
    assert agent.transcript("abc")


def test_the_state_file_names_the_process_and_the_conversation(agent: Played) -> None:
    agent.start("--session-id=abc")
    agent.until_state("idle")
    state = agent.state()
    assert (state["pid"], state["session"]) == (agent.pid, "abc")
    assert state["proc_start"] == Path(f"/proc/{agent.pid}/stat").read_text(encoding="utf-8").split()[21]


def test_a_paste_never_submits_and_arrives_whole(agent: Played) -> None:
    agent.start()
    agent.until_state("idle")
    agent.paste("first\rsecond\r")
    agent.until_shown("second")
    assert not agent.events("prompted")
    agent.type("\r")
    assert agent.until_event("prompted")[0]["text"] == "first\nsecond"


def test_ctrl_c_clears_the_box_and_twice_leaves(agent: Played) -> None:
    agent.start()
    agent.until_state("idle")
    agent.type("half a thought\x03whole\r")
    assert agent.until_event("prompted")[0]["text"] == "whole"
    agent.until_state("idle")
    agent.type("\x03\x03")
    assert agent.until_end() == 0
    assert agent.hooks("session_end")[0]["reason"] == "prompt_input_exit"
    assert not agent.state_file.exists()


def test_escape_interrupts_a_turn_without_a_stop_hook(agent: Played) -> None:
    agent.start("--", "go", replies=[SLOW])
    agent.until_shown("one")
    agent.type("\x1b")
    agent.until_event("interrupted")
    agent.until_state("idle")
    assert agent.events("said")[0]["text"] == "one "
    assert not agent.hooks("stop")
    assert not agent.events("turn_ended")


def test_escape_ends_a_running_command(agent: Played) -> None:
    agent.start("--", "go", replies=[{"tools": [["shell", {"command": "echo $$ > pid; exec sleep 600"}]]}])
    pid_file = agent.project / "pid"
    agent.until(lambda: pid_file.exists() and pid_file.read_text(encoding="utf-8").strip(), "the command")
    agent.type("\x1b")
    agent.until_event("interrupted")
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid_file.read_text(encoding="utf-8")), 0)


def test_prompts_typed_while_busy_run_afterwards_and_unsent_text_stays(agent: Played) -> None:
    until = agent.folder / "go-on"
    agent.start("--", "first", faults=[{"fault": "hang", "until": str(until), "turn": 1}])
    agent.until_event("prompted")
    agent.type("second\rthird is not sent")
    agent.until_shown("third is not sent")
    assert len(agent.events("prompted")) == 1
    until.touch()
    agent.until_event("turn_ended", 2)
    assert [line["text"] for line in agent.events("prompted")] == ["first", "second"]
    agent.type("\r")
    assert agent.until_event("prompted", 3)[2]["text"] == "third is not sent"


def test_a_stop_hook_can_continue_the_same_turn(agent: Played) -> None:
    agent.start("--", "go", settings=agent.settings(stop={"decision": "block", "reason": "write it down"}))
    agent.until_event("turn_ended")
    first, second = agent.events("prompted")
    assert (second["text"], second["origin"]) == ("Stop hook feedback:\nwrite it down", "hook")
    assert second["prompt_id"] == first["prompt_id"]
    assert [hook["continued"] for hook in agent.hooks("stop")] == [False, True]
    assert agent.hooks("stop")[0]["last_message"] == "heard: go"
    assert len(agent.events("turn_ended")) == 1


def test_a_stop_hook_that_never_lets_go_is_overruled(agent: Played) -> None:
    settings = agent.settings()
    settings["hooks"]["stop"] = ["/bin/echo", '{"decision": "block", "reason": "again"}']
    agent.start("--", "go", settings=settings)
    agent.until_event("turn_ended")
    assert len(agent.events("prompted")) == 9


@pytest.mark.parametrize(
    "hook",
    [
        ["/bin/false"],
        ["/bin/sh", "-c", 'echo \'{"decision": "block", "reason": "no"}\'; exit 1'],
        ["/bin/echo", "{torn"],
        ["/no/such/program"],
        ["/bin/sh", "-c", "kill -9 $$"],
    ],
)
def test_a_hook_that_fails_changes_nothing(agent: Played, hook: list[str]) -> None:
    settings = {"hooks": dict.fromkeys(("session_start", "prompt", "stop"), hook)}
    agent.start("--", "go", settings=settings)
    agent.until_event("turn_ended")
    assert [line["text"] for line in agent.events("said")] == ["heard: go"]


def test_a_hook_that_leaves_a_daemon_behind_does_not_hold_the_turn(agent: Played) -> None:
    settings = agent.settings()
    settings["hooks"]["stop"] = ["/bin/sh", "-c", "sleep 600 & echo $! > daemon"]
    agent.start("--", "go", settings=settings)
    agent.until_event("turn_ended")
    os.kill(int((agent.project / "daemon").read_text(encoding="utf-8")), signal.SIGKILL)


def test_what_a_prompt_hook_says_stands_beside_the_prompt(agent: Played) -> None:
    agent.start("--", "go", settings=agent.settings(prompt={"context": "60 % full"}))
    agent.until_event("turn_ended")
    assert agent.asked()[0]["context"] == "go\n\n60 % full"


def test_tools_are_run_and_their_results_go_back_to_the_model(agent: Played) -> None:
    tools = [["shell", {"command": "echo out; echo err >&2; exit 3"}], ["dance", {}]]
    agent.start("--", "go", replies=[{"text": "Trying.", "tools": tools}])
    agent.until_event("turn_ended")
    first, second = agent.events("tool_returned")
    assert (first["ok"], first["text"]) == (False, "out\nerr")
    assert not second["ok"]
    assert agent.asked()[1]["tool_results"] == [first["text"], second["text"]]
    assert agent.asked()[1]["text"] == "go"
    assert [hook["tool"] for hook in agent.hooks("tool")] == ["shell", "dance"]


def test_the_status_line_command_is_told_and_shown(agent: Played) -> None:
    settings = {"statusline": ["/bin/sh", "-c", "tee -a line.jsonl | cut -c1-300; echo >> line.jsonl"]}
    agent.start("--session-id=abc", "--", "go", replies=[{"text": "x", "used": 45_200}], settings=settings)
    agent.until_shown('"used": 45200, "window": 200000, "model": "scripted-1"')
    agent.until_shown("context: 45.2k tokens (23%)")
    assert '"session": "abc", "used": null' in (agent.project / "line.jsonl").read_text(encoding="utf-8")


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_ends_it_in_order_also_while_busy(agent: Played, number: signal.Signals, status: int) -> None:
    agent.start("--", "go", replies=[SLOW])
    agent.until_shown("one")
    os.kill(agent.pid, number)
    assert agent.until_end() == status
    assert agent.hooks("session_end")[0]["reason"] == "other"
    assert not agent.state_file.exists()


def test_a_window_that_changes_its_size_is_drawn_again(agent: Played) -> None:
    agent.start("--", "go")
    agent.until_event("turn_ended")
    agent.resize(60, 20)
    agent.until_shown("m" + "─" * 60 + "\x1b[0m\x1b[K\r\n❯ ")


def test_settings_that_cannot_be_read_are_named(agent: Played) -> None:
    agent.start("--settings", "/no/such/file")
    assert agent.until_end() == 2
    assert "/no/such/file cannot be read" in agent.screen


def test_without_a_terminal_it_says_so(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "batonpass.sim.agent", "--home", str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 2
    assert "needs a terminal" in done.stderr


def test_it_stays_small(agent: Played) -> None:
    """Hundreds of them run side by side: 25 MB each, and nothing heavy is loaded."""
    agent.start("--", "go")
    agent.until_event("turn_ended")
    status = Path(f"/proc/{agent.pid}/status").read_text(encoding="utf-8")
    peak = next(line for line in status.split("\n") if line.startswith("VmHWM"))
    assert int(peak.split()[1]) < 25_000
    code = "import sys, batonpass.sim.agent, batonpass.sim.worker; print(*sys.modules)"
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    loaded = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, encoding="utf-8", check=True)
    assert not {"asyncio", "typer", "rich", "pydantic", "msgspec", "ssl", "hashlib"} & set(loaded.stdout.split())
