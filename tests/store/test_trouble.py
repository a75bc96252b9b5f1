"""Full disks, damage, kills and crowds."""

import os
import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy as sa

from batonpass.sim.postgres import NotAvailable, private_postgres
from batonpass.store import Store, StoreError, default_url, durable_engine, open_store
from batonpass.store.engine import Database
from tests.store.samples import SESSION, cycle, delivery, reading
from tests.wanted import missing


def test_a_full_disk_is_told_in_one_sentence_and_keeps_what_was_stored(tmp_path: Path) -> None:
    with open_store(default_url(tmp_path)) as store:
        store.put("before", 1)
        _pragma(store, "max_page_count", "1")  # SQLite raises it to what is in use: not one page more
        with pytest.raises(StoreError, match="is full") as told:
            store.put("after", "x" * 1_000_000)
        _one_sentence_about(tmp_path, told.value)
        assert (store.get("before"), store.get("after")) == (1, None)


def test_a_full_disk_that_gets_room_again_needs_no_restart(tmp_path: Path) -> None:
    with open_store(default_url(tmp_path)) as store:
        _pragma(store, "max_page_count", "1")
        with pytest.raises(StoreError):
            store.put("big", "x" * 1_000_000)
        _pragma(store, "max_page_count", "100000")
        store.put("big", "x" * 1_000_000)
        assert store.get("big") == "x" * 1_000_000


def test_a_full_disk_is_to_the_engine_of_cycles_a_lost_connection_that_it_waits_for(tmp_path: Path) -> None:
    engine = durable_engine(default_url(tmp_path))
    with engine.begin() as connection:
        connection.execute(sa.text("CREATE TABLE kept (value TEXT NOT NULL)"))
        connection.execute(sa.text("PRAGMA max_page_count=1"))
    with pytest.raises(sa.exc.DBAPIError) as full, engine.begin() as connection:
        connection.execute(sa.text("INSERT INTO kept VALUES (:value)"), {"value": "x" * 1_000_000})
    assert full.value.connection_invalidated
    with pytest.raises(sa.exc.DBAPIError) as refused, engine.begin() as connection:
        connection.execute(sa.text("INSERT INTO kept VALUES (NULL)"))
    assert not refused.value.connection_invalidated
    with engine.begin() as connection:
        connection.execute(sa.text("INSERT INTO kept VALUES (:value)"), {"value": "x" * 1_000_000})
    engine.dispose()


def test_a_server_that_is_not_there_is_to_the_engine_of_cycles_a_lost_connection_too(tmp_path: Path) -> None:
    """In whichever words its driver tells of it: of some of them the engine would end the cycle."""
    engine = durable_engine(f"postgresql://postgres@/postgres?host={tmp_path}")
    with pytest.raises(sa.exc.OperationalError) as gone, engine.connect():
        pass
    assert "No such file" in str(gone.value)
    assert gone.value.connection_invalidated
    engine.dispose()


def test_a_read_only_store_is_told_in_one_sentence(tmp_path: Path) -> None:
    with open_store(default_url(tmp_path)) as store:
        _pragma(store, "query_only", "ON")
        with pytest.raises(StoreError, match="read-only") as told:
            store.put("key", 1)
        _one_sentence_about(tmp_path, told.value)


def test_a_file_that_is_no_database_is_told_and_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "baton.db").write_bytes(b"my shopping list, not a database" * 100)
    with pytest.raises(StoreError, match="damaged") as told:
        open_store(default_url(tmp_path))
    _one_sentence_about(tmp_path, told.value)
    assert (tmp_path / "baton.db").read_bytes() == b"my shopping list, not a database" * 100


def test_a_store_with_damaged_pages_is_told(tmp_path: Path) -> None:
    with open_store(default_url(tmp_path)) as store:
        for number in range(50):
            store.put(f"k{number}", "x" * 2000)
    path = tmp_path / "baton.db"
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xa5" * (len(whole) - 4096))
    with pytest.raises(StoreError, match="damaged"), open_store(default_url(tmp_path)) as store:
        store.get("k7")


