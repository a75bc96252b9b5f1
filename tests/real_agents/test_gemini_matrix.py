"""The long matrix with the real Gemini CLI. It starts slowly, so each start serves several looks."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from batonpass.agents.processes import alive, with_descendants
from batonpass.delivery import Channel, DeliveryState
from batonpass.sim.brain import Reply, ToolUse
from batonpass.sim.gemini_api import GeminiModel
from batonpass.sim.model_wire import Kind
from batonpass.sim.worker import Worker, WorkerSettings
from tests.real_agents.baton import Baton
from tests.real_agents.brains import CalmAfter
from tests.real_agents.checker import assert_passed, rescued
from tests.real_agents.harness import Gate

pytestmark = pytest.mark.long


def test_the_figures_of_a_sub_agent_at_work_are_not_the_sessions_and_two_batons_are_passed_in_a_row(
    gemini_baton: Baton, gemini_model: GeminiModel
) -> None:
    asked = ToolUse("invoke_agent", {"agent_name": "generalist", "prompt": "look into the reader"})
    gemini_model.script(Reply("I have it looked into.", tools=(asked,), used=90_000))
    look = ToolUse("shell", {"command": "echo a look"})
    gemini_model.script(Reply("I look.", tools=(look,), used=500_000), kind=Kind.SUB)
    held = Gate(gemini_model, kind=Kind.SUB, reply=Reply("It is done.", used=505_000))
    gemini_model.brain = CalmAfter(2, WorkerSettings(start=150_000, step=70_000, steps=4))
    bound = gemini_baton.run_gemini(prompt="please look into the reader first")["agent_session"]
    gemini_baton.until(held.reached.is_set, "the sub-agent in the middle of its work")
    working = gemini_baton.wait_for(lambda status: status["used"] is not None)
    (its_own,) = (Path(working["transcript"]).parent / bound).glob("*.jsonl")
    assert "500000" in its_own.read_text(encoding="utf-8")
    assert (working["agent_session"], working["state"], working["used"]) == (bound, "busy", 90_000)
    held.open()
    status = gemini_baton.rest()
    assert (status["agent_session"], status["used"]) == (bound, 160_000)
    assert not gemini_baton.cycles()
    gemini_baton.say("please make it survive torn lines")
    gemini_baton.cycle(2)
    assert gemini_baton.rest()["chain"] == 2
    for cycle in gemini_baton.cycles():
        assert_passed(gemini_baton, gemini_model, cycle)
    people = [text for text in gemini_model.user_texts() if "[baton " not in text]
    assert people == ["please look into the reader first", "please make it survive torn lines"]
    assert not [request for request in gemini_model.requests if request.kind is Kind.COMPACT]


def test_a_gemini_that_the_session_itself_runs_does_not_speak_for_it(
    gemini_baton: Baton, gemini_model: GeminiModel, gemini_cli: Path
) -> None:
    another = ToolUse("shell", {"command": f"{gemini_cli} -m gemini-2.5-pro -p 'what do you think'"})
    gemini_model.script(Reply("I ask another.", tools=(another,), used=30_000), match="ask another")
    gemini_model.script(Reply("I am another.", used=1_000), match="what do you think")
    bound = gemini_baton.run_gemini(prompt="please ask another")["agent_session"]
    gemini_model.wait_for(lambda request: request.text == "what do you think", 90)
    assert gemini_baton.rest()["agent_session"] == bound
    assert [event.data["agent_session"] for event in gemini_baton.events("SESSION_STARTED")] == [bound]


def test_a_handoff_by_hand_needs_no_consent_for_its_draft_and_a_killed_session_is_rescued_from_its_record(
    gemini_baton: Baton, gemini_model: GeminiModel
) -> None:
    gemini_model.brain = Worker(WorkerSettings(step=100, tool="none"))
    gemini_baton.start_gemini("-m", "gemini-2.5-pro", "-i", "please begin")
    gemini_baton.rest()
    gemini_baton.command("handoff", "--no-wait", "--why", "to see it")
    cycle = gemini_baton.cycle()
    assert cycle.state == "done", gemini_baton.story()
    given = gemini_baton.store.deliveries(cycle=cycle.id)
    # Its window title may still call it busy for a moment; what was laid out for its hook then was taken back.
    assert [d.channel for d in given if d.state is not DeliveryState.WITHDRAWN] == ["keys", "keys"]
    assert not [text for text in gemini_baton.told() if "waits for a person" in text]
    gemini_baton.rest()
    gemini_baton.say("never touch the ledger table")
    gemini_model.wait_for(lambda request: request.text == "never touch the ledger table")
    dead = gemini_baton.rest()
    os.kill(dead["pid"], signal.SIGKILL)  # the launcher: what it started must not go on behind it
    gemini_baton.wait_for(lambda status: status["state"] == "dead")
    gemini_model.brain = Worker(WorkerSettings(step=100))
    again = rescued(gemini_baton, gemini_model, "never touch the ledger table", dead["session"], "--", "--yolo")
    assert again.new_agent_session != dead["agent_session"]


def test_what_stands_at_a_dialog_is_told_and_left_to_a_person_and_a_restart_keeps_the_conversation(
    gemini_baton: Baton, gemini_model: GeminiModel, gemini_home: dict[str, str], project: Path
) -> None:
    gemini_model.brain = Worker(WorkerSettings(start=61_234, tool="none"))
    trusted = Path(gemini_home["HOME"]) / ".gemini" / "trustedFolders.json"
    trusted.write_text("{}", encoding="utf-8")
    gemini_baton.start_gemini("-m", "gemini-2.5-pro", "-i", "please begin")
    gemini_baton.until(lambda: [t for t in gemini_baton.told() if "trust this folder" in t], "word of the dialog")
    assert "Do you trust the files in this folder?" in gemini_baton.screen()
    before = gemini_baton.wait_for(lambda status: status["used"] == 61_234)
    gemini_baton.press("Enter")  # the person's own
    after = gemini_baton.wait_for(lambda status: status["pid"] != before["pid"] and status["state"] == "idle")
    assert after["agent_session"] == before["agent_session"]
    assert json.loads(trusted.read_text(encoding="utf-8")) == {str(project.resolve()): "TRUST_FOLDER"}
    # What is typed before it shows again what was said is lost.
    gemini_baton.until(lambda: "please begin" in gemini_baton.screen(), "its conversation")
    gemini_baton.until(lambda: "Type your message" in gemini_baton.screen(), "its box")
    gemini_model.script(Reply("I write.", tools=(ToolUse("write", {"path": "x.md", "content": "x"}),)))
    gemini_baton.say("write it down")
    waiting = gemini_baton.wait_for(lambda status: status["state"] == "waiting")
    assert waiting["waiting_for"] == "asks for permission"
    assert gemini_model.main_requests()[-1].user_texts == ["please begin", "write it down"]


def test_the_users_policies_hold_and_what_is_allowed_for_all_future_sessions_is_kept_with_them(
    gemini_baton: Baton, gemini_model: GeminiModel, gemini_home: dict[str, str], project: Path
) -> None:
    home = Path(gemini_home["HOME"]) / ".gemini"
    settings = json.loads((home / "settings.json").read_text(encoding="utf-8"))
    settings["security"]["enablePermanentToolApproval"] = True
    (home / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    (home / "policies").mkdir()
    denied = '[[rule]]\ntoolName = "run_shell_command"\ndecision = "deny"\npriority = 900\n'
    (home / "policies" / "mine.toml").write_text(denied, encoding="utf-8")
    gemini_model.brain = Worker(WorkerSettings(start=61_234, tool="none"))
    gemini_model.script(Reply("I look.", tools=(ToolUse("shell", {"command": "touch made-by-shell"}),)))
    gemini_baton.start_gemini("-m", "gemini-2.5-pro", "-i", "please begin")
    gemini_baton.rest()
    assert not [text for text in gemini_baton.told() if "waits for a person" in text], "it was denied, not asked for"
    assert not (project / "made-by-shell").exists()
    gemini_model.script(Reply("I write.", tools=(ToolUse("write", {"path": "x.md", "content": "x"}),)))
    gemini_baton.say("write it down")
    gemini_baton.until(lambda: "in all future sessions" in gemini_baton.screen(), "the question")
    gemini_baton.press("3")  # the person's own
    saved = home / "policies" / "auto-saved.toml"
    gemini_baton.until(saved.exists, "the answer among the user's policies")
    assert "write_file" in saved.read_text(encoding="utf-8")


def test_two_sessions_in_one_folder_are_never_taken_for_each_other(
    gemini_baton: Baton, gemini_model: GeminiModel
) -> None:
    gemini_model.brain = Worker(WorkerSettings(start=104_858, step=0, jumps={2: 480_000}))
    gemini_baton.run_gemini(prompt="please begin with the writer")
    other, untouched = gemini_baton.session, gemini_baton.rest()["agent_session"]
    gemini_baton.run_gemini(prompt="please begin with the reader")
    gemini_baton.rest()
    gemini_baton.say("now read everything")
    assert_passed(gemini_baton, gemini_model, gemini_baton.cycle())
    gemini_baton.session = other
    assert gemini_baton.status()["agent_session"] == untouched
    assert not gemini_baton.cycles()


def test_a_resumed_conversation_survives_the_next_start_and_no_process_survives_its_pane(
    gemini_baton: Baton, gemini_model: GeminiModel, gemini_cli: Path, gemini_home: dict[str, str], project: Path
) -> None:
    gemini_model.brain = Worker(WorkerSettings(start=61_234, step=100))
    gemini_baton.run_gemini(prompt="please begin")
    ended = gemini_baton.rest()
    os.kill(list(with_descendants(ended["pid"]))[1], signal.SIGKILL)
    gemini_baton.wait_for(lambda status: status["state"] == "dead")
    record = _of_an_earlier_minute(Path(ended["transcript"]))
    gemini_baton.run_gemini("-r", ended["agent_session"])
    resumed = gemini_baton.wait_for(lambda status: status["hooks"])
    gemini_baton.until(lambda: "Type your message" in gemini_baton.screen(), "its box")
    gemini_baton.until(lambda: list(record.parent.glob("*.jsonl")) == [record], "the second file removed")
    gemini_baton.say("go on")
    gemini_model.wait_for(lambda request: request.text == "go on")
    after = gemini_baton.rest()
    assert (after["agent_session"], after["transcript"]) == (ended["agent_session"], str(record))
    kept = gemini_baton.home / "sessions" / resumed["session"] / "kept" / record.name
    assert record.read_bytes().startswith(kept.read_bytes())
    listed = subprocess.run(
        [gemini_cli, "--list-sessions"], cwd=project, env=gemini_home, stdin=subprocess.DEVNULL, capture_output=True,
        text=True, timeout=60, check=False,
    )  # fmt: skip
    assert ended["agent_session"] in listed.stdout + listed.stderr
    assert b'"go on"' in record.read_bytes()
    mine = list(with_descendants(after["pid"]))
    gemini_baton.close_pane()
    gemini_baton.wait_for(lambda status: status["state"] == "dead")
    gemini_baton.until(lambda: not [pid for pid in mine if alive(pid)], "the end of all its processes")


def _of_an_earlier_minute(record: Path) -> Path:
    """The record as if its conversation had begun some time ago: only then a resume makes a second file."""
    earlier = record.with_name(f"session-2026-01-01T00-00-{record.name.rpartition('-')[2]}")
    record.rename(earlier)
    return earlier


def test_a_predecessor_is_brought_back_when_its_successor_never_gives_a_right_receipt(
    gemini_baton: Baton, gemini_model: GeminiModel
) -> None:
    gemini_model.brain = Worker(WorkerSettings(start=61_234, step=100, faults=frozenset({"wrong_branch"})))
    old = gemini_baton.run_gemini(prompt="please begin")["agent_session"]
    gemini_baton.rest()
    gemini_baton.command("handoff", "--no-wait", "--why", "to see it")
    gemini_baton.step("back", "ok", 150)
    again = gemini_model.wait_for(lambda request: request.kind is Kind.MAIN and " back 1]" in request.text)
    assert again.user_texts[0] == "please begin", "it is the predecessor, with all that was said"
    started = [event.data["agent_session"] for event in gemini_baton.events("SESSION_STARTED")]
    assert started[::2] == [old, old]


def test_a_running_gemini_is_adopted_with_its_conversation(
    gemini_baton: Baton, gemini_model: GeminiModel, gemini_cli: Path
) -> None:
    gemini_model.brain = Worker(WorkerSettings(start=61_234, step=100))
    pane = gemini_baton.open_pane([str(gemini_cli), "--yolo", "-m", "gemini-2.5-pro", "-i", "please begin"])
    gemini_model.wait_for(lambda request: request.text == "please begin", 60)
    gemini_baton.until(lambda: "Done so far: 1 steps." in gemini_baton.screen(), "the end of its turn")
    gemini_baton.adopt(pane)
    adopted = gemini_baton.rest()
    assert (adopted["agent"], adopted["used"]) == ("gemini", 61_334)
    assert "started without Baton's hooks" in adopted["notice"]
    gemini_baton.command("handoff", "--no-wait", "--why", "to see it")
    cycle = gemini_baton.cycle()
    assert cycle.state == "done", gemini_baton.story()
    assert {d.channel for d in gemini_baton.store.deliveries(cycle=cycle.id)} == {"keys"}


def test_where_hooks_are_switched_off_the_session_is_followed_by_its_record_and_handed_off_by_keys(
    gemini_baton: Baton, gemini_model: GeminiModel, gemini_home: dict[str, str]
) -> None:
    settings = Path(gemini_home["HOME"]) / ".gemini" / "settings.json"
    written = json.loads(settings.read_text(encoding="utf-8"))
    settings.write_text(json.dumps({**written, "hooksConfig": {"enabled": False}}), encoding="utf-8")
    gemini_model.brain = Worker(WorkerSettings(start=104_858, step=0, jumps={2: 480_000}))
    bound = gemini_baton.run_gemini(prompt="please begin")["agent_session"]
    first = gemini_baton.wait_for(lambda status: status["hooks"] is False and status["state"] == "idle")
    assert (first["agent_session"], first["used"]) == (bound, 104_858)
    gemini_baton.until(lambda: [t for t in gemini_baton.told() if "does not run Baton's hooks" in t], "word of it")
    gemini_baton.say("now read everything")
    cycle = gemini_baton.cycle()
    assert_passed(gemini_baton, gemini_model, cycle)
    assert {d.channel for d in gemini_baton.store.deliveries(cycle=cycle.id)} == {Channel.KEYS}
    after = gemini_baton.rest()
    assert (after["pid"], after["agent_session"]) == (first["pid"], cycle.new_agent_session)
