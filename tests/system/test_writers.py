"""Agents that do not write what they were asked for: a handoff is sealed all the same, and says what happened."""

import pytest

from tests.system.house import House

_LONG = pytest.mark.long


def _attempts(cycle: dict[str, object]) -> dict[str, int]:
    steps = cycle["steps"]
    assert isinstance(steps, list)
    return {step["step"]: step["attempts"] for step in steps}


@pytest.mark.parametrize(
    "fault", ["silent", pytest.param("wrong_path", marks=_LONG), pytest.param("garbage", marks=_LONG)]
)
def test_without_a_usable_document_the_recorded_facts_are_the_handoff(shared: House, fault: str) -> None:
    session = shared.run(fault, brain={"faults": [fault]})
    session.say("make the reader survive torn lines")
    cycle = session.cycle()
    assert cycle["state"] == "done"
    assert _attempts(cycle)["ask"] == 2
    (document,) = session.documents()
    assert "make the reader survive torn lines" in document
    assert "reader.py" in document
    assert set(session.tags().values()) == {1}


def test_a_careless_document_is_asked_for_once_more_and_then_completed(shared: House) -> None:
    session = shared.run("careless", brain={"faults": ["careless"]})
    session.say("make the reader survive torn lines")
    cycle = session.cycle()
    assert cycle["state"] == "done"
    assert (_attempts(cycle)["ask"], _attempts(cycle)["check"]) == (2, 2)
    (document,) = session.documents()
    assert "## Recorded by Baton" in document
    assert "reader.py" in document.partition("## Files Modified")[2].partition("\n## ")[0]


@pytest.mark.long
def test_a_writer_that_mends_its_ways_is_asked_twice_and_its_own_document_is_sealed(shared: House) -> None:
    session = shared.run("mended", brain={"faults": ["careless"], "fault_attempts": 1})
    session.say("make the reader survive torn lines")
    cycle = session.cycle()
    assert (cycle["state"], _attempts(cycle)["ask"]) == ("done", 2)
    assert {step["step"]: step["state"] for step in cycle["steps"]}["check"] == "ok"


def test_a_document_in_the_last_message_counts_where_it_could_not_be_written(shared: House) -> None:
    session = shared.run("message", brain={"faults": ["message_instead"]})
    session.say("make the reader survive torn lines")
    cycle = session.cycle()
    assert (cycle["state"], _attempts(cycle)["ask"]) == ("done", 1)
    assert "The public names must stay as they are." in session.documents()[0]
