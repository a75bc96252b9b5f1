"""`kill -9` of the daemon before, in and after every step: the cycle ends once, rightly, and nothing arrives twice.

Several sessions hand off at once, so one kill finds cycles at several steps.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from batonpass.sim import chaos
from batonpass.sim.postgres import NotAvailable, private_postgres
from batonpass.sim.tmux_server import private_tmux
from tests.system.house import House, Session

CREW = ("one", "two", "three")
# By turns in the quick suite: each day of the year runs other points, all of them in the long matrix.
_OFTEN = 4


def _today() -> int:
    return int(os.environ.get("BATON_CHAOS_TURN") or os.stat(Path(__file__)).st_mtime // 86_400)


def _points() -> list[object]:
    count = len(chaos.POINTS)
    quick = {(_today() * _OFTEN + index * (count // _OFTEN)) % count for index in range(_OFTEN)}
    return [
        point if index in quick else pytest.param(point, marks=pytest.mark.long)
        for index, point in enumerate(chaos.POINTS)
    ]


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
        pytest.skip(f"NOT TESTED on PostgreSQL: {error}")


def crash_and_go_on(house: House, point: str) -> None:
    """Three sessions hand off under a daemon that dies at this point; the daemon after it ends all three."""
    house.env[chaos.ENV] = point
    house.start()
    # A new process is started only where the clear does not work.
    faults = [{"fault": "ignore_clear"}] if point == "pass:started" else []
    crew = [house.run(name, faults=faults) for name in CREW]
    for session in crew:
        session.say("make the reader survive torn lines")
    house.wait(f"the daemon dies at {point}", lambda: (house.home / "run" / "chaos").exists())
    del house.env[chaos.ENV]
    house.kill_daemon(stay_away=True)
    house.start()
    for session in crew:
        ends_once(session)


def ends_once(session: Session) -> None:
    cycle = session.cycle()
    assert (cycle["state"], len(session.house.cycles(session.id))) == ("done", 1)
    twice = {tag: count for tag, count in session.tags().items() if count > 1}
    assert not twice
    records = [r for r in session.house.call("handoffs_list", all=True) if r["session"] == session.id]
    assert (len(session.documents()), len(records)) == (1, 1)
    assert session.until_state("idle")["chain"] == 1
    steps = {step["step"]: step for step in cycle["steps"]}
    assert steps["seal"]["started"] + steps["seal"]["seconds"] <= steps["pass"]["started"] + 0.001


@pytest.mark.parametrize("point", _points())
def test_a_daemon_killed_at_any_point_leaves_nothing_undone_and_nothing_done_twice(house: House, point: str) -> None:
    crash_and_go_on(house, point)


@pytest.mark.long
@pytest.mark.parametrize("point", chaos.POINTS[::3])
def test_the_same_holds_on_postgresql(postgres_house: House, point: str) -> None:
    crash_and_go_on(postgres_house, point)
