"""Every test of the store runs on SQLite, and on PostgreSQL where its server is installed."""

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from batonpass.sim.postgres import NotAvailable, private_postgres
from batonpass.store import Store, default_url, open_store

_numbers = itertools.count()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    try:
        server = private_postgres()
        url = server.__enter__()
    except NotAvailable as why:
        pytest.skip(f"NOT TESTED ON POSTGRESQL: {why}")
    yield url
    server.__exit__(None, None, None)


@pytest.fixture
def postgres_url(postgres_server: str) -> str:
    """An empty database of the test's own."""
    name = f"t{next(_numbers)}"
    engine = sa.create_engine(postgres_server, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    engine.dispose()
    return postgres_server.replace("/postgres?", f"/{name}?")


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return default_url(tmp_path)
    found: str = request.getfixturevalue("postgres_url")
    return found


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with open_store(url) as store:
        yield store
