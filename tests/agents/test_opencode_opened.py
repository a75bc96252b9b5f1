"""A database that is looked at again and again is opened once for a burst of looks, and is seen as it is."""

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from batonpass.agents.opencode.opened import Opened


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return made(tmp_path / "opencode.db", 1)


@pytest.fixture
def owner(path: Path) -> Iterator[sqlite3.Connection]:
    """Whoever writes it, with its log beside it."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("pragma journal_mode = wal")
        connection.execute("insert into said values (2)")
        yield connection


def made(path: Path, *said: int) -> Path:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("create table said (what)")
        connection.executemany("insert into said values (?)", [(one,) for one in said])
    return path


def look(opened: Opened, path: Path) -> list[int]:
    with opened.reading(path) as connection:
        return [row[0] for row in connection.execute("select what from said")]


def until_let_go(path: Path) -> None:
    """Wait until this process has the database open no more."""
    deadline = time.monotonic() + 20
    while any(_leads_to(fd, path) for fd in os.listdir("/proc/self/fd")):
        assert time.monotonic() < deadline, "it was never closed"
        time.sleep(0.01)


def _leads_to(fd: str, path: Path) -> bool:
    try:
        return os.readlink(f"/proc/self/fd/{fd}").startswith(str(path))
    except OSError:
        return False


def test_a_second_look_needs_no_second_opening_and_sees_what_was_written_since(
    path: Path, owner: sqlite3.Connection
) -> None:
    opened = Opened(kept_seconds=60)
    with opened.reading(path) as first:
        assert first.execute("select count(*) from said").fetchone() == (2,)
    owner.execute("insert into said values (3)")
    with opened.reading(path) as second:
        assert second is first
    assert look(opened, path) == [1, 2, 3]


def test_two_who_look_at_once_have_a_connection_each(path: Path, owner: sqlite3.Connection) -> None:
    opened = Opened(kept_seconds=60)
    with opened.reading(path) as one, opened.reading(path) as other:
        assert one is not other


def test_it_can_be_looked_at_from_another_thread(path: Path, owner: sqlite3.Connection) -> None:
    opened, found = Opened(kept_seconds=60), list[list[int]]()
    look(opened, path)
    thread = threading.Thread(target=lambda: found.append(look(opened, path)))
    thread.start()
    thread.join(20)
    assert found == [[1, 2]]


def test_a_database_that_was_replaced_is_opened_anew(path: Path, tmp_path: Path) -> None:
    opened = Opened(kept_seconds=60)
    assert look(opened, path) == [1]
    made(tmp_path / "other.db", 7).replace(path)
    assert look(opened, path) == [7]


def test_one_that_lay_still_and_is_written_to_is_opened_anew(path: Path) -> None:
    opened = Opened(kept_seconds=60)
    assert look(opened, path) == [1]
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("pragma journal_mode = wal")
        connection.execute("insert into said values (5)")
        assert look(opened, path) == [1, 5]


def test_it_is_let_go_a_moment_after_the_last_look_so_that_its_owner_can_tidy_up(path: Path) -> None:
    opened = Opened(kept_seconds=0.01)
    with closing(sqlite3.connect(path, isolation_level=None)) as owner:
        owner.execute("pragma journal_mode = wal")
        owner.execute("insert into said values (2)")
        assert look(opened, path) == [1, 2]
    until_let_go(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as owner:
        owner.execute("insert into said values (3)")
    assert [file.name for file in path.parent.iterdir()] == ["opencode.db"]


def test_a_look_that_failed_leaves_no_connection_behind(path: Path, owner: sqlite3.Connection) -> None:
    opened = Opened(kept_seconds=60)
    with pytest.raises(sqlite3.Error), opened.reading(path) as connection:
        connection.execute("select * from nothing")
    with opened.reading(path) as another:
        assert another is not connection


def test_where_no_thread_is_to_be_had_nothing_is_kept(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_more(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    opened = Opened(kept_seconds=60)
    with monkeypatch.context() as patched:
        patched.setattr(threading.Timer, "start", no_more)
        assert look(opened, path) == [1]
        until_let_go(path)
    with opened.reading(path) as first:
        pass
    with opened.reading(path) as second:
        assert second is first
