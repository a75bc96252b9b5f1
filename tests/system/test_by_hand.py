"""Handoffs that a person asks for."""

import json

from tests.system.house import House


def test_an_idle_session_is_asked_by_keys(shared: House) -> None:
    session = shared.run("idle", brain={"jumps": {}})
    session.say("look around")
    shared.wait("the first turn is over", lambda: session.status["used"] and session.status["state"] == "idle")
    answer = json.loads(shared.baton("handoff", "--json", "--why", "going home", cwd=session.project))
    cycle = session.cycle()
    assert answer["id"] == cycle["id"]
    assert (answer["state"], cycle["cause"]) == ("done", "asked for by hand: going home")
    assert session.arrived() == ["ask", "kick"]
    assert "going home" in session.documents()[0]


def test_a_busy_session_is_asked_at_the_end_of_its_turn(shared: House) -> None:
    gate = shared.folder / "gate"
    session = shared.run("busy", brain={"jumps": {}}, faults=[{"fault": "hang", "turn": 1, "until": str(gate)}])
    session.say("think about it")
    session.until_state("busy")
    started = shared.call("handoff", session=session.id)
    assert session.until_step("ask") == started["cycle"]
    assert shared.call("handoff", session=session.id)["cycle"] == started["cycle"], "one cycle per session"
    assert session.tags() == {}, "nothing was typed into a busy agent"
    gate.touch()
    cycle = session.cycle()
    assert cycle["state"] == "done"
    assert set(session.tags().values()) == {1}
    # By the stop hook, in the same turn: the user's prompt is the only one that was typed into the old conversation.
    assert len([text for text in session.prompts() if text.startswith("Stop hook feedback")]) == 1


def test_the_user_asks_for_it_inside_the_agent(shared: House) -> None:
    session = shared.run("slash", brain={"jumps": {}})
    session.say("/handoff end of the day")
    cycle = session.cycle()
    assert (cycle["state"], cycle["cause"]) == ("done", "asked for by /handoff: end of the day")
    assert set(session.tags().values()) == {1}
