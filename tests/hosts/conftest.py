from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from batonpass.sim import chaos
from batonpass.sim.postgres import NotAvailable, Server, postgres_server
from batonpass.sim.tmux_server import private_tmux
from batonpass.store import Store, open_store
from tests.system.house import House
from tests.wanted import missing


@pytest.fixture
def server() -> Iterator[Server]:
    """A PostgreSQL of the test's own, which it may stop and start."""
    running = postgres_server()
    try:
        server = running.__enter__()
    except NotAvailable as why:
        missing(f"NOT TESTED ON POSTGRESQL: {why}")
    yield server
    running.__exit__(None, None, None)


@pytest.fixture
def shared_store(server: Server) -> Iterator[Store]:
    with open_store(server.url) as store:
        yield store


@pytest.fixture
def houses(server: Server, tmp_path: Path) -> Iterator[tuple[House, House]]:
    """Two hosts with a daemon, a tmux server and a home each, on one database."""
    with ExitStack() as open_things:
        both = []
        for name in ("east", "west"):
            (tmp_path / name).mkdir()
            env = {"BATON_STORE": server.url, chaos.ENV: "-"}  # rehearsals: the cycles stand still where a test says
            house = House(tmp_path / name, open_things.enter_context(private_tmux()), env)
            open_things.callback(house.close)
            both.append(house)
        yield both[0], both[1]


@pytest.fixture
def east(houses: tuple[House, House]) -> House:
    return houses[0].start()


@pytest.fixture
def west(houses: tuple[House, House]) -> House:
    return houses[1].start()
