"""The agent dies or does not obey in the middle of a handoff: the baton is passed all the same, and nothing is lost."""

import os
import signal

import pytest

from batonpass.transcripts.events import Said
from tests.system.house import House, Session

TASK = "make the reader survive torn lines"


def _kill(session: Session) -> None:
    pid = session.status["pid"]
    assert isinstance(pid, int)
    os.kill(pid, signal.SIGKILL)


def _passed_on(session: Session) -> None:
    """A successor in the same pane works on from a sealed handoff that has what the user said."""
    cycle = session.cycle()
    assert (cycle["state"], cycle["way"]) == ("done", "respawn")
    assert TASK in session.documents()[-1]
    status = session.until_state("idle")
    assert (status["pane"], status["chain"]) == (session.pane, 1)
    assert set(session.tags().values()) == {1}


def test_an_agent_that_dies_before_it_is_asked_is_replaced_from_what_was_recorded(shared: House) -> None:
    once = str(shared.folder / "hung-once")
    session = shared.run("dies-asked", faults=[{"fault": "hang", "until": "/nonexistent", "once": once}])
    session.say(TASK)
    session.until_state("busy")
    shared.call("handoff", session=session.id)
    session.until_asked()
    _kill(session)
    _passed_on(session)


@pytest.mark.long
def test_an_agent_that_dies_while_it_writes_is_replaced_from_what_was_recorded(shared: House) -> None:
    session = shared.run("dies-writing", brain={"delay": 1.0})
    session.say(TASK)
    session.until_step("await")
    _kill(session)
    _passed_on(session)


@pytest.mark.long
def test_an_agent_that_dies_of_the_clear_is_replaced(shared: House) -> None:
    once = str(shared.folder / "died-once")
    session = shared.run("dies-cleared", faults=[{"fault": "die", "at": "clear", "once": once}])
    session.say(TASK)
    _passed_on(session)


@pytest.mark.long
def test_an_agent_that_ignores_the_clear_is_replaced(shared: House) -> None:
    session = shared.run("deaf", faults=[{"fault": "ignore_clear"}])
    session.say(TASK)
    _passed_on(session)
    steps = {step["step"]: step for step in session.cycle()["steps"]}
    assert (steps["pass"]["attempts"], steps["pass"]["note"]) == (3, "respawn")


@pytest.mark.long
def test_a_successor_that_dies_before_its_receipt_leaves_a_handoff_that_can_be_continued(shared: House) -> None:
    session = shared.run("dies-verified", brain={"delay": 1.0})
    session.say(TASK)
    session.until_step("verify")
    _kill(session)
    cycle = session.cycle()
    if cycle["state"] == "done":
        assert set(session.tags().values()) == {1}
        return
    assert cycle["state"] in ("pending", "unverified")
    assert TASK in session.documents()[-1]
    assert cycle["document"] in shared.wait("a notice", lambda: session.status["notice"])


@pytest.mark.long
def test_what_a_successor_said_before_it_died_reaches_the_next_one_in_a_document_of_its_own(shared: House) -> None:
    session = shared.run("dies-at-work", brain={"faults": ["no_receipt"], "fault_attempts": 1})
    session.hold("verify")
    session.say(TASK)
    session.until_held("verify")
    session.until_state("idle")
    session.say("keep the public names as they are")
    shared.wait("an answer", lambda: "keep the public names" in str(session.events(Said)))
    session.until_state("idle")
    heir = session.in_front()
    session.kill()
    session.go_on("verify")
    _passed_on(session)
    first, second = session.documents()[-2:]
    assert ("keep the public names" in first, "keep the public names" in second) == (False, True)
    assert heir in second, "it is the dead one's own handoff"
    assert "Good, I have read it." in second
