"""The model fails in the turn that writes the handoff."""

import pytest

from batonpass.sim.anthropic import AnthropicModel
from batonpass.sim.brain import Reply
from batonpass.store import Author
from tests.real_agents.baton import Baton
from tests.real_agents.checker import assert_passed

pytestmark = [pytest.mark.long_on("2.1.197"), pytest.mark.timeout(240)]

LONG = pytest.mark.long


@pytest.mark.parametrize(
    "error", ["overloaded", *(pytest.param(error, marks=LONG) for error in ("rate_limit", "cut_before", "cut_mid"))]
)
def test_a_model_that_fails_for_a_moment_is_asked_again_by_the_agent_and_the_document_is_its_own(
    baton: Baton, model: AnthropicModel, error: str
) -> None:
    baton.run(prompt="please begin")
    baton.rest()
    model.script(Reply("torn words", error=error), match="ask 1")
    baton.command("handoff", "--no-wait")
    cycle = baton.cycle()
    assert_passed(baton, model, cycle)
    (handoff,) = baton.store.handoffs(session=baton.session)
    assert handoff.source is Author.AGENT


@LONG
def test_a_turn_that_ends_with_an_error_is_asked_for_once_more(baton: Baton, model: AnthropicModel) -> None:
    baton.run(prompt="please begin")
    baton.rest()
    model.script(Reply(error="authentication"), match="ask 1", times=1000)
    baton.command("handoff", "--no-wait")
    cycle = baton.cycle()
    assert_passed(baton, model, cycle)
    states = [step.state for step in baton.store.steps(cycle.id) if step.step == "await"]
    assert states == ["no_document", "ok"]


@LONG
def test_where_no_turn_of_the_handoff_succeeds_what_was_recorded_is_passed(baton: Baton, model: AnthropicModel) -> None:
    baton.run(prompt="please begin, and keep the public names")
    baton.rest()
    model.script(Reply(error="authentication"), match=r"ask \d", times=1000)
    baton.command("handoff", "--no-wait")
    cycle = baton.cycle()
    assert_passed(baton, model, cycle)
    (handoff,) = baton.store.handoffs(session=baton.session)
    assert handoff.source is Author.FACTS
    assert "please begin, and keep the public names" in handoff.path.read_text(encoding="utf-8")
