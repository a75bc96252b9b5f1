"""A provider that does not serve: the session waits, or another agent goes on and the first one comes back."""

import json
import time
from typing import Any

from tests.system.house import House, Session

TASK = "make the reader survive torn lines"


def _configured(house: House, **quota: float) -> None:
    settings: dict[str, Any] = {"agents": {"scripted": {}, "understudy": {}}, "quota": quota}
    house.configure(json.dumps(settings))


def _failing(house: House, name: str, text: str, error: str = "rate_limit", times: int = 1) -> Session:
    fault = {"fault": "api_error", "error": error, "text": text, "turn": 1, "times": times}
    session = house.run(name, brain={"jumps": {}}, faults=[fault])
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


def test_at_the_end_of_a_quota_another_agent_goes_on_and_the_first_comes_back(house: House) -> None:
    _configured(house, wait_minutes=0)
    house.start()
    back = time.time() + 12
    session = _failing(house, "quota", f"usage limit reached|{back:.0f}")
    first = session.cycle()
    assert (first["state"], first["way"]) == ("done", "switch")
    status = session.status
    assert (status["agent"], status["setback"]["phase"], status["setback"]["first"]) == (
        "understudy",
        "away",
        "scripted",
    )
    assert "stands in for scripted (quota)" in house.baton("status")
    document = session.documents()[0]
    assert "scripted stopped because of its quota" in document
    assert TASK in document
    second = session.cycle(2)
    assert (second["state"], second["way"]) == ("done", "switch")
    assert "scripted should serve again" in second["cause"]
    house.wait("all is well", lambda: session.status["setback"] is None)
    assert session.until_state("idle")["agent"] == "scripted"
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
