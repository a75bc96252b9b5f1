"""A provider that ends its service in the middle of a turn, whoever it serves: another agent goes on."""

import json
from typing import Any

import pytest

from batonpass.sim.anthropic import AnthropicModel
from batonpass.sim.brain import Reply
from batonpass.sim.gemini_api import GeminiModel
from batonpass.sim.openai_responses import ResponsesModel
from batonpass.sim.scripted_model import ScriptedModel
from tests.real_agents.baton import Baton
from tests.real_agents.checker import assert_works

pytestmark = pytest.mark.long


def _configure(baton: Baton, first: str) -> None:
    # The first one asks nobody; Claude Code would have a person consent to that, so its user has said less for it.
    allowed = {"args": ["--permission-mode", "acceptEdits", "--allowedTools=Bash"]}
    baton.configure(json.dumps({"agents": {first: {}, "claude": allowed}, "quota": {"wait_minutes": 0}}))


def _goes_on_with_claude(baton: Baton, first: str, claude: ScriptedModel) -> dict[str, Any]:
    baton.say("Now the writer.")
    away = baton.cycle(timeout=300)
    assert (away.state, away.way) == ("done", "switch"), baton.story()
    baton.rest()
    (status,) = json.loads(baton.command("status", baton.session, "--json"))["sessions"]
    assert (status["agent"], status["setback"]["phase"], status["setback"]["first"]) == ("claude", "away", first)
    document = baton.store.handoffs(session=baton.session)[0].path.read_text(encoding="utf-8")
    assert f"{first} stopped because of its" in document
    assert not [text for text in baton.told() if "does not run Baton's hooks" in text]
    assert "Now the writer." in document
    assert_works(claude, away)
    return dict(status)


def test_at_the_end_of_codexs_quota_claude_goes_on(
    every_baton: Baton, model: AnthropicModel, codex_model: ResponsesModel
) -> None:
    _configure(every_baton, "codex")
    every_baton.run_codex(prompt="Begin.")
    every_baton.rest()
    ended = Reply("You exceeded your current quota, please check your plan and billing details.", error="rate_limit")
    codex_model.script(ended, match="the writer", times=1000)
    _goes_on_with_claude(every_baton, "codex", model)


def test_at_the_end_of_geminis_quota_claude_goes_on(
    every_baton: Baton, model: AnthropicModel, gemini_model: GeminiModel
) -> None:
    _configure(every_baton, "gemini")
    every_baton.run_gemini(prompt="Begin.")
    every_baton.rest()
    words = "Quota exceeded for metric: generate_requests_per_day, limit: 0, model: gemini-2.5-pro"
    ended = Reply(words, error="rate_limit")
    gemini_model.script(ended, match="the writer", times=1000)
    _goes_on_with_claude(every_baton, "gemini", model)
