"""`baton exec` as people and programs use it, with the scripted agent."""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

Baton = Callable[..., Result]


@pytest.fixture(autouse=True)
def calm(monkeypatch: pytest.MonkeyPatch, project: Path) -> None:
    """A scripted agent with one step of work."""
    monkeypatch.setenv("BATON_SCRIPTED_BRAIN", json.dumps({"steps": 1, "start": 41_000}))


def test_the_answer_is_on_standard_output_and_the_usage_on_standard_error(baton: Baton) -> None:
    done = baton("exec", "scripted", "read it")
    assert done.exit_code == 0
    assert done.stdout == "Done so far: 1 steps.\n"
    assert "46k of 200k tokens used" in done.stderr


def test_with_json_each_event_is_a_line_and_the_last_one_is_the_result(baton: Baton) -> None:
    done = baton("exec", "scripted", "--json", "read it")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [events[0]["event"], events[1]["event"], events[-2]["event"]] == ["began", "prompted", "used"]
    result = events[-1]
    assert (result["event"], result["error"], result["exit"]) == ("result", None, 0)
    assert (result["used"], result["window"], result["usable"]) == (46_000, 200_000, 167_000)
    assert result["agent_session"] == events[0]["agent_session"]
    assert done.stderr == ""


def test_a_conversation_is_gone_on_with(baton: Baton) -> None:
    first = json.loads(baton("exec", "scripted", "--json", "begin").stdout.splitlines()[-1])
    again = baton("exec", "scripted", "--json", "--resume", first["agent_session"], "go on")
    second = json.loads(again.stdout.splitlines()[-1])
    assert second["agent_session"] == first["agent_session"]
    assert second["used"] > first["used"]


def test_the_prompt_can_come_from_standard_input(project: Path) -> None:
    argv = [sys.executable, "-m", "batonpass._entry", "exec", "scripted", "--json", "-"]
    done = subprocess.run(argv, input="long\nwords", capture_output=True, text=True, timeout=60, check=True)
    prompts = [e["text"] for e in map(json.loads, done.stdout.splitlines()) if e["event"] == "prompted"]
    assert prompts == ["long\nwords"]


def test_an_agent_that_fails_is_said_in_one_sentence_with_exit_code_1(baton: Baton) -> None:
    faults = json.dumps([{"fault": "api_error", "error": "overloaded"}])
    done = baton("exec", "scripted", "go", "--", "--faults", faults)
    assert done.exit_code == 1
    assert "baton: scripted did not finish (overloaded): API Error: overloaded" in done.stderr


def test_wrong_usage_is_refused_before_anything_starts(baton: Baton) -> None:
    unknown = baton("exec", "clod", "go")
    assert (unknown.exit_code, "choose one of: claude, codex" in unknown.stderr) == (2, True)
    empty = baton("exec", "scripted", " \n")
    assert (empty.exit_code, "The prompt is empty" in empty.stderr) == (2, True)


def test_an_agent_that_is_not_there_is_said_with_the_way_to_get_it(
    baton: Baton, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("BATON_CODEX", raising=False)
    done = baton("exec", "codex", "go")
    assert done.exit_code == 1
    assert "npm install -g @openai/codex" in done.stderr


def test_a_run_that_is_too_slow_is_stopped(baton: Baton, tmp_path: Path) -> None:
    faults = json.dumps([{"fault": "hang", "until": str(tmp_path / "never")}])
    done = baton("exec", "scripted", "--json", "--timeout", "1", "go", "--", "--faults", faults)
    result = json.loads(done.stdout.splitlines()[-1])
    assert (done.exit_code, result["error"], result["detail"]) == (1, "timeout", "it was stopped after 1 s")


def test_a_command_that_is_ended_takes_its_agent_with_it(project: Path, tmp_path: Path) -> None:
    faults = json.dumps([{"fault": "hang", "until": str(tmp_path / "never")}])
    argv = [sys.executable, "-m", "batonpass._entry", "exec", "scripted", "--json", "go", "--", "--faults", faults]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as command:
        assert command.stdout is not None
        assert command.stderr is not None
        while json.loads(command.stdout.readline())["event"] != "prompted":
            continue
        children = Path(f"/proc/{command.pid}/task/{command.pid}/children").read_text(encoding="ascii")
        agent = os.pidfd_open(int(children.split()[0]))
        command.send_signal(signal.SIGTERM)
        assert command.wait(60) == 1
        assert "was ended from outside" in command.stderr.read()
        assert select.select([agent], [], [], 20.0)[0]
        os.close(agent)


def _as_codex(path: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The command for an agent that is this shell script."""
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    monkeypatch.setenv("BATON_CODEX", str(path))
    return [sys.executable, "-m", "batonpass._entry", "exec", "codex", "--json", "go"]


def test_a_second_signal_leaves_the_agent_the_time_to_end(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("asked", "go"):
        os.mkfifo(tmp_path / name)
    ending = f"echo > {tmp_path}/asked; read x < {tmp_path}/go; touch {tmp_path}/ended; exit"
    began = '{"type":"thread.started","thread_id":"01a1e0af-0b64-7b12-afb5-e4364be1ce29"}'
    script = f"trap '{ending}' TERM; echo '{began}'; sleep 1000 & wait"
    argv = _as_codex(tmp_path / "codex-program", script, monkeypatch)
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as command:
        assert command.stdout is not None
        assert json.loads(command.stdout.readline())["event"] == "began"
        command.send_signal(signal.SIGTERM)
        (tmp_path / "asked").read_text(encoding="utf-8")
        command.send_signal(signal.SIGHUP)
        (tmp_path / "go").write_text("\n", encoding="utf-8")
        assert command.wait(60) == 1
        assert command.stderr is not None
        assert "was ended from outside" in command.stderr.read()
    assert (tmp_path / "ended").exists()


def test_when_nobody_reads_on_the_agent_is_stopped_and_nothing_is_said(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = '{"type":"item.completed","item":{"id":"1","type":"agent_message","text":"\'$$\'"}}'
    argv = _as_codex(tmp_path / "codex-program", f"while :; do echo '{said}'; done", monkeypatch)
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as command:
        assert command.stdout is not None
        assert command.stderr is not None
        agent = os.pidfd_open(int(json.loads(command.stdout.readline())["text"]))
        command.stdout.close()
        assert command.wait(60) == 1
        assert command.stderr.read() == ""
        assert select.select([agent], [], [], 20.0)[0]
        os.close(agent)
