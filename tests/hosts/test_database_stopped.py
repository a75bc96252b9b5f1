"""The database goes away in the middle of everything and comes back: nothing is lost and nothing is done twice."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from batonpass.sim.postgres import Server
from batonpass.sim.tmux_server import private_tmux
from tests.system.house import House, Refused

TASK = "make the reader survive torn lines"


@contextmanager
def _stopped(house: House, server: Server, seconds: float = 10.0) -> Iterator[None]:
    """The server is down for that long, or for as long as the block takes, and the daemon has noticed its return."""
    server.stop()
    until = time.monotonic() + seconds
    yield
    time.sleep(max(0.0, until - time.monotonic()))  # the length of the outage is what is tested
    server.start()
    house.wait("the store is back", lambda: house.call("status")["store"] is None)


@pytest.mark.long
@pytest.mark.parametrize("step", ["ask", "await", "pass", "verify"])
def test_a_cycle_that_the_database_leaves_goes_on_when_it_is_back(east: House, server: Server, step: str) -> None:
    session = east.run(brain={"delay": 1.0})
    session.say(TASK)
    session.until_step(step)
    with _stopped(east, server):
        assert session.status["state"] in ("busy", "idle", "waiting")
        east.wait("people are told", lambda: "cannot be reached" in (east.call("status")["store"] or ""))
    cycle = east.call("handoff_wait", cycle=session.cycle()["id"])
    assert (cycle["state"], cycle["note"]) == ("done", None)
    assert [(found["step"], found["state"]) for found in cycle["steps"] if found["state"] != "ok"] == []
    assert set(session.tags().values()) == {1}
    assert len(session.documents()) == 1
    log = east.home / "logs" / "baton.log"
    # The cycle may be over before everything else that waited for the database is made up for.
    east.wait("its return is told", lambda: "is back after" in log.read_text(encoding="utf-8"))
    said = log.read_text(encoding="utf-8")
    assert said.count("WARNING batonpass.supervisor.outage") == 2
    assert "Traceback" not in said


@pytest.mark.long
def test_a_handoff_that_comes_due_while_the_database_is_away_is_made_when_it_is_back(
    east: House, server: Server
) -> None:
    session = east.run()
    session.until_state("idle")
    with _stopped(east, server):
        session.say(TASK)
        session.until_shown("Done so far")
    cycle = session.cycle()
    assert cycle["state"] == "done"
    assert set(session.tags().values()) == {1}


@pytest.mark.long
def test_a_handoff_asked_for_in_the_agent_while_the_database_is_away_is_not_forgotten(
    east: House, server: Server
) -> None:
    session = east.run(brain={"jumps": {}})
    session.until_state("idle")
    with _stopped(east, server, 3.0):
        session.say("/handoff before the weekend")
        session.until_state("idle")
        with pytest.raises(Refused, match="cannot be reached"):
            east.call("handoff", session=session.id)
    assert "before the weekend" in session.cycle()["cause"]


@pytest.mark.long
def test_a_daemon_that_finds_no_database_says_so_in_one_sentence(east: House, server: Server) -> None:
    east.kill_daemon(stay_away=True)
    server.stop()
    said = east.baton("daemon", "run", code=1)
    assert "cannot be reached" in said
    assert len(said.strip().splitlines()) == 1
    server.start()
    east.start()


@pytest.mark.long
def test_a_locked_sqlite_file_holds_a_cycle_up_and_does_not_end_it(tmp_path_factory: pytest.TempPathFactory) -> None:
    with private_tmux() as tmux:
        house = House(tmp_path_factory.mktemp("locked"), tmux).start()
        try:
            session = house.run(brain={"delay": 1.0})
            session.say(TASK)
            session.until_step("await")
            with sqlite3.connect(house.home / "baton.db", isolation_level=None) as other:
                other.execute("BEGIN IMMEDIATE")
                time.sleep(8)  # longer than anybody waits for a lock
                other.execute("ROLLBACK")
            other.close()
            cycle = house.call("handoff_wait", cycle=session.cycle()["id"])
            assert cycle["state"] == "done"
            assert [(found["step"], found["state"]) for found in cycle["steps"] if found["state"] != "ok"] == []
            assert set(session.tags().values()) == {1}
        finally:
            house.close()
