"""A real agent that refuses to start does not cost the session its life."""

import json

import pytest

from batonpass.sim.openai_responses import ResponsesModel
from tests.real_agents.baton import Baton
from tests.real_agents.conftest import VERSIONS, installed


@pytest.mark.long
@pytest.mark.timeout(600)
def test_a_claude_code_that_refuses_its_flags_gives_the_work_back_to_codex(
    codex_baton: Baton, codex_model: ResponsesModel, claude_home: dict[str, str]
) -> None:
    program = installed("claude", VERSIONS[-1], "Claude Code")
    codex_baton.env = {**claude_home, **codex_baton.env, "BATON_CLAUDE": str(program)}
    codex_baton.configure(json.dumps({"agents": {"claude": {"args": ["--no-such-flag"]}}, "cooldown_minutes": 0}))
    codex_baton.run_codex(prompt="Begin.")
    before = codex_baton.rest()
    codex_baton.command("handoff", "--to", "claude", "--no-wait")
    cycle = codex_baton.cycle(timeout=400)
    tried = [step.step for step in codex_baton.store.steps(cycle.id)]
    assert (cycle.state, tried[-4:]) == ("postponed", ["pass", "pass", "back", "close"]), codex_baton.story()
    assert "claude ended at its start; its last words: " in (cycle.note or "")
    assert "unknown option '--no-such-flag'" in (cycle.note or "")
    after = codex_baton.rest()
    same = ("agent", "agent_session", "model", "pane")
    assert [after[key] for key in same] == [before[key] for key in same]
    assert "unknown option '--no-such-flag'" in after["notice"]
    codex_model.wait_for(lambda request: " back 1]" in request.text, 60)
