"""Whose file changed: told at once, also with hundreds of sessions."""

import asyncio
from pathlib import Path

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