def test_a_store_below_something_that_is_no_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be opened") as told:
        open_store(default_url(tmp_path / "file"))
    _one_sentence_about(tmp_path, told.value)


def test_a_store_that_another_process_holds_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_store(default_url(tmp_path)).close()
    monkeypatch.setattr("batonpass.store.engine.BUSY_SECONDS", 0)
    other = sqlite3.connect(tmp_path / "baton.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with open_store(default_url(tmp_path)) as store:
        with pytest.raises(StoreError, match="held by another process") as told:
            store.put("key", 1)
        _one_sentence_about(tmp_path, told.value)
        assert store.get("key") is None  # readers are not held up
    other.close()


def test_a_server_that_is_away_is_told_without_its_password() -> None:
    with pytest.raises(StoreError, match="cannot be reached") as told:
        open_store("postgresql://me:hunter2@/baton?host=/nowhere")
    assert "hunter2" not in str(told.value)
    assert "hunter2" not in told.value.where


def test_a_server_that_comes_back_is_used_again(postgres_url: str) -> None:
    with open_store(postgres_url) as store:
        store.put("key", 1)
        admin = sa.create_engine(postgres_url)
        with admin.connect() as connection:
            connection.exec_driver_sql(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
            )
        admin.dispose()
        store.put("key", 2)
        assert store.get("key") == 2


def test_many_threads_write_at_once_and_nothing_is_lost(store: Store) -> None:
    store.save_session(SESSION)
    store.start_cycle(cycle())
    store.save_delivery(delivery())

    def work(thread: int) -> tuple[list[int], bool]:
        numbers = []
        for turn in range(15):
            store.add_reading(SESSION.id, reading(float(turn)))
            store.update_session(SESSION.id, chain=turn)
            numbers.append(store.begin_step(cycle().id, f"step{thread}", turn, 1.0))
        return numbers, store.mark_seen(delivery().tag, 9.0)

    with ThreadPoolExecutor(8) as threads:
        results = list(threads.map(work, range(8)))
    assert len(store.readings(SESSION.id)) == 120
    assert sorted(number for numbers, _ in results for number in numbers) == list(range(1, 121))
    assert [first for _, first in results].count(True) == 1


WRITER = """
import itertools, sys
from batonpass.store import open_store
with open_store(sys.argv[1]) as store:
    for number in itertools.count(1):
        store.put("last", number)
        store.add_event("TOKEN_BUDGET", float(number), data={"number": number})
        print(number, flush=True)
"""


def test_a_writer_that_is_killed_loses_nothing_that_it_was_told_is_kept(url: str) -> None:
    open_store(url).close()
    with subprocess.Popen([sys.executable, "-c", WRITER, url], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        for line in writer.stdout:
            if int(line) >= 40:
                break
        os.kill(writer.pid, signal.SIGKILL)
        acknowledged = [40, *(int(line) for line in writer.stdout)][-1]
    with open_store(url) as store:
        numbers = [event.data["number"] for event in store.events(limit=100_000)]
        assert numbers == list(range(1, len(numbers) + 1))
        assert len(numbers) in (acknowledged, acknowledged + 1)
        assert store.get("last") in (len(numbers), len(numbers) + 1)


def test_a_private_postgres_is_gone_afterwards() -> None:
    try:
        with private_postgres() as url:
            with open_store(url) as store:
                store.put("key", 1)
            folder = Path(url.partition("host=")[2])
            assert folder.is_dir()
    except NotAvailable as why:
        missing(f"NOT TESTED ON POSTGRESQL: {why}")
    assert not folder.exists()


def _pragma(store: Store, name: str, value: str) -> None:
    """Set it on the one pooled connection, which the next write then uses."""
    database: Database = store._db
    with database.engine.connect() as connection:
        connection.exec_driver_sql(f"PRAGMA {name}={value}")


def _one_sentence_about(path: Path, error: StoreError) -> None:
    text = str(error)
    assert str(path) in text
    assert text.endswith(".")
    assert "\n" not in text
    assert "sqlite3" not in text
