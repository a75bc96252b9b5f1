"""The long matrix with the real opencode."""

import os
import signal
from pathlib import Path

import pytest

from batonpass.delivery import Channel
from batonpass.sim.brain import Reply, ToolUse
from batonpass.sim.model_wire import Kind
from batonpass.sim.openai_chat import ChatModel
from batonpass.sim.worker import Worker, WorkerSettings
from tests.real_agents.baton import Baton
from tests.real_agents.brains import CalmAfter
from tests.real_agents.checker import assert_passed, rescued
from tests.real_agents.harness import Gate

pytestmark = pytest.mark.long


def test_two_batons_are_passed_in_a_row_and_a_third_by_hand(opencode_baton: Baton, opencode_model: ChatModel) -> None:
    opencode_model.brain = CalmAfter(2, WorkerSettings(start=100_000, step=50_000))
    opencode_baton.run_opencode(prompt="please make the reader survive torn lines")
    opencode_baton.cycle(2, timeout=300)
    opencode_baton.rest()
    opencode_baton.type("a thought of the user's")
    opencode_baton.command("handoff", "--no-wait", "--why", "to see it")
    opencode_baton.until(lambda: len(opencode_baton.cycles()) == 3, "the third cycle")
    opencode_baton.step("ask", "ok", timeout=300)
    opencode_baton.press("C-u")  # what stands in the box only keeps another conversation from being shown
    opencode_baton.cycle(3, timeout=300)
    assert opencode_baton.rest()["chain"] == 3
    for cycle in opencode_baton.cycles():
        assert_passed(opencode_baton, opencode_model, cycle)
    people = [text for text in opencode_model.user_texts() if "[baton " not in text]
    assert people == ["please make the reader survive torn lines"]
    assert not [request for request in opencode_model.requests if request.kind is Kind.COMPACT]


def test_a_dialog_is_left_to_a_person_a_sub_agent_at_work_is_kept_apart_and_the_killed_session_is_rescued(
    opencode_baton: Baton, opencode_model: ChatModel
) -> None:
    """opencode asks nothing at its start: the permission dialog of its first turn stands in for one."""
    opencode_model.brain = Worker(WorkerSettings(step=100))
    outside = ToolUse("read", {"filePath": "/etc/hostname"})
    opencode_model.script(Reply("I look outside.", tools=(outside,)), match="outside")
    opencode_baton.run_opencode(prompt="please look outside, and never touch the ledger table")
    asked = opencode_baton.wait_for(lambda status: status["state"] == "waiting")
    assert "external_directory" in asked["waiting_for"]
    opencode_baton.until(lambda: [t for t in opencode_baton.told() if "waits for a person" in t], "word of the dialog")
    assert "Permission required" in opencode_baton.screen()
    opencode_baton.press("Enter")
    before = opencode_baton.rest()
    helper = {"description": "count", "prompt": "count the lines", "subagent_type": "general"}
    sent = Reply("I send somebody.", tools=(ToolUse("task", helper),), used=31_000)
    opencode_model.script(sent, match="send somebody")
    look = ToolUse("shell", {"command": "wc -l README.md"})
    opencode_model.script(Reply("I count.", tools=(look,), used=180_000), kind=Kind.SUB)
    held = Gate(opencode_model, kind=Kind.SUB, reply=Reply("One line.", used=181_000))
    opencode_baton.say("send somebody")
    opencode_baton.until(held.reached.is_set, "the sub-agent in the middle of its work")
    working = opencode_baton.wait_for(lambda status: status["state"] == "busy")
    # What its own message used it writes down when its tools have ended.
    assert (working["agent_session"], working["used"]) == (before["agent_session"], before["used"])
    held.open()
    opencode_model.wait_for(lambda r: r.kind is Kind.MAIN and "send somebody" in r.text and r.messages[-1][1] == "", 60)
    after = opencode_baton.wait_for(lambda status: status["state"] == "idle" and status["used"] > 31_000)
    assert (after["agent_session"], after["used"]) == (before["agent_session"], 31_100)
    assert not opencode_baton.cycles(), "the sub-agent is at 94 %, and the session is not"
    assert {r.session for r in opencode_model.requests if r.kind is Kind.SUB} != {before["agent_session"]}
    os.kill(after["pid"], signal.SIGKILL)
    opencode_baton.wait_for(lambda status: status["state"] == "dead")
    cycle = rescued(opencode_baton, opencode_model, "never touch the ledger table", after["session"])
    assert cycle.new_agent_session != after["agent_session"]


def test_two_sessions_in_one_folder_are_never_taken_for_each_other(
    opencode_baton: Baton, opencode_model: ChatModel
) -> None:
    opencode_model.brain = Worker(WorkerSettings(start=76_723, step=0, jumps={2: 178_381}))
    opencode_baton.run_opencode(prompt="please begin with the writer")
    other, untouched = opencode_baton.session, opencode_baton.rest()["agent_session"]
    opencode_baton.run_opencode(prompt="please begin with the reader")
    assert opencode_baton.rest()["agent_session"] != untouched
    opencode_baton.say("now read everything")
    assert_passed(opencode_baton, opencode_model, opencode_baton.cycle(timeout=300))
    opencode_baton.session = other
    assert opencode_baton.status()["agent_session"] == untouched
    assert not opencode_baton.cycles()


def test_one_that_runs_without_a_port_is_adopted_and_handed_off_by_its_database_and_keys(
    opencode_baton: Baton, opencode_model: ChatModel, opencode_cli: Path
) -> None:
    opencode_model.brain = Worker(WorkerSettings(start=76_723, step=0, jumps={2: 178_381}))
    pane = opencode_baton.open_pane([str(opencode_cli), "--prompt", "please begin"])
    opencode_baton.until(lambda: "Done so far" in opencode_baton.screen(), "the end of the first turn")
    opencode_baton.adopt(pane)
    assert [text for text in opencode_baton.told() if "without a port" in text]
    first = opencode_baton.rest()
    assert (first["used"], first["window"], first["usable"]) == (76_723, 200_000, 191_808)
    opencode_baton.say("now read everything")
    cycle = opencode_baton.cycle(timeout=300)
    assert_passed(opencode_baton, opencode_model, cycle)
    assert (cycle.way, cycle.old_agent_session) == ("clear", first["agent_session"])
    assert {given.channel for given in opencode_baton.store.deliveries(cycle=cycle.id)} == {Channel.KEYS}
    assert opencode_baton.rest()["pid"] == first["pid"]


def test_a_successor_with_a_wrong_receipt_is_left_for_the_predecessor_without_a_new_process(
    opencode_baton: Baton, opencode_model: ChatModel
) -> None:
    wrong = WorkerSettings(step=100, faults=frozenset({"wrong_branch"}), fault_attempts=2)
    opencode_model.brain = Worker(wrong)
    started = opencode_baton.run_opencode(prompt="please begin")
    opencode_baton.rest()
    opencode_baton.command("handoff", "--no-wait", "--why", "to see it")
    opencode_baton.step("back", "ok", timeout=300)
    assert opencode_baton.status()["pid"] == started["pid"]
    cycle = opencode_baton.cycle(timeout=300)
    assert_passed(opencode_baton, opencode_model, cycle)
    assert cycle.way == "respawn"
    assert opencode_baton.rest()["pid"] != started["pid"]
