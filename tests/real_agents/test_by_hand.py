"""A person asks for the handoff: in the agent, or from a shell."""

import os
from pathlib import Path

import pytest

from batonpass.sim.anthropic import AnthropicModel
from batonpass.sim.worker import Worker, WorkerSettings
from tests.real_agents.baton import Baton
from tests.real_agents.checker import assert_passed

pytestmark = pytest.mark.long_on("2.1.197")


def test_slash_handoff_typed_in_the_agent_passes_the_baton_with_its_reason(baton: Baton, model: AnthropicModel) -> None:
    baton.run(prompt="please begin")
    baton.rest()
    baton.say("/handoff the plan has changed")
    cycle = baton.cycle()
    assert_passed(baton, model, cycle)
    assert cycle.cause == "asked for by /handoff: the plan has changed"
    assert [d.channel for d in baton.store.deliveries(cycle=cycle.id)] == ["hook", "keys"]


def test_baton_handoff_types_the_request_into_an_idle_session(baton: Baton, model: AnthropicModel) -> None:
    baton.run(prompt="please begin")
    baton.rest()
    baton.command("handoff", "--why", "before lunch")
    cycle = baton.cycle()
    assert_passed(baton, model, cycle)
    assert cycle.cause == "asked for by hand: before lunch"
    assert [d.channel for d in baton.store.deliveries(cycle=cycle.id)] == ["keys", "keys"]


def test_baton_handoff_waits_for_a_busy_session_and_asks_in_its_stop_hook(
    baton: Baton, model: AnthropicModel, project: Path
) -> None:
    gate = project / "gate"
    os.mkfifo(gate)
    model.brain = Worker(WorkerSettings(command="read -r word < gate"))
    baton.run(prompt="please begin")
    opened = baton.until(lambda: _opened_by_both(gate), "the agent's command that reads at the gate")
    baton.command("handoff", "--no-wait")
    baton.step("ask")
    model.brain = Worker(WorkerSettings())
    os.write(opened, b"go on\n")
    os.close(opened)
    cycle = baton.cycle()
    assert_passed(baton, model, cycle)
    assert [d.channel for d in baton.store.deliveries(cycle=cycle.id)] == ["hook", "keys"]


def _opened_by_both(gate: Path) -> int | None:
    """The gate, open for writing once somebody reads there."""
    try:
        return os.open(gate, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        return None
