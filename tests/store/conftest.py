"""Every test of the store runs on SQLite, and on PostgreSQL where its server is installed."""

import itertools
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from batonpass.sim.postgres import NotAvailable, private_postgres
from batonpass.store import Store, default_url, open_store
from batonpass.store.engine import Database
from batonpass.store.tables import metadata
from tests.wanted import missing

_numbers = itertools.count()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    server = private_postgres()
    try:
        url = server.__enter__()
    except NotAvailable as why:
        missing(f"NOT TESTED ON POSTGRESQL: {why}")
    yield url
    server.__exit__(None, None, None)


@pytest.fixture
def postgres_url(postgres_server: str) -> Iterator[str]:
    """An empty database of the test's own."""
    name = f"t{next(_numbers)}"
    _on_server(postgres_server, f"CREATE DATABASE {name}")
    yield postgres_server.replace("/postgres?", f"/{name}?")
    _on_server(postgres_server, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place where no store has been yet."""
    if request.param == "sqlite":
        return default_url(tmp_path)
    found: str = request.getfixturevalue("postgres_url")
    return found


# Migrating takes longer than most tests: those that are not about it share what was migrated once.


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("migrated")
    open_store(default_url(home)).close()
    return home / "baton.db"


@pytest.fixture(scope="session")
def shared_database(postgres_server: str) -> str:
    open_store(postgres_server).close()
    return postgres_server


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """An empty store."""
    if request.param == "sqlite":
        shutil.copy(request.getfixturevalue("migrated_file"), tmp_path / "baton.db")
        url = default_url(tmp_path)
    else:
        url = request.getfixturevalue("shared_database")
        _empty(url)
    with open_store(url) as store:
        yield store


def _empty(url: str) -> None:
    database = Database(url)
    with database.write() as connection:
        connection.exec_driver_sql(f"TRUNCATE {', '.join(metadata.tables)}")
    database.close()


def _on_server(server: str, statement: str) -> None:
    engine = sa.create_engine(server, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(statement)
    engine.dispose()
