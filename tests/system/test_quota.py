"""A provider that does not serve: the session waits, or another agent goes on and the first one comes back."""

import json
import time
from typing import Any

import pytest

from tests.system.house import House, Session

TASK = "make the reader survive torn lines"


def _configured(house: House, **quota: float) -> None:
    settings: dict[str, Any] = {"agents": {"scripted": {}, "understudy": {}}, "quota": quota}
    house.configure(json.dumps(settings))


def _failing(
    house: House, name: str, text: str, error: str = "rate_limit", seconds: float = 0.0, at: str = "prompt"
) -> Session:
    """Its provider ends one turn with these words, and serves every later one, whatever process that is in.

    With `seconds`, the words end with the date so long from when the turn begins. `at` tells which request is refused:
    the prompt, or the one after a tool of that turn has run.
    """
    session = house.run(name, brain={"jumps": {}, "command": "echo made > step-{n}.txt"})
    told = f"{text}|{time.time() + seconds:.0f}" if seconds else text
    once = str(house.folder / f"{name}.struck")
    session.misbehave({"fault": "api_error", "error": error, "text": told, "once": once, "at": at})
    session.say(TASK)
    return session


def test_a_limit_that_is_over_soon_is_waited_for_and_the_agent_told_to_go_on(house: House) -> None:
    _configured(house)
    house.start()
    session = _failing(house, "soon", "Rate limit reached. Please try again in 2s.")
    waiting = house.wait("it is seen to wait", lambda: session.status["setback"])
    assert (waiting["phase"], waiting["kind"]) == ("waiting", "rate_limit")
    house.wait("it is told to go on", lambda: [text for text in session.prompts() if " again 1]" in text])
    house.wait("it is well again", lambda: session.status["setback"] is None and session.status["used"])
    assert session.status["agent"] == "scripted"
    assert session.documents() == []
    assert set(session.tags().values()) == {1}


def test_when_a_quota_ends_in_the_middle_of_a_turn_another_agent_goes_on_and_the_first_comes_back(house: House) -> None:
    _configured(house, wait_minutes=0)
    house.start()
    back = time.time() + 11
    session = _failing(house, "quota", "usage limit reached", seconds=12, at="tool")
    first = session.cycle()
    assert (first["state"], first["way"]) == ("done", "switch")
    (status,) = json.loads(house.baton("status", "quota", "--json"))["sessions"]
    assert (status["agent"], status["setback"]["phase"], status["setback"]["first"]) == (
        "understudy",
        "away",
        "scripted",
    )
    assert "stands in for scripted (quota)" in house.baton("status")
    document = session.documents()[0]
    assert "scripted stopped because of its quota" in document
    assert TASK in document
    assert "step-1.txt" in document, "what was done before the provider refused"
    house.wait("the work goes on", lambda: "Done so far: 2 steps." in session.said())
    second = session.cycle(2)
    assert (second["state"], second["way"]) == ("done", "switch")
    assert "scripted should serve again" in second["cause"]
    assert "scripted should serve again" in session.documents()[1]
    house.wait("all is well", lambda: session.status["setback"] is None)
    assert session.until_state("idle")["agent"] == "scripted"
    assert (session.project / "step-3.txt").exists()
    assert time.time() >= back
    assert set(session.tags().values()) == {1}


def test_a_lost_sign_in_with_nobody_else_calls_a_person_once(house: House) -> None:
    house.start()
    session = _failing(house, "alone", "invalid key", error="authentication")
    house.wait("it is stuck", lambda: (session.status["setback"] or {}).get("phase") == "stuck")
    told = [text for text in house.notices() if "cannot go on" in text]
    assert len(told) == 1
    session.say("I have signed in")
    house.wait("it is well again", lambda: session.status["setback"] is None)


@pytest.mark.long
def test_where_the_next_agent_cannot_be_started_the_first_one_goes_on_when_it_serves_again(house: House) -> None:
    settings: dict[str, Any] = {"agents": {"scripted": {}, "codex": {}}, "quota": {"wait_minutes": 0}}
    house.configure(json.dumps(settings))  # and there is no codex here
    house.start()
    session = _failing(house, "not-there", "usage limit reached", seconds=8)
    assert session.cycle()["state"] == "pending"
    house.wait("it is told to go on", lambda: [text for text in session.prompts() if " again " in text])
    house.wait("it is well again", lambda: session.status["setback"] is None and session.status["used"])
    assert session.status["agent"] == "scripted"
    assert len(house.cycles(session.id)) == 1


