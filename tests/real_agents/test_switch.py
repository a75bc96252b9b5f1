"""The baton passes between real agents: one project, one chain of documents."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from batonpass.sim.anthropic import AnthropicModel
from batonpass.sim.brain import Reply, ToolUse
from batonpass.sim.gemini_api import GeminiModel
from batonpass.sim.openai_chat import ChatModel
from batonpass.sim.openai_responses import ResponsesModel
from batonpass.sim.scripted_model import ScriptedModel
from batonpass.sim.worker import Worker, WorkerSettings
from tests.real_agents.baton import Baton
from tests.real_agents.checker import assert_works

ROUND = ("codex", "gemini", "opencode", "claude")
RULES = ("Never touch ledger.sql, Priya owns it.", "The staging port is 8443.")
CONFIG: dict[str, Any] = {
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
def test_at_the_end_of_claudes_quota_codex_goes_on_in_the_middle_of_a_turn_and_claude_comes_back(
    every_baton: Baton, model: AnthropicModel, codex_model: ResponsesModel
) -> None:
    every_baton.configure(json.dumps(CONFIG))
    every_baton.env["CLAUDE_CODE_MAX_RETRIES"] = "1"
    every_baton.run(prompt=" ".join(("Begin.", *RULES)))
    every_baton.rest()
    back = time.time() + 25
    half = ToolUse("shell", {"command": "echo half > writer.txt"})
    model.script(Reply("I begin with the writer.", tools=(half,)), match="the writer")
    model.script(Reply(f"Claude AI usage limit reached|{back:.0f}", error="rate_limit"), match="the writer", times=1000)
    every_baton.say("Now the writer.")
    away = every_baton.cycle(timeout=180)
    assert (away.state, away.way) == ("done", "switch"), every_baton.story()
    every_baton.rest()
    (status,) = json.loads(every_baton.command("status", every_baton.session, "--json"))["sessions"]
    assert (status["agent"], status["setback"]["phase"], status["setback"]["first"]) == ("codex", "away", "claude")
    assert "stands in for claude (quota)" in every_baton.command("status")
    assert "claude stopped because of its quota" in _document(every_baton, 1)
    assert "Now the writer." in _document(every_baton, 1)
    assert "writer.txt" in _document(every_baton, 1), "what was done before the provider refused"
    assert all(rule in _context_of(codex_model, f"{away.id} kick 1]") for rule in RULES)
    assert_works(codex_model, away)
    returned = every_baton.cycle(2, timeout=180)
    assert (returned.state, returned.way) == ("done", "switch"), every_baton.story()
    assert time.time() >= back
    assert "claude should serve again" in returned.cause
    assert "claude should serve again" in _document(every_baton, 2)
    after = every_baton.wait_for(lambda status: status["agent"] == "claude" and status["setback"] is None)
    assert after["chain"] == 2
    assert all(rule in _context_of(model, f"{returned.id} kick 1]") for rule in RULES)
    assert_works(model, returned)


def _document(baton: Baton, number: int) -> str:
    """The session's n-th handoff."""
    return baton.store.handoffs(session=baton.session)[number - 1].path.read_text(encoding="utf-8")


@pytest.mark.long
def test_codex_goes_on_where_opencode_would_wait_for_hours_to_ask_again(
    every_baton: Baton, opencode_model: ChatModel, codex_model: ResponsesModel
) -> None:
    two = {name: CONFIG["agents"][name] for name in ("opencode", "codex")}
    every_baton.configure(json.dumps({"agents": two, "cooldown_minutes": 0}))
    every_baton.run_opencode("--auto", prompt=" ".join(("Begin.", *RULES)))
    every_baton.rest()
    soon = Reply("Too many requests at once", error="rate_limit", retry_after=8)
    far = Reply("Too many requests today", error="rate_limit", retry_after=7200)
    opencode_model.script(soon, match="the writer")
    opencode_model.script(far, match="the writer", times=1000)
    told = every_baton.told()
    every_baton.say("Now the writer.")
    waits = every_baton.wait_for(lambda status: status["setback"])
    assert (waits["state"], waits["setback"]["phase"]) == ("busy", "waiting")
    assert 0 < waits["setback"]["until"] - time.time() <= 8
    assert (every_baton.told(), every_baton.cycles()) == (told, []), "a try that is near is opencode's own"
    away = every_baton.cycle(timeout=180)
    assert (away.state, away.way) == ("done", "switch"), every_baton.story()
    assert (away.ended or 0) - away.started < 60, "an agent that is busy with waiting is not waited for"
    status = every_baton.rest()
    assert (status["agent"], status["setback"]["phase"], status["setback"]["first"]) == ("codex", "away", "opencode")
    assert 7000 < status["setback"]["until"] - time.time() <= 7200
    document = every_baton.store.handoffs(session=every_baton.session)[0].path.read_text(encoding="utf-8")
    assert "opencode stopped because of its rate limit" in document
    assert "Now the writer." in document
    assert all(rule in _context_of(codex_model, f"{away.id} kick 1]") for rule in RULES)
    asked = len([request for request in opencode_model.main_requests() if "the writer" in request.context])
    assert asked == 2, "its process has ended, and asks no more"
    assert len([text for text in every_baton.told() if "vouched for its own hooks" in text]) == 1


@pytest.mark.long
def test_opencode_that_was_replaced_between_two_tries_comes_back_and_the_next_agent_is_chosen(
    every_baton: Baton, opencode_model: ChatModel
) -> None:
    agents = {"opencode": CONFIG["agents"]["opencode"], "claude": {"args": ["--nonsense"]}}
    every_baton.configure(json.dumps({"agents": {**agents, "codex": CONFIG["agents"]["codex"]}, "cooldown_minutes": 0}))
    every_baton.run_opencode("--auto", prompt="Begin.")
    before = every_baton.rest()
    far = Reply("Too many requests today", error="rate_limit", retry_after=7200)
    opencode_model.script(far, match="the writer", times=1000)
    every_baton.say("Now the writer.")
    missed = every_baton.cycle(timeout=180)
    assert missed.state == "postponed", every_baton.story()
    assert missed.old_agent_session == before["agent_session"]
    assert any("opencode is there again" in text for text in every_baton.told())
    second = every_baton.cycle(2, timeout=180)
    assert (second.state, second.way) == ("done", "switch"), every_baton.story()
    status = every_baton.rest()
    assert (status["agent"], status["setback"]["first"]) == ("codex", "opencode")


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
