"""Successors whose statement does not match the handoff."""

import pytest

from tests.system.house import House

_LONG = pytest.mark.long
_FAULTS = [pytest.param("no_receipt", marks=_LONG), pytest.param("parrot", marks=_LONG), "wrong_branch"]


@pytest.mark.parametrize("fault", _FAULTS)
def test_after_wrong_receipts_the_predecessor_passes_once_more_and_then_a_person_is_called(
    shared: House, fault: str
) -> None:
    session = shared.run(fault, brain={"faults": [fault]})
    session.say("make the reader survive torn lines")
    cycle = session.cycle()
    assert cycle["state"] == "unverified"
    steps = {step["step"]: step for step in cycle["steps"]}
    assert (steps["verify"]["state"], steps["verify"]["attempts"], steps["prime"]["attempts"]) == ("rejected", 4, 4)
    assert (steps["back"]["attempts"], steps["seal"]["attempts"], cycle["way"]) == (1, 2, "respawn")
    assert len(session.documents()) == 2
    notice = shared.wait("a notice", lambda: session.status["notice"])
    assert "receipt was not accepted" in notice
    assert str(cycle["old_agent_session"]) in notice
    assert set(session.tags().values()) == {1}
    assert len(shared.cycles(session.id)) == 1, "one more pass, then a person"


@pytest.mark.long
def test_a_successor_that_understands_after_the_way_back_ends_the_cycle_well(shared: House) -> None:
    session = shared.run("understands", brain={"faults": ["wrong_branch"], "fault_attempts": 2})
    session.say("make the reader survive torn lines")
    cycle = session.cycle()
    assert (cycle["state"], cycle["way"]) == ("done", "respawn")
    assert cycle["new_agent_session"] == session.until_state("idle")["agent_session"] != session.first
    assert set(session.tags().values()) == {1}


@pytest.mark.parametrize("fault", ["wrong_branch", pytest.param("parrot", marks=_LONG)])
def test_a_receipt_that_is_right_the_second_time_is_accepted(shared: House, fault: str) -> None:
    session = shared.run(f"{fault}-once", brain={"faults": [fault], "fault_attempts": 1})
    session.say("make the reader survive torn lines")
    cycle = session.cycle()
    assert cycle["state"] == "done"
    assert {step["step"]: step["attempts"] for step in cycle["steps"]}["verify"] == 2
    # It was told what was wrong.
    assert any("branch" in prompt for prompt in session.prompts() if "kick 2]" in prompt)
