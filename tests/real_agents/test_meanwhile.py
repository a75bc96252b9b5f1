"""What a person says or types while the baton is being passed."""

import pytest

from batonpass.sim.anthropic import AnthropicModel
from batonpass.store import CycleRecord
from tests.real_agents.baton import Baton
from tests.real_agents.checker import assert_passed
from tests.real_agents.harness import Gate

pytestmark = pytest.mark.long_on("2.1.197")

WISH = "and please use tabs everywhere"


def test_a_prompt_sent_while_the_agent_writes_is_answered_and_in_the_handoff_that_passes(
    baton: Baton, model: AnthropicModel
) -> None:
    gate = Gate(model, match="ask 1")
    baton.run(prompt="please begin")
    baton.rest()
    baton.command("handoff", "--no-wait")
    assert gate.reached.wait(30)
    baton.say(WISH)
    baton.until(lambda: "Press up to edit queued messages" in baton.screen(), "a queued prompt")
    gate.open()
    cycle = baton.cycle()
    assert_passed(baton, model, cycle)
    _answered_and_handed_over(model, cycle)


def test_unsent_text_stays_untouched_and_once_sent_is_answered_and_in_the_handoff_that_passes(
    baton: Baton, model: AnthropicModel
) -> None:
    gate = Gate(model, match="ask 1")
    baton.run(prompt="please begin")
    baton.rest()
    baton.command("handoff", "--no-wait")
    assert gate.reached.wait(30)
    baton.type(WISH)
    gate.open()
    baton.step("pass")
    baton.wait_for(lambda status: status["state"] == "idle")
    # Another turn of the daemon's own round: whoever would type now has had the time to.
    looked = baton.status()["cycle"]
    assert looked["step"] == "pass"
    assert f"❯\u00a0{WISH}" in baton.screen()
    assert len(baton.events("SESSION_STARTED")) <= 1
    baton.press("Enter")
    cycle = baton.cycle()
    assert_passed(baton, model, cycle)
    _answered_and_handed_over(model, cycle)


def test_text_in_the_box_of_an_idle_session_holds_the_request_back_until_it_is_sent(
    baton: Baton, model: AnthropicModel
) -> None:
    baton.run(prompt="please begin")
    baton.rest()
    baton.type(WISH)
    baton.command("handoff", "--no-wait")
    baton.step("safe_point")
    assert f"❯\u00a0{WISH}" in baton.screen()
    assert not baton.store.deliveries(session=baton.session)
    baton.press("Enter")
    cycle = baton.cycle()
    assert_passed(baton, model, cycle)
    _answered_and_handed_over(model, cycle)


def _answered_and_handed_over(model: AnthropicModel, cycle: CycleRecord) -> None:
    old = [request for request in model.main_requests() if request.session == cycle.old_agent_session]
    assert any(WISH in text for text in old[-1].user_texts)
    said = old[-1].messages
    asked = next(place for place, (role, text) in enumerate(said) if role == "user" and WISH in text)
    assert any(role == "assistant" and text.strip() for role, text in said[asked + 1 :]), "it got an answer"
    assert sum(WISH in text for text in model.user_texts() if "[baton" not in text) == 1
    assert cycle.document is not None
    assert WISH in cycle.document.read_text(encoding="utf-8")