def test_an_heir_that_ends_at_its_start_leaves_the_first_one_there_until_it_serves_again(house: House) -> None:
    agents = {"scripted": {}, "understudy": {"args": ["--nonsense"]}}
    house.configure(json.dumps({"agents": agents, "quota": {"wait_minutes": 0}}))
    house.start()
    session = _failing(house, "refused", "usage limit reached", seconds=15)
    cycle = session.cycle()
    assert (cycle["state"], cycle["steps"][-2]["step"]) == ("postponed", "back")
    waiting = house.wait("the first is waited for", lambda: _in_phase(session, "waiting"))
    assert (waiting["agent"], waiting["agent_session"], waiting["state"]) == ("scripted", session.first, "idle")
    assert "unrecognized arguments: --nonsense" in waiting["setback"]["missed"]
    assert "unrecognized arguments" in " ".join(house.baton("status").split())
    assert "unrecognized arguments: --nonsense" in waiting["notice"]
    house.wait("it is well again", lambda: session.status["setback"] is None and session.status["used"])
    assert session.arrived() == ["again"], "one that is not served is asked nothing, and told nothing but to go on"
    assert len(house.cycles(session.id)) == 1


def _in_phase(session: Session, phase: str) -> dict[str, Any] | None:
    status = session.status
    return status if (status["setback"] or {}).get("phase") == phase else None


def _exhausted(house: House, name: str, text: str) -> None:
    """The understudy's provider ends every turn with these words."""
    faults = house.folder / f"{name}.understudy.json"
    faults.write_text(json.dumps([{"fault": "api_error", "error": "rate_limit", "text": text}]), encoding="utf-8")
    agents = {"scripted": {}, "understudy": {"args": ["--faults", str(faults)]}}
    house.configure(json.dumps({"agents": agents, "quota": {"wait_minutes": 0}}))


def test_an_heir_that_has_no_quota_gives_the_work_back_at_once(house: House) -> None:
    _exhausted(house, "heir", "You've hit your usage limit. Try again in 6 days.")
    house.start()
    session = house.run("heir", brain={"jumps": {}})
    session.say(TASK)
    before = house.wait("the first turn is over", lambda: session.status if session.status["used"] else None)
    house.baton("handoff", "--to", "understudy", cwd=session.project, code=1)
    cycle = session.cycle()
    assert cycle["state"] == "postponed"
    assert "understudy is not served by its provider" in cycle["note"]
    after = session.until_state("idle")
    assert (after["agent"], after["agent_session"]) == ("scripted", before["agent_session"])
    assert session.arrived() == ["ask", "kick", "back"], "one kick, and nobody is asked again"


@pytest.mark.long
def test_when_the_stand_in_has_no_quota_either_whoever_serves_first_goes_on(house: House) -> None:
    _exhausted(house, "both", "You've hit your usage limit. Try again in 6 days.")
    house.start()
    session = _failing(house, "both", "usage limit reached", seconds=12)
    first = session.cycle()
    assert (first["state"], first["way"]) == ("unverified", "switch")
    second = session.cycle(2)
    assert (second["state"], second["way"]) == ("done", "switch")
    assert "understudy stopped because of its quota" in second["cause"]
    house.wait("all is well", lambda: session.status["setback"] is None)
    assert session.until_state("idle")["agent"] == "scripted"
    assert set(session.tags().values()) == {1}


@pytest.mark.long
@pytest.mark.parametrize("point", ["pass:started", "close:ended"])
def test_a_daemon_that_is_killed_while_another_agent_takes_over_still_brings_the_first_one_back(
    house: House, point: str
) -> None:
    _configured(house, wait_minutes=0)
    process = house.launch(point)
    house.answers_or_ended(process)
    session = _failing(house, "killed", "usage limit reached", seconds=12)
    process.wait()
    house.start()
    assert session.cycle()["state"] == "done"
    second = session.cycle(2)
    assert (second["state"], second["way"]) == ("done", "switch")
    house.wait("all is well", lambda: session.status["setback"] is None)
    assert session.until_state("idle")["agent"] == "scripted"
    assert len(house.cycles(session.id)) == 2
    assert set(session.tags().values()) == {1}


def test_a_successor_whose_first_turn_its_provider_ends_is_told_to_go_on_and_not_kicked_again(house: House) -> None:
    house.start()
    session = house.run("cleared")
    session.hold("seal")
    session.say(TASK)
    session.until_held("seal")
    session.until_state("idle")
    limit = {"fault": "api_error", "error": "rate_limit", "text": "Rate limit reached. Please try again in 2s."}
    session.misbehave({**limit, "once": str(house.folder / "cleared.struck")})
    session.go_on("seal")
    assert session.cycle()["state"] == "unverified"
    house.wait("it is told to go on", lambda: [text for text in session.prompts() if " again 1]" in text])
    house.wait("it is well again", lambda: session.status["setback"] is None)
    assert session.arrived() == ["ask", "kick", "again"]
