"""The baton passes from one agent to another: the same document, the same pane, and a way back."""

import json
from collections.abc import Mapping

import pytest

from tests.system.house import House, Session

TASK = "make the reader survive torn lines"


def _started(house: House, name: str) -> Session:
    session = house.run(name, brain={"jumps": {}})
    session.say(TASK)
    house.wait("the first turn is over", lambda: session.status["used"] and session.status["state"] == "idle")
    return session


def _argued(house: House, brain: Mapping[str, object]) -> None:
    """The user's own arguments for the other agent."""
    house.configure(json.dumps({"agents": {"understudy": {"args": ["--brain", json.dumps(brain)]}}}))


def test_another_agent_takes_over_in_the_same_pane_and_the_first_can_have_it_back(shared: House) -> None:
    session = _started(shared, "there-and-back")
    before = session.status
    answer = json.loads(shared.baton("handoff", "--to", "understudy", "--json", cwd=session.project))
    assert (answer["state"], answer["way"]) == ("done", "switch")
    after = session.until_state("idle")
    assert (before["agent"], after["agent"]) == ("scripted", "understudy")
    assert after["pane"] == before["pane"]
    assert after["agent_session"] != before["agent_session"]
    assert session.arrived() == ["ask", "kick"]
    assert "**Agent**: scripted" in session.documents()[0]
    assert any("passed the baton to understudy" in text for text in shared.notices())
    shared.baton("handoff", "--to", "scripted", cwd=session.project)
    assert session.cycle(2)["way"] == "switch"
    back = session.until_state("idle")
    assert (back["agent"], back["chain"]) == ("scripted", 2)
    assert "**Agent**: understudy" in session.documents()[1]
    assert TASK in session.documents()[1], "what the first was told is still known"
    assert set(session.tags().values()) == {1}


def test_an_agent_that_is_not_there_is_not_switched_to_and_nothing_is_cleared(shared: House) -> None:
    session = _started(shared, "not-there")
    before = session.status
    answer = shared.baton("handoff", "--to", "codex", cwd=session.project, code=1)
    assert "Codex is not on the PATH" in " ".join(answer.split())
    after = session.until_state("idle")
    same = ("agent", "agent_session", "pid")
    assert [after[key] for key in same] == [before[key] for key in same]
    assert session.cycle()["state"] == "pending"
    assert len(session.documents()) == 1


def test_nobody_is_asked_to_pass_to_an_agent_that_nobody_knows(shared: House) -> None:
    session = _started(shared, "nobody")
    assert "there is no agent 'nobody'" in shared.baton("handoff", "--to", "nobody", cwd=session.project, code=2)
    assert session.documents() == []


def test_an_agent_that_ends_at_its_start_gives_the_work_back_and_its_last_words_are_told(house: House) -> None:
    house.configure(json.dumps({"agents": {"understudy": {"args": ["--nonsense"]}}}))
    house.start()
    session = _started(house, "refused")
    before = session.status
    house.baton("handoff", "--to", "understudy", cwd=session.project, code=1)
    cycle = session.cycle()
    assert [step["step"] for step in cycle["steps"]][-3:] == ["pass", "back", "close"]
    attempts = {step["step"]: step["attempts"] for step in cycle["steps"]}
    assert (cycle["state"], attempts["pass"], attempts["back"]) == ("postponed", 2, 1)
    assert "understudy ended at its start" in cycle["note"]
    assert "unrecognized arguments: --nonsense" in cycle["note"]
    after = session.until_state("idle")
    same = ("agent", "agent_session", "model", "pane", "project")
    assert [after[key] for key in same] == [before[key] for key in same]
    assert "unrecognized arguments: --nonsense" in after["notice"]
    assert "scripted goes on" in after["notice"]
    assert session.arrived() == ["ask", "back"]
    session.say("and now the writer")
    house.wait("it hears", lambda: "and now the writer" in session.prompts())


@pytest.mark.long
def test_after_wrong_receipts_of_the_other_agent_the_first_one_is_brought_back_and_passes_again(house: House) -> None:
    _argued(house, {"faults": ["wrong_branch"], "fault_attempts": 2})
    house.start()
    session = _started(house, "way-back")
    house.baton("handoff", "--to", "understudy", cwd=session.project)
    cycle = session.cycle()
    steps = {step["step"]: step["attempts"] for step in cycle["steps"]}
    assert (cycle["state"], cycle["way"], steps["back"], steps["pass"]) == ("done", "switch", 1, 2)
    assert session.until_state("idle")["agent"] == "understudy"
    assert [text for text in session.prompts() if " back 1]" in text]
    assert set(session.tags().values()) == {1}


@pytest.mark.long
@pytest.mark.parametrize("point", ["pass:primed", "pass:started", "pass:acted", "prime:begun"])
def test_a_daemon_that_is_killed_while_it_switches_ends_the_switch_once(house: House, point: str) -> None:
    process = house.launch(point)
    house.answers_or_ended(process)
    session = _started(house, "killed")
    house.call("handoff", session=session.id, to="understudy")
    process.wait()
    house.start()
    cycle = session.cycle()
    assert (cycle["state"], cycle["way"]) == ("done", "switch")
    assert session.until_state("idle")["agent"] == "understudy"
    assert session.arrived() == ["ask", "kick"]
