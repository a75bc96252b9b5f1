"""Cycles that were noted down and never begun: a crash, or a database that left in between."""

from dataclasses import replace

import pytest

from batonpass.sim.tmux_server import private_tmux
from batonpass.store import CycleRecord, default_url, open_store, plain_url
from tests.system.house import House


@pytest.mark.long
def test_a_cycle_that_a_crash_kept_from_beginning_is_begun_at_the_next_start(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with private_tmux() as tmux:
        house = House(tmp_path_factory.mktemp("house"), tmux).start()
        try:
            session = house.run(brain={"jumps": {}})
            status = session.until_state("idle")
            house.kill_daemon(stay_away=True)
            with open_store(default_url(house.home)) as store:
                began = store.hosts()[0].heartbeat
                lost = CycleRecord("c0ffee00", session.id, status["host"], "a test", began)
                lost = replace(lost, old_agent_session=status["agent_session"])
                store.start_cycle(lost)
            house.start()
            cycle = session.cycle()
            assert (cycle["id"], cycle["state"], cycle["started"]) == ("c0ffee00", "done", began)
        finally:
            house.close()


def test_the_engine_gets_a_url_that_it_understands() -> None:
    whole = plain_url("postgres://me:secret@db/baton")
    assert whole == "postgresql://me:secret@db/baton?connect_timeout=5&tcp_user_timeout=10000"
    mine = "postgresql://me:secret@db/baton?connect_timeout=9&tcp_user_timeout=3"
    assert plain_url(mine) == mine
    assert plain_url("sqlite:////tmp/baton.db") == "sqlite:////tmp/baton.db"
