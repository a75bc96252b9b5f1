"""Opening: files, permissions, migration, and what else lives in the same database."""

import sqlite3
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import cast

import pytest
import sqlalchemy as sa
from alembic import op
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

import batonpass.store
from batonpass.store import CycleState, StoreError, default_url, open_store
from batonpass.store.engine import Database, _write_ahead
from batonpass.store.migrate import HEAD, VERSION_TABLE
from batonpass.store.tables import metadata
from tests.store.samples import SESSION, cycle, delivery, handoff, reading

ODD_NAME = "a folder # with 100% odd? näme"


def test_the_default_file_is_in_the_home_whatever_the_home_is_called(tmp_path: Path) -> None:
    with open_store(default_url(tmp_path / ODD_NAME)) as store:
        assert store.where == str(tmp_path / ODD_NAME / "baton.db")
    assert (tmp_path / ODD_NAME / "baton.db").is_file()


def test_only_the_owner_can_read_the_file_and_its_side_files(tmp_path: Path) -> None:
    (tmp_path / "baton.db").touch(mode=0o644)
    with open_store(default_url(tmp_path)) as store:
        store.put("secret", "value")
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert modes == {"baton.db": 0o600, "baton.db-wal": 0o600, "baton.db-shm": 0o600}


def test_sqlite_is_set_to_lose_nothing_in_a_crash(tmp_path: Path) -> None:
    database = Database(default_url(tmp_path))
    with database.read() as connection:
        settings = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "busy_timeout", "foreign_keys")
        }
    database.close()
    assert settings == {"journal_mode": "wal", "synchronous": 1, "busy_timeout": 5_000, "foreign_keys": 1}


def test_what_was_stored_is_there_when_it_is_opened_again(url: str) -> None:
    with open_store(url) as store:
        store.save_session(SESSION)
    with open_store(url) as store:
        assert store.session(SESSION.id) == SESSION


def test_the_migrations_make_exactly_the_tables_that_the_code_knows(url: str) -> None:
    open_store(url).close()
    database = Database(url)
    with database.read() as connection:
        context = MigrationContext.configure(
            connection,
            opts={"version_table": VERSION_TABLE, "compare_type": True, "target_metadata": metadata},
        )
        differences = compare_metadata(context, metadata)
    database.close()
    assert differences == []


def test_the_newest_migration_is_the_one_that_opening_looks_for() -> None:
    folder = Path(batonpass.store.__file__).parent / "migrations"
    assert ScriptDirectory(str(folder)).get_current_head() == HEAD


def test_a_migration_that_is_cut_short_leaves_nothing_and_is_done_again(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_table = op.create_table

    def break_at_events(name: str, *columns: sa.schema.SchemaItem) -> sa.Table:
        if name == "events":
            raise KeyboardInterrupt
        return create_table(name, *columns)

    with monkeypatch.context() as patched:
        patched.setattr(op, "create_table", break_at_events)
        with pytest.raises(KeyboardInterrupt):
            open_store(url)
    assert _tables(url) == set()
    with open_store(url) as store:
        assert store.events() == []


def test_two_that_open_a_new_store_at_once_both_get_it(url: str) -> None:
    with ThreadPoolExecutor(4) as threads:
        for store in threads.map(open_store, [url] * 4):
            with store:
                assert store.sessions() == []


class Refusing:
    """A connection whose file others are opening, for so many tries."""

    def __init__(self, *codes: int) -> None:
        self.codes = list(codes)

    def execute(self, statement: str) -> None:
        if self.codes:
            error = sqlite3.OperationalError("database is locked")
            error.sqlite_errorcode = self.codes.pop(0)
            raise error


def test_a_file_that_others_are_opening_is_tried_again_and_any_other_refusal_is_told() -> None:
    busy = Refusing(sqlite3.SQLITE_BUSY, sqlite3.SQLITE_BUSY_RECOVERY)
    _write_ahead(cast(sqlite3.Connection, busy))
    assert not busy.codes
    with pytest.raises(sqlite3.OperationalError):
        _write_ahead(cast(sqlite3.Connection, Refusing(sqlite3.SQLITE_READONLY)))


def test_a_store_of_a_newer_version_is_left_alone(url: str) -> None:
    open_store(url).close()
    _execute(url, f"UPDATE {VERSION_TABLE} SET version_num = '9999'")
    with pytest.raises(StoreError, match="newer version of Baton"):
        open_store(url)


def test_urls_of_other_databases_are_refused() -> None:
    with pytest.raises(StoreError, match="not mysql"):
        open_store("mysql://root@localhost/x")


def test_a_store_in_memory_is_refused_because_threads_would_not_share_it() -> None:
    with pytest.raises(StoreError, match="must be a file"):
        open_store("sqlite://")


def test_a_url_that_cannot_be_read_is_not_repeated_because_it_may_hold_a_password() -> None:
    with pytest.raises(StoreError, match="cannot be read") as refusal:
        open_store("hunter2")
    assert "hunter2" not in str(refusal.value)


ENGINE = """
import sys
from dbos import DBOS, DBOSPortableJSONSerializer
from batonpass.store import open_store

@DBOS.step()
def double(number):
    return 2 * number

@DBOS.workflow()
def work(number):
    return double(number) + 1

url = sys.argv[1]
with open_store(url) as store:  # first: it sets the write-ahead log, which the engine never does
    DBOS(config={"name": "baton", "system_database_url": url, "executor_id": "here",
                 "application_version": "1", "log_level": "ERROR",
                 "serializer": DBOSPortableJSONSerializer()})
    DBOS.launch()
    store.put("answer", DBOS.start_workflow(work, 20).get_result())
    DBOS.destroy()
"""


def test_the_engine_and_the_store_live_in_one_database(url: str) -> None:
    for _ in range(2):  # the second time both find their tables there
        subprocess.run([sys.executable, "-c", ENGINE, url], check=True, timeout=60)
    with open_store(url) as store:
        assert store.get("answer") == 41
        store.save_session(SESSION)
        store.add_reading(SESSION.id, reading(1.0))
        store.save_delivery(delivery())
        store.start_cycle(cycle(state=CycleState.DONE))
        store.add_handoff(handoff())
    engine_tables = {"workflow_status", "operation_outputs"}
    ours = {*metadata.tables, VERSION_TABLE}
    assert _tables(url) & ours == ours
    if url.startswith("sqlite"):
        assert engine_tables <= _tables(url)
    else:
        assert engine_tables <= _tables(url, "dbos")
        assert not ours & _tables(url, "public")


def _tables(url: str, schema: str | None = None) -> set[str]:
    database = Database(url)
    with database.read() as connection:
        names = set(sa.inspect(connection).get_table_names(schema=schema))
    database.close()
    return names


def _execute(url: str, statement: str) -> None:
    database = Database(url)
    with database.write() as connection:
        connection.exec_driver_sql(statement)
    database.close()
