"""A model with a window of a million tokens."""

from pathlib import Path

import pytest

from batonpass.sim.anthropic import AnthropicModel
from batonpass.sim.worker import Worker, WorkerSettings
from tests.real_agents.baton import Baton
from tests.real_agents.checker import assert_passed

pytestmark = pytest.mark.long_on("2.1.197")


def test_a_million_tokens_are_known_as_such_and_handed_off_at_85_percent_of_what_is_usable(
    baton: Baton, model: AnthropicModel, claude_cli: Path
) -> None:
    model.brain = Worker(WorkerSettings(start=780_000, step=30_000))
    baton.run(prompt="please begin", model="claude-opus-4-8[1m]" if "2.1.197" in str(claude_cli) else "claude-opus-5-5")
    full = baton.wait_for(lambda s: s["state"] == "idle" and s["source"] == "statusline" and s["used"] > 780_000)
    assert 810_000 <= full["used"] < 821_950, baton.story()
    assert (full["window"], full["usable"]) == (1_000_000, 967_000)
    assert full["percent"] == round(100 * full["used"] / 967_000, 1)
    assert not baton.cycles()
    baton.say("please go on")
    cycle = baton.cycle()
    assert_passed(baton, model, cycle)
    assert "is due at 821,950" in cycle.cause
    # The turn has two responses, and each may be the one that Baton read when it decided.
    assert any(cycle.percent == pytest.approx(100 * used / 967_000, abs=0.1) for used in (840_000, 870_000))
    assert baton.rest()["window"] == 1_000_000
