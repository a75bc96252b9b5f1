from collections.abc import Iterator

import pytest

from batonpass.sim.postgres import NotAvailable, Server, postgres_server
from batonpass.store import Store, open_store


@pytest.fixture
def server() -> Iterator[Server]:
    """A PostgreSQL of the test's own, which it may stop and start."""
    running = postgres_server()
    try:
        server = running.__enter__()
    except NotAvailable as why:
        pytest.skip(f"NOT TESTED ON POSTGRESQL: {why}")
    yield server
    running.__exit__(None, None, None)


@pytest.fixture
def shared_store(server: Server) -> Iterator[Store]:
    with open_store(server.url) as store:
        yield store
