"""Whose file changed: told at once, also with hundreds of sessions."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from batonpass.agents.opencode.opened import Opened
from batonpass.supervisor.files import Files, Owners

HERE = Path("/a/project")


def test_a_file_that_is_known_concerns_its_own_session_alone() -> None:
    owners = Owners()
    owners.add("one", [HERE / "1.jsonl"], [HERE])
    owners.add("two", [HERE / "2.jsonl"], [HERE])
    assert owners.of([HERE / "2.jsonl"]) == {"two"}


def test_a_new_file_may_be_the_next_conversation_of_anybody_in_its_folder() -> None:
    owners = Owners()
    owners.add("one", [HERE / "1.jsonl"], [HERE])
    owners.add("two", [HERE / "2.jsonl"], [HERE])
    owners.add("far", [Path("/else/3.jsonl")], [Path("/else")])
    assert owners.of([HERE / "new.jsonl"]) == {"one", "two"}


def test_a_new_file_beside_a_state_file_concerns_nobody() -> None:
    owners = Owners()
    owners.add("one", [Path("/states/4711.json")], [HERE])
    assert owners.of([Path("/states/4712.json.tmp")]) == set()
    assert owners.folders == {Path("/states"), HERE}


async def test_a_change_names_the_file(tmp_path: Path) -> None:
    changed: asyncio.Queue[frozenset[Path]] = asyncio.Queue()
    files = Files(changed.put_nowait)
    files.want(frozenset({tmp_path}))
    files.start()
    try:
        named: frozenset[Path] = frozenset()
        while not named:  # the watch begins a moment after the start, so what came before it is not told
            (tmp_path / "a.jsonl").write_text("{}\n", encoding="utf-8")
            try:
                named = await asyncio.wait_for(changed.get(), 0.5)
            except TimeoutError:
                continue
    finally:
        await files.stop()
    assert tmp_path / "a.jsonl" in named


_HOLD = """
import sqlite3, sys
held = sqlite3.connect(sys.argv[1])
held.execute("pragma journal_mode = wal")
held.execute("create table talk (said)")
held.commit()
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Path]:
    """A database that another process has open and does not write to."""
    path = tmp_path / "talks.db"
    with subprocess.Popen([sys.executable, "-c", _HOLD, str(path)], stdin=-1, stdout=-1, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        yield path
        holder.communicate()


async def test_a_database_that_is_only_read_has_not_changed(database: Path) -> None:
    changed: asyncio.Queue[frozenset[Path]] = asyncio.Queue()
    files = Files(changed.put_nowait)
    files.want(frozenset({database.parent}))
    files.start()
    try:
        await _heard(changed, database.parent / "the watch has begun")
        for look in range(30):
            _read(database)
            named = await _heard(changed, database.parent / f"look {look}")
            if not [path for path in named if path.name.startswith(database.name)]:
                break
        else:
            pytest.fail("each look at it was told as a change of it")
    finally:
        await files.stop()


def _read(database: Path) -> None:
    """As an agent's conversation is read that another process keeps in a database."""
    with Opened(kept_seconds=0).reading(database) as connection:
        assert connection.execute("select count(*) from talk").fetchone() == (0,)


async def _heard(changed: "asyncio.Queue[frozenset[Path]]", mark: Path) -> set[Path]:
    """Write a file until that is told; gives every file that was told of meanwhile."""
    named: set[Path] = set()
    while mark not in named:
        mark.write_text("here", encoding="utf-8")
        with suppress(TimeoutError):
            named |= await asyncio.wait_for(changed.get(), 0.5)
    return named
