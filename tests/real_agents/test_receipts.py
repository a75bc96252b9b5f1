"""A successor that has not understood: it is corrected once, and then a person is called."""

import pytest

from batonpass.sim.anthropic import AnthropicModel
from batonpass.sim.worker import Worker, WorkerSettings
from tests.real_agents.baton import Baton
from tests.real_agents.checker import assert_passed

pytestmark = pytest.mark.long_on("2.1.197")

ODD = (pytest.mark.long, pytest.mark.newest)


# The other kinds of a wrong receipt are no matter of the agent: tests/system has them all.
@pytest.mark.parametrize(("fault", "complaint"), [("wrong_branch", '"branch" is "somewhere-else"')])
def test_a_wrong_receipt_is_corrected_by_the_second_kick(
    baton: Baton, model: AnthropicModel, fault: str, complaint: str
) -> None:
    model.brain = Worker(WorkerSettings(faults=frozenset({fault}), fault_attempts=1))
    baton.run(prompt="please begin")
    baton.rest()
    baton.command("handoff", "--no-wait")
    cycle = baton.cycle()
    assert_passed(baton, model, cycle)
    first, second = [step for step in baton.store.steps(cycle.id) if step.step == "verify"]
    assert (first.state, second.state) == ("rejected", "ok")
    assert complaint in (first.note or "")
    kicks = [d.text for d in baton.store.deliveries(cycle=cycle.id) if d.step == "kick"]
    assert len(kicks) == 2
    assert complaint in kicks[1]


@pytest.mark.parametrize("fault", ["parrot", pytest.param("no_receipt", marks=ODD)])
def test_a_receipt_that_stays_wrong_brings_the_predecessor_back_for_one_more_pass_and_then_calls_a_person(
    baton: Baton, model: AnthropicModel, fault: str
) -> None:
    model.brain = Worker(WorkerSettings(faults=frozenset({fault})))
    before = baton.run(prompt="please begin")
    baton.rest()
    baton.command("handoff", "--no-wait")
    cycle = baton.cycle(timeout=240)  # two passes, each with two kicks
    assert_passed(baton, model, cycle, receipt=False)
    assert cycle.way == "respawn"
    _came_back(baton, before["agent_session"])
    after = baton.rest()
    assert after["pane"] == before["pane"]
    (told,) = [text for text in baton.told() if "receipt was not accepted" in text]
    assert before["agent_session"] in told
    assert str(cycle.document) in told


@pytest.mark.long
@pytest.mark.newest
def test_the_predecessor_that_came_back_passes_the_baton_to_a_successor_that_understands(
    baton: Baton, model: AnthropicModel
) -> None:
    model.brain = Worker(WorkerSettings(faults=frozenset({"parrot"}), fault_attempts=2))
    before = baton.run(prompt="please begin")
    baton.rest()
    baton.command("handoff", "--no-wait")
    cycle = baton.cycle(timeout=240)
    assert_passed(baton, model, cycle)
    assert cycle.way == "respawn"
    _came_back(baton, before["agent_session"])


def _came_back(baton: Baton, agent_session: str) -> None:
    began = [(event.data["agent_session"], event.data["source"]) for event in baton.events("SESSION_STARTED")]
    assert (agent_session, "resume") in began
