"""A session that passes its baton by itself, with nobody there."""

import pytest

from batonpass.delivery import Channel
from batonpass.sim.anthropic import AnthropicModel
from batonpass.sim.model_wire import Kind
from batonpass.sim.worker import Worker, WorkerSettings
from tests.real_agents.baton import Baton
from tests.real_agents.brains import CalmAfter
from tests.real_agents.checker import assert_passed

pytestmark = pytest.mark.long_on("2.1.197")


def test_three_batons_are_passed_in_a_row_after_one_prompt_and_no_compaction_comes_first(
    baton: Baton, model: AnthropicModel
) -> None:
    model.brain = CalmAfter(3, WorkerSettings(start=50_000, step=25_000, steps=4))
    baton.run(prompt="please make the reader survive torn lines")
    baton.cycle(3)
    assert baton.rest()["chain"] == 3
    for cycle in baton.cycles():
        assert_passed(baton, model, cycle)
        assert 75 <= (cycle.percent or 0) < 100
        (asked,) = [given for given in baton.store.deliveries(cycle=cycle.id) if given.step == "ask"]
        assert asked.channel is Channel.HOOK, "in the turn that crossed the threshold, with no key typed"
    people = [text for text in model.user_texts() if "[baton " not in text]
    assert people == ["please make the reader survive torn lines"]
    assert not [request for request in model.requests if request.kind is Kind.COMPACT]
    assert not baton.events("COMPACTED")


def test_a_jump_from_40_to_93_percent_in_one_message_is_handed_off_before_the_agent_compacts(
    baton: Baton, model: AnthropicModel
) -> None:
    model.brain = Worker(WorkerSettings(start=66_800, step=0, jumps={2: 155_310}))
    baton.run(prompt="please begin")
    assert baton.wait_for(lambda s: s["state"] == "idle" and s["percent"])["percent"] == 40
    baton.say("now read everything")
    cycle = baton.cycle()
    assert_passed(baton, model, cycle)
    assert cycle.percent == pytest.approx(93, abs=0.5)
    assert not [request for request in model.requests if request.kind is Kind.COMPACT]
    assert baton.rest()["percent"] < 50
