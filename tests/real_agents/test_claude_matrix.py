"""Claude Code where several are at work: beside a dialog, beside another session, beside its own sub-agents."""

import json
import re
import threading
from pathlib import Path

import pytest

from batonpass.delivery import Channel
from batonpass.sim.anthropic import AnthropicModel
from batonpass.sim.brain import Asked, Reply, ToolUse
from batonpass.sim.model_wire import Kind
from batonpass.sim.worker import Worker, WorkerSettings
from tests.real_agents.baton import Baton
from tests.real_agents.checker import assert_passed

pytestmark = pytest.mark.long


def test_a_dialog_at_the_start_is_told_and_left_to_a_person_and_then_the_baton_is_passed(
    baton: Baton, model: AnthropicModel, claude_home: dict[str, str], project: Path
) -> None:
    known = Path(claude_home["CLAUDE_CONFIG_DIR"]) / ".claude.json"
    settled = json.loads(known.read_text(encoding="utf-8"))
    known.write_text(json.dumps({**settled, "projects": {}}), encoding="utf-8")
    baton.start_claude("--", "please begin")
    baton.until(lambda: [t for t in baton.told() if "trust this folder" in t], "word of the dialog")
    assert "trust this folder" in baton.screen()
    assert baton.status()["state"] == "waiting"
    assert not model.main_requests()
    if "❯ No" in baton.screen():  # the newer version's own choice
        baton.press("Down")
    baton.until(lambda: re.search(r"❯ (1\. )?Yes, I trust", baton.screen()), "the answer chosen")
    baton.press("Enter")  # the person's own
    baton.rest()
    assert json.loads(known.read_text(encoding="utf-8"))["projects"][str(project.resolve())]["hasTrustDialogAccepted"]
    baton.command("handoff", "--no-wait")
    assert_passed(baton, model, baton.cycle())


def test_two_sessions_in_one_folder_are_never_taken_for_each_other(baton: Baton, model: AnthropicModel) -> None:
    model.brain = Worker(WorkerSettings(start=60_000, step=0, jumps={2: 150_000}))
    baton.run(prompt="please begin with the writer")
    other, untouched = baton.session, baton.rest()["agent_session"]
    baton.run(prompt="please begin with the reader")
    baton.rest()
    baton.say("now read everything")
    assert_passed(baton, model, baton.cycle())
    baton.session = other
    assert baton.status()["agent_session"] == untouched
    assert not baton.cycles()


def test_a_sub_agents_full_context_is_not_the_sessions(baton: Baton, model: AnthropicModel) -> None:
    hold = threading.Event()

    def at_work(asked: Asked) -> Reply:
        hold.wait(120)
        return Reply("The survey is done.", used=170_000)

    task = {"description": "survey", "prompt": "Survey the parsers.", "subagent_type": "general-purpose"}
    delegated = ToolUse("Agent", {**task, "run_in_background": False})
    model.script(Reply("I delegate.", tools=(delegated,), used=41_000), match="please begin")
    model.script(Reply("It was done.", used=42_000), match="please begin")
    model.script(at_work, kind=Kind.SUB)
    baton.run(prompt="please begin", tools="Agent,Bash")
    try:
        model.wait_for(lambda request: request.kind is Kind.SUB)
        working = baton.wait_for(lambda status: status["used"] == 41_000)
        assert working["state"] == "busy"
    finally:
        hold.set()
    baton.wait_for(lambda status: status["used"] > 41_000)
    status = baton.rest()  # the newer version goes on by itself when the sub-agent tells its result
    assert status["used"] < 60_000
    assert not baton.cycles()
    baton.command("handoff", "--no-wait")
    cycle = baton.cycle()
    assert_passed(baton, model, cycle)
    assert (cycle.old_agent_session, cycle.used) == (status["agent_session"], status["used"])


def test_one_that_runs_already_is_adopted_with_its_conversation_and_handed_off_by_keys(
    baton: Baton, model: AnthropicModel, claude_cli: Path
) -> None:
    model.brain = Worker(WorkerSettings(start=60_000, step=100))
    options = ["--model", "claude-sonnet-4-6", "--permission-mode", "acceptEdits", "--allowedTools=Bash"]
    pane = baton.open_pane([str(claude_cli), *options, "--", "please begin"])
    baton.until(lambda: "Done so far: 1 steps." in baton.screen(), "the end of its turn")
    baton.adopt(pane)
    adopted = baton.rest()
    assert (adopted["agent"], adopted["used"], adopted["hooks"]) == ("claude", 60_100, False)
    baton.command("handoff", "--no-wait", "--why", "to see it")
    cycle = baton.cycle()
    assert cycle.state == "done", baton.story()
    assert {given.channel for given in baton.store.deliveries(cycle=cycle.id)} == {"keys"}


def test_where_hooks_are_switched_off_the_session_is_followed_by_its_record_and_handed_off_by_keys(
    baton: Baton, model: AnthropicModel, claude_home: dict[str, str]
) -> None:
    settings = Path(claude_home["CLAUDE_CONFIG_DIR"]) / "settings.json"
    written = json.loads(settings.read_text(encoding="utf-8")) if settings.exists() else {}
    settings.write_text(json.dumps({**written, "disableAllHooks": True}), encoding="utf-8")
    model.brain = Worker(WorkerSettings(start=60_000, step=0, jumps={2: 150_000}))
    bound = baton.run(prompt="please begin")["agent_session"]
    first = baton.wait_for(lambda status: status["hooks"] is False and status["state"] == "idle")
    assert (first["agent_session"], first["used"]) == (bound, 60_000)
    baton.until(lambda: [text for text in baton.told() if "does not run Baton's hooks" in text], "word of it")
    baton.say("now read everything")
    cycle = baton.cycle()
    assert_passed(baton, model, cycle)
    assert {delivery.channel for delivery in baton.store.deliveries(cycle=cycle.id)} == {Channel.KEYS}
    after = baton.rest()
    assert (after["pid"], after["agent_session"]) == (first["pid"], cycle.new_agent_session)
