"""A session that would hand off again and again is stopped, shown, and goes on when a person says so."""

import json

from tests.system.house import House, Session


def _work(house: House, session: Session, used: int) -> None:
    session.say(f"go on until {used}")
    house.wait(f"{used} tokens", lambda: (session.status["used"] or 0) >= used)


def test_a_storm_of_handoffs_is_stopped_and_shown_until_a_person_has_looked(house: House) -> None:
    house.configure("breaker_per_hour: 1\n")
    house.start()
    session = house.run(brain={"start": 100_000, "step": 45_000, "jumps": {}, "tool": "none"})
    _work(house, session, 100_000)
    session.until_state("idle")
    session.say("and the rest")
    assert session.cycle()["state"] == "done"
    session.until_state("idle")
    _work(house, session, 145_000)
    held = house.wait("the guard", lambda: session.status["guard"]["guard"] and session.status["guard"])
    assert (held["guard"], held["handoffs_in_the_last_hour"]) == ("breaker", 1)
    assert "⏹ shop: paused until" in house.baton("status")
    (shown,) = json.loads(house.baton("breaker", "show", "--json"))
    assert "1 handoffs within an hour, 1 are allowed" in shown["why"]
    assert any("run: baton breaker reset shop" in note for note in house.notices())
    assert len(house.cycles(session.id)) == 1
    session.until_state("idle")

    house.kill_daemon(stay_away=True)
    house.start()
    assert session.status["guard"]["guard"] == "breaker", "a restart is no way out"
    assert len(house.cycles(session.id)) == 1

    assert "the count starts anew" in house.baton("breaker", "reset", "shop")
    house.wait("the second handoff", lambda: [c["state"] for c in house.cycles(session.id)] == ["done", "done"])
    assert session.arrived() == ["ask", "kick", "ask", "kick"]
