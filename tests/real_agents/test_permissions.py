"""Leave to write the draft, and for nothing else."""

from pathlib import Path

import pytest

from batonpass.sim.anthropic import AnthropicModel
from batonpass.sim.brain import Reply, ToolUse
from batonpass.sim.worker import Worker, WorkerSettings
from tests.real_agents.baton import Baton
from tests.real_agents.checker import assert_passed

pytestmark = pytest.mark.long_on("2.1.197")

LONG = pytest.mark.long


@pytest.mark.parametrize(
    "mode", ["default", "plan", *(pytest.param(mode, marks=LONG) for mode in ("acceptEdits", "dontAsk", "auto"))]
)
def test_the_draft_is_written_with_no_dialog_in_every_mode(baton: Baton, model: AnthropicModel, mode: str) -> None:
    baton.run(prompt="please begin", mode=mode)
    baton.rest()
    baton.command("handoff", "--no-wait")
    cycle = baton.cycle()
    assert_passed(baton, model, cycle)
    (waited,) = [step for step in baton.store.steps(cycle.id) if step.step == "await"]
    assert waited.data["from"] == "file"
    assert not [text for text in baton.told() if "waits" in text]


@pytest.mark.parametrize("mode", ["dontAsk", pytest.param("plan", marks=LONG)])
def test_a_document_in_the_message_is_taken_where_the_agent_does_not_write(
    baton: Baton, model: AnthropicModel, mode: str
) -> None:
    model.brain = Worker(WorkerSettings(faults=frozenset({"message_instead"})))
    baton.run(prompt="please begin", mode=mode)
    baton.rest()
    baton.command("handoff", "--no-wait")
    cycle = baton.cycle()
    assert_passed(baton, model, cycle)
    (waited,) = [step for step in baton.store.steps(cycle.id) if step.step == "await"]
    assert waited.data["from"] == "message"


def test_another_file_still_opens_the_dialog_also_in_mid_cycle_and_a_person_is_called(
    baton: Baton, model: AnthropicModel, project: Path
) -> None:
    other = project / "other.txt"
    model.script(Reply("I write.", (ToolUse("write", {"path": str(other), "content": "x"}),)), match="ask 1")
    baton.run(prompt="please begin", mode="default")
    baton.rest()
    baton.command("handoff", "--no-wait")
    waiting = baton.wait_for(lambda status: status["state"] == "waiting")
    assert waiting["waiting_for"]
    baton.until(lambda: any("waits for a person" in text for text in baton.told()), "a notification")
    assert not other.exists()
    baton.press("Escape")
    assert_passed(baton, model, baton.cycle())
    assert not other.exists()
