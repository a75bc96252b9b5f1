"""`kill -9` of the daemon before, in and after every step: the cycle ends once, rightly, and nothing arrives twice.

Several sessions hand off at once, so one kill finds cycles at several steps. The long matrix has every point on both
databases: the same cycles are killed ten times in a row, once in each step.
"""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from batonpass.sim import chaos
from batonpass.sim.postgres import NotAvailable, private_postgres
from batonpass.sim.tmux_server import private_tmux
from tests.system.house import House, Session
from tests.wanted import missing

CREW = ("one", "two", "three")
# By turns in the quick suite: each day of the year runs other points.
_OFTEN = 4
# A new process is started only where the clear does not work: that point has a test of its own.
INSIDE = tuple(point for point in chaos.INSIDE if point != "pass:started")
SERIES = {phase: tuple(f"{step}:{phase}" for step in chaos.STEPS) for phase in chaos.PHASES} | {"inside": INSIDE}


def _today() -> int:
    return int(os.environ["BATON_CHAOS_TURN"])


def _points() -> list[str]:
    count = len(chaos.POINTS)
    return [chaos.POINTS[(_today() * _OFTEN + index * (count // _OFTEN)) % count] for index in range(_OFTEN)]


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with private_tmux() as tmux:
        house = House(tmp_path, tmux)
        house.configure("max_concurrent: 8\nbreaker_per_hour: 100\n")
        yield house
        house.close()


@pytest.fixture
def postgres_house(tmp_path: Path) -> Iterator[House]:
    try:
        with private_postgres() as url, private_tmux() as tmux:
            house = House(tmp_path, tmux, {"BATON_STORE": url})
            house.configure("max_concurrent: 8\nbreaker_per_hour: 100\n")
            yield house
            house.close()
    except NotAvailable as error:
        missing(f"NOT TESTED ON POSTGRESQL: {error}")


def crash_and_go_on(house: House, *points: str) -> None:
    """Three sessions hand off under daemons that die at one point after the other; the last one ends all three."""
    house.start()
    # A new process is started only where the clear does not work.
    faults = [{"fault": "ignore_clear"}] if "pass:started" in points else []
    crew = [house.run(name, faults=faults) for name in CREW]
    for session in crew:
        session.until_state("idle")
    for point in points:
        house.kill_daemon(stay_away=True)
        process = house.launch(point)
        house.answers_or_ended(process)
        if point == points[0]:
            for session in crew:
                session.say("make the reader survive torn lines")
        house.wait(f"the daemon dies at {point}", lambda: process.poll() is not None)  # noqa: B023
        assert process.returncode == -signal.SIGKILL, house.story()
        assert (house.home / "run" / "chaos").read_text(encoding="utf-8") == point
    house.kill_daemon(stay_away=True)
    house.start()
    for session in crew:
        ends_once(session)


def ends_once(session: Session) -> None:
    cycle = session.cycle()
    assert (cycle["state"], len(session.house.cycles(session.id))) == ("done", 1)
    # The worker's document is whole and its receipt right at the first try, so nothing is ever asked for again: also an
    # "ask 2" after an "ask 1" would be one prompt too many. A request that nobody took is no arrival.
    assert session.arrived() == ["ask", "kick"], f"{session.tags()}\n{session.house.story()}"
    records = [r for r in session.house.call("handoffs_list", all=True) if r["session"] == session.id]
    assert (len(session.documents()), len(records)) == (1, 1)
    assert session.until_state("idle")["chain"] == 1
    steps = {step["step"]: step for step in cycle["steps"]}
    assert steps["seal"]["started"] + steps["seal"]["seconds"] <= steps["pass"]["started"] + 0.001
    # And by what Baton did not write: when the file came to its name, and when the agent says that it began anew.
    (file,) = session.sealed()
    began = session.began()
    assert list(began) == [session.first, cycle["new_agent_session"]]
    assert file.stat().st_ctime <= began[cycle["new_agent_session"]]


@pytest.mark.parametrize("point", _points())
def test_a_daemon_killed_at_any_point_leaves_nothing_undone_and_nothing_done_twice(house: House, point: str) -> None:
    crash_and_go_on(house, point)


@pytest.mark.long
def test_a_daemon_killed_right_after_it_started_a_new_process_does_not_start_a_second_one(house: House) -> None:
    crash_and_go_on(house, "pass:started")


@pytest.mark.long
@pytest.mark.parametrize("series", SERIES)
def test_cycles_that_are_cut_off_in_every_step_end_once(house: House, series: str) -> None:
    crash_and_go_on(house, *SERIES[series])


@pytest.mark.long
@pytest.mark.parametrize("series", SERIES)
def test_the_same_holds_on_postgresql(postgres_house: House, series: str) -> None:
    crash_and_go_on(postgres_house, *SERIES[series])


def test_the_long_matrix_has_at_least_sixty_kill_points_on_the_two_databases() -> None:
    points = [point for series in SERIES.values() for point in series]
    assert set(points) | {"pass:started"} == set(chaos.POINTS)
    assert len(points) >= 50
