"""Several sessions at once: each passes its baton, and no more than `max_concurrent` at a time."""

import pytest

from tests.system.house import House, Session


def _span(cycle: dict[str, object]) -> tuple[float, float]:
    """From the first ask to the close."""
    steps = cycle["steps"]
    assert isinstance(steps, list)
    started = {step["step"]: step["started"] for step in steps}
    return started["ask"], started["close"]


def _at_once(cycles: list[dict[str, object]]) -> int:
    spans = [_span(cycle) for cycle in cycles]
    return max(sum(1 for begin, end in spans if begin <= moment < end) for moment, _ in spans)


@pytest.mark.parametrize("places", [pytest.param(1, marks=pytest.mark.long), 2])
def test_three_sessions_over_their_thresholds_pass_one_after_the_other(house: House, places: int) -> None:
    house.configure(f"max_concurrent: {places}\n")
    house.start()
    sessions: list[Session] = [house.run(name, brain={"delay": 0.5}) for name in ("one", "two", "three")]
    for session in sessions:
        session.say(f"the task of {session.name}")
    shown = house.baton("status")
    for name in ("one", "two", "three"):
        assert name in shown
    cycles = [session.cycle() for session in sessions]
    assert [cycle["state"] for cycle in cycles] == ["done"] * 3
    assert _at_once(cycles) == places
    for session in sessions:
        (document,) = session.documents()
        assert f"the task of {session.name}" in document
        assert set(session.tags().values()) == {1}
        assert session.status["chain"] == 1
    for session in sessions:
        session.until_state("idle")  # its turn is over, so no further reading comes between the two looks
    rows = house.baton("status").splitlines()
    for session in sessions:
        row = next(row for row in rows if row.startswith(session.name))
        assert "━" in row
        assert f"{session.status['percent']:.0f} %" in row
        assert session.status["zone"] in row
    alone = house.baton("status", "two")
    assert [name for name in ("one", "two", "three") if f"\n{name} " in alone] == ["two"]
    assert "no session 'four' is known here" in house.baton("status", "four", code=3)


@pytest.mark.long
def test_the_most_urgent_session_goes_first(house: House) -> None:
    house.configure("max_concurrent: 1\n")
    house.start()
    first = house.run("first", brain={"delay": 0.8})
    first.say("hold the only place")
    first.until_step("await")
    low = house.run("low", brain={"jumps": {"1": 143_000}})
    high = house.run("high", brain={"jumps": {"1": 156_000}})
    low.say("wait in line")
    low.until_step("safe_point")
    high.say("wait in line")
    assert [session.cycle()["state"] for session in (first, low, high)] == ["done"] * 3
    assert _span(high.cycle())[0] < _span(low.cycle())[0]
