"""The same handoff with PostgreSQL as the store."""

from pathlib import Path

import pytest

from batonpass.sim.postgres import NotAvailable, private_postgres
from batonpass.sim.tmux_server import private_tmux
from tests.system.house import House
from tests.wanted import missing

pytestmark = pytest.mark.long


def test_a_whole_handoff_and_a_crash_with_postgresql_as_the_store(tmp_path: Path) -> None:
    server = private_postgres()
    try:
        url = server.__enter__()
    except NotAvailable as why:
        missing(f"NOT TESTED ON POSTGRESQL: {why}")
    with private_tmux() as tmux:
        house = House(tmp_path, tmux, {"BATON_STORE": url}).start()
        try:
            session = house.run(brain={"delay": 0.8})
            session.say("make the reader survive torn lines")
            session.until_step("await")
            house.kill_daemon(stay_away=True)
            house.start()
            cycle = session.cycle()
            assert cycle["state"] == "done"
            assert set(session.tags().values()) == {1}
            assert [h["number"] for h in house.call("handoffs_list", all=True)] == [1]
            assert not (house.home / "baton.db").exists()
        finally:
            house.close()
            server.__exit__(None, None, None)
