"""What the agent's own turns do to a handoff: background work, compaction, errors of the model, dialogs that stay."""

import pytest

from batonpass.store import default_url, open_store
from tests.system.house import House

TASK = "make the reader survive torn lines"
_LONG = pytest.mark.long
HASTE = "timeouts:\n  safe_point: 2\n  ask: 6\n  pass: 3\n"


def test_a_background_task_that_ends_right_after_the_clear_is_not_the_receipt(shared: House) -> None:
    session = shared.run("background", faults=[{"fault": "background", "turn": 1}])
    session.say(TASK)
    cycle = session.cycle()
    assert cycle["state"] == "done", cycle
    assert set(session.tags().values()) == {1}
    assert session.arrived()[-1] == "kick"
    (news,) = [text for text in session.prompts() if "<task-notification>" in text]
    assert "completed" in news
    assert "cat" in session.documents()[0], "what ran in the background is in the handoff"


def test_a_compaction_inside_the_turn_that_writes_the_handoff_is_a_miss_and_the_baton_is_passed(shared: House) -> None:
    session = shared.run("compacts", brain={"handoff_step": 25_000})
    session.say(TASK)
    cycle = session.cycle()
    assert cycle["state"] == "done", cycle
    with open_store(default_url(shared.home)) as store:
        events = [event.name for event in store.events(session=session.id, limit=1000)]
    assert events.count("CONTEXT_MISSED") == 1
    # It compacted after it was asked, and what was recorded was in its context again.
    assert any("Baton handoff, part 1 of" in text and TASK in text for text in session.told())
    assert TASK in session.documents()[0]
    assert set(session.tags().values()) == {1}


@pytest.mark.parametrize(
    "error", ["overloaded", *(pytest.param(error, marks=_LONG) for error in ("rate_limit", "cut_mid", "server"))]
)
def test_a_model_that_fails_in_the_turn_of_the_handoff_is_asked_again(shared: House, error: str) -> None:
    once = str(shared.folder / f"failed-{error}")
    session = shared.run(f"fails-{error.replace('_', '-')}")
    session.hold("ask")
    session.say(TASK)
    session.until_held("ask")
    session.until_state("idle")  # faults are heard of at the beginning of a turn
    session.misbehave({"fault": "api_error", "error": error, "once": once})
    session.go_on("ask")
    cycle = session.cycle()
    assert cycle["state"] == "done", cycle
    assert {step["step"]: step["attempts"] for step in cycle["steps"]}["ask"] == 2
    assert "The public names must stay as they are." in session.documents()[0]
    assert set(session.tags().values()) == {1}


@_LONG
def test_a_model_that_fails_for_good_is_followed_from_what_was_recorded_once_it_is_back(shared: House) -> None:
    session = shared.run("fails")
    session.hold("ask", "seal")
    session.say(TASK)
    session.until_held("ask")
    session.until_state("idle")
    session.misbehave({"fault": "api_error", "error": "overloaded"})
    session.go_on("ask")
    session.until_held("seal")
    session.misbehave()
    session.go_on("seal")
    cycle = session.cycle()
    assert cycle["state"] == "done", cycle
    assert TASK in session.documents()[0]


@_LONG
def test_an_agent_that_stays_busy_for_longer_than_the_deadline_is_left_alone(shared: House) -> None:
    project, gate = shared.project("endless"), shared.folder / "endless-gate"
    shared.configure(HASTE, project)
    hang = {"fault": "hang", "turn": 1, "until": str(gate)}
    session = shared.run("endless", project=project, brain={"jumps": {}}, faults=[hang])
    session.say(TASK)
    session.until_state("busy")
    shared.call("handoff", session=session.id)
    cycle = session.cycle()
    assert (cycle["state"], session.tags(), session.documents()) == ("postponed", {}, [])
    assert (session.status["agent_session"], session.status["state"]) == (session.first, "busy")
    gate.touch()
    session.until_shown("Done so far")


@_LONG
def test_an_agent_that_hangs_in_the_turn_of_the_handoff_is_replaced_from_what_was_recorded(shared: House) -> None:
    project = shared.project("hangs")
    shared.configure(HASTE, project)
    session = shared.run("hangs", project=project)
    session.hold("ask")
    session.say(TASK)
    session.until_held("ask")
    session.until_state("idle")
    session.misbehave({"fault": "hang", "until": "/nonexistent", "once": str(shared.folder / "hung")})
    session.go_on("ask")
    cycle = session.cycle()
    assert (cycle["state"], cycle["way"]) == ("done", "respawn"), cycle
    assert TASK in session.documents()[0]
    assert set(session.tags().values()) == {1}


def test_a_forcing_rung_that_meets_a_dialog_replaces_the_process_and_types_nothing(shared: House) -> None:
    project = shared.project("forced")
    shared.configure(HASTE, project)
    brain = {"start": 160_000, "jumps": {}, "tool": "write"}
    session = shared.run("forced", project=project, brain=brain, args=("--permission-mode", "default"))
    session.hold("seal")
    session.say(TASK)
    assert session.until_state("waiting")["waiting_for"] == "permission prompt"
    pid = session.status["pid"]
    session.until_held("seal")
    assert "Do you want to create step-1.txt?" in session.screen()
    assert session.status["state"] == "waiting"
    assert not (project / "step-1.txt").exists()
    session.go_on("seal")
    cycle = session.cycle()
    assert (cycle["state"], cycle["way"]) == ("done", "respawn"), cycle
    status = session.status
    assert status["pid"] != pid
    assert status["pane"] == session.pane
    (document,) = session.documents()
    assert TASK in document
    # The successor begins with the kick on its command line; nothing was ever typed.
    assert session.arrived() == ["kick"]
    assert not (project / "step-1.txt").exists()
