"""The baton passes between real agents: one project, one chain of documents."""

import json
import time
from pathlib import Path

import pytest

from batonpass.sim.anthropic import AnthropicModel
from batonpass.sim.brain import Reply, ToolUse
from batonpass.sim.gemini_api import GeminiModel
from batonpass.sim.openai_chat import ChatModel
from batonpass.sim.openai_responses import ResponsesModel
from batonpass.sim.scripted_model import ScriptedModel
from batonpass.sim.worker import Worker, WorkerSettings
from tests.real_agents.baton import Baton

ROUND = ("codex", "gemini", "opencode", "claude")
RULES = ("Never touch ledger.sql, Priya owns it.", "The staging port is 8443.")
CONFIG = {
    "agents": {
        "claude": {},
        "codex": {"args": ["-a", "never", "-s", "danger-full-access"]},
        "gemini": {"args": ["--yolo"], "models": {"medium": "gemini-2.5-pro"}},
        "opencode": {"args": ["--auto"]},
    },
    "quota": {"wait_minutes": 0},
    "cooldown_minutes": 0,
}


@pytest.mark.long
@pytest.mark.timeout(900)
def test_the_baton_goes_round_all_agents_who_ask_about_everything_but_the_draft(
    every_baton: Baton,
    project: Path,
    model: AnthropicModel,
    codex_model: ResponsesModel,
    gemini_model: GeminiModel,
    opencode_model: ChatModel,
) -> None:
    every_baton.configure(json.dumps({"cooldown_minutes": 0}))
    for one in (codex_model, gemini_model, opencode_model):
        one.brain = Worker(WorkerSettings(tool="none"))
    every_baton.run(prompt=" ".join(("Begin.", *RULES)), mode="default")
    first = every_baton.rest()
    for number, agent in enumerate(ROUND, 1):
        every_baton.command("handoff", "--to", agent, "--no-wait")
        cycle = every_baton.cycle(number, timeout=240)
        assert (cycle.state, cycle.way) == ("done", "switch"), every_baton.story()
        after = every_baton.rest()
        assert (after["agent"], after["pane"], after["agent_session"]) == (
            agent, first["pane"], cycle.new_agent_session,
        )  # fmt: skip
        waited = {str(step.data["from"]) for step in every_baton.store.steps(cycle.id) if step.step == "await"}
        assert waited == {"file"}, "leave to write the draft is given by Baton, and nobody was asked"
        if agent == "opencode":
            _is_asked(every_baton, opencode_model, project / "made.txt")
    chain = every_baton.store.handoffs(session=every_baton.session)
    assert [(one.number, one.agent) for one in chain] == [(1, "claude"), (2, "codex"), (3, "gemini"), (4, "opencode")]
    assert [one.previous for one in chain] == [None, *(one.path.name for one in chain[:-1])]
    kicked = next(request for request in model.main_requests() if f"{cycle.id} kick 1]" in request.context)
    assert all(rule in kicked.context for rule in RULES), "what the first was told reaches the last"
    assert after["agent_session"] != first["agent_session"]


def _is_asked(baton: Baton, model: ChatModel, made: Path) -> None:
    """The last of a row of agents still asks before it runs anything; a person says no."""
    model.script(Reply("I run it.", tools=(ToolUse("bash", {"command": f"touch {made}"}),)), match="run it")
    baton.say("now run it")
    asked = baton.wait_for(lambda status: status["state"] == "waiting")
    assert "bash" in asked["waiting_for"]
    baton.press("Escape")
    baton.rest()
    assert not made.exists()


@pytest.mark.long
def test_at_the_end_of_claudes_quota_codex_goes_on_in_the_middle_of_the_work_and_claude_comes_back(
    every_baton: Baton, model: AnthropicModel, codex_model: ResponsesModel
) -> None:
    every_baton.configure(json.dumps(CONFIG))
    every_baton.env["CLAUDE_CODE_MAX_RETRIES"] = "1"
    every_baton.run(prompt=" ".join(("Begin.", *RULES)))
    every_baton.rest()
    back = time.time() + 25
    model.script(Reply(f"Claude AI usage limit reached|{back:.0f}", error="rate_limit"), match="the writer", times=1000)
    every_baton.say("Now the writer.")
    away = every_baton.cycle(timeout=180)
    assert (away.state, away.way) == ("done", "switch"), every_baton.story()
    status = every_baton.rest()
    assert (status["agent"], status["setback"]["phase"], status["setback"]["first"]) == ("codex", "away", "claude")
    assert "stands in for claude (quota)" in every_baton.command("status")
    document = every_baton.store.handoffs(session=every_baton.session)[0].path.read_text(encoding="utf-8")
    assert "claude stopped because of its quota" in document
    assert "Now the writer." in document
    assert all(rule in _context_of(codex_model, f"{away.id} kick 1]") for rule in RULES)
    returned = every_baton.cycle(2, timeout=180)
    assert (returned.state, returned.way) == ("done", "switch"), every_baton.story()
    assert time.time() >= back
    after = every_baton.wait_for(lambda status: status["agent"] == "claude" and status["setback"] is None)
    assert after["chain"] == 2
    assert all(rule in _context_of(model, f"{returned.id} kick 1]") for rule in RULES)


def _context_of(model: ScriptedModel, mark: str) -> str:
    """All that the model was told in the first request of a conversation that has this mark; a title may come first."""
    return next(request.context + request.system for request in model.main_requests() if mark in request.context)


@pytest.mark.long
def test_codex_without_quota_gives_the_work_back_to_claude_after_one_kick(
    every_baton: Baton, codex_model: ResponsesModel
) -> None:
    every_baton.configure(json.dumps(CONFIG))
    every_baton.run(prompt="Begin.")
    before = every_baton.rest()
    codex_model.script(Reply("", error="rate_limit"), match=r"kick \d", times=1000)
    every_baton.command("handoff", "--to", "codex", "--no-wait")
    cycle = every_baton.cycle(timeout=300)
    assert (cycle.state, cycle.way) == ("postponed", "switch"), every_baton.story()
    tried = [step.step for step in every_baton.store.steps(cycle.id)]
    assert tried[-5:] == ["pass", "prime", "verify", "back", "close"]
    assert "codex is not served by its provider" in (cycle.note or "")
    after = every_baton.rest()
    assert (after["agent"], after["agent_session"]) == ("claude", before["agent_session"])
