"""The agent's own compaction: a net that Baton does not take away, and does not lose sight of."""

from pathlib import Path

import pytest

from batonpass.sim.anthropic import AnthropicModel
from batonpass.sim.model_wire import Kind
from batonpass.sim.worker import Worker, WorkerSettings
from tests.real_agents.baton import Baton
from tests.real_agents.checker import assert_passed

pytestmark = pytest.mark.long_on("2.1.197")


def test_a_compaction_by_hand_is_recorded_and_the_context_is_primed_and_counted_again(
    baton: Baton, model: AnthropicModel
) -> None:
    model.brain = Worker(WorkerSettings(start=80_000))
    baton.run(prompt="please begin, and keep the public names")
    baton.rest()
    baton.say("/compact")
    model.wait_for(lambda request: request.kind is Kind.COMPACT)
    baton.until(lambda: baton.events("COMPACTED"), "a record of the compaction")
    assert baton.wait_for(lambda s: s["state"] == "idle" and s["percent"] is None)["used"] is None
    model.brain = Worker(WorkerSettings(start=30_000, step=0))
    baton.say("please go on")
    request = model.wait_for(lambda request: request.kind is Kind.MAIN and request.text == "please go on")
    assert "Baton handoff, part 1 of" in request.context
    assert "please begin, and keep the public names" in request.context
    assert baton.rest()["percent"] == pytest.approx(100 * 30_000 / 167_000, abs=0.1)
    (event,) = baton.events("COMPACTED")
    assert event.data["trigger"] == "manual"
    assert not baton.events("CONTEXT_MISSED")
    assert not baton.cycles()


def test_a_compaction_in_the_middle_of_a_cycle_is_a_miss_that_is_primed_again_and_the_baton_passes(
    baton: Baton, model: AnthropicModel, bodies: Path
) -> None:
    # One turn runs over the whole rest of the window, so that no stop hook comes in time.
    model.brain = Worker(WorkerSettings(start=150_000, step=12_000, steps=3))
    baton.run(prompt="please begin, and keep the public names")
    baton.until(lambda: baton.events("COMPACTED"), "a record of the compaction")
    model.brain = Worker(WorkerSettings(start=30_000, step=100))
    cycle = baton.cycle()
    assert_passed(baton, model, cycle)
    (event,) = baton.events("COMPACTED")
    assert event.data["trigger"] == "auto"
    assert len(baton.events("CONTEXT_MISSED")) == 1
    summary = next(request for request in model.requests if request.kind is Kind.COMPACT)
    after = model.wait_for(lambda request: request.kind is Kind.MAIN and request.number > summary.number)
    assert after.session == cycle.old_agent_session
    # In mid-turn 2.1.325 puts what a hook adds beside the tool's result, so the whole body is looked at.
    assert "Baton handoff, part 1 of" in (bodies / f"{after.number:04d}-main.json").read_text(encoding="utf-8")
