"""What a resume of Gemini CLI would destroy, and how it is kept; with files as the program leaves them."""

import errno
import json
import os
from pathlib import Path

import pytest

from batonpass.agents.gemini import Gemini
from batonpass.agents.gemini.resume import keep_copy, kept, loaded, session_of, tend, transcript
from tests.agents.gemini_launch import order

OLD = "e412b7a3-d8e1-4710-a248-2b738870c017"
NAMESAKE = "e412b7a3-0000-4000-8000-000000000000"  # of the same short id


def chats(tmp_path: Path) -> Path:
    folder = tmp_path / "home" / ".gemini" / "tmp" / "shop" / "chats"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def env(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path / "home")}


def record(tmp_path: Path, minute: str, *said: str, session: str = OLD, age: float = 60.0) -> Path:
    """A session file of that minute in which a person said something, written so many seconds ago."""
    path = chats(tmp_path) / f"session-2026-11-15T19-{minute}-{session[:8]}.jsonl"
    lines: list[object] = [{"sessionId": session, "startTime": f"2026-11-15T19:{minute}:00.000Z", "kind": "main"}]
    lines.append({"$set": {"messages": [{"id": "c", "type": "user", "content": [{"text": "<session_context>"}]}]}})
    lines += [{"id": f"m{n}", "type": "user", "content": [{"text": text}]} for n, text in enumerate(said)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    then = path.stat().st_mtime - age
    os.utime(path, (then, then))
    return path


def test_the_record_of_a_conversation_is_the_oldest_file_that_names_it_whole(tmp_path: Path) -> None:
    record(tmp_path, "20", "something else", session=NAMESAKE)
    mine = record(tmp_path, "28", "please begin")
    record(tmp_path, "31")
    assert transcript(OLD, env(tmp_path)) == mine
    assert transcript("00000000-d8e1-4710-a248-2b738870c017", env(tmp_path)) is None


def test_the_second_file_of_a_resume_is_removed_and_nothing_else(tmp_path: Path) -> None:
    mine, stray = record(tmp_path, "28", "please begin"), record(tmp_path, "31")
    other = record(tmp_path, "40", "something else", session=NAMESAKE)
    assert tend(OLD, env(tmp_path)) == [stray]
    assert (mine.exists(), stray.exists(), other.exists()) == (True, False, True)
    assert tend(OLD, env(tmp_path)) == []


def test_a_file_that_the_program_still_writes_into_is_left_until_it_lies_still(tmp_path: Path) -> None:
    record(tmp_path, "28", "please begin")
    stray = record(tmp_path, "31", age=0.0)
    assert tend(OLD, env(tmp_path)) == []
    assert stray.exists()


def test_a_second_file_in_which_somebody_spoke_is_kept(tmp_path: Path) -> None:
    record(tmp_path, "28", "please begin")
    spoken = record(tmp_path, "31", "and go on")
    assert tend(OLD, env(tmp_path)) == []
    assert spoken.exists()


def test_before_a_resume_the_record_is_copied_and_a_lost_one_is_put_back(tmp_path: Path) -> None:
    mine, folder = record(tmp_path, "28", "please begin"), tmp_path / "session"
    folder.mkdir()
    content = mine.read_bytes()
    keep_copy(OLD, env(tmp_path), folder)
    mine.unlink()
    keep_copy(OLD, env(tmp_path), folder)
    assert mine.read_bytes() == content
    assert (folder / "kept" / mine.name).stat().st_mode & 0o777 == 0o600


def test_a_conversation_that_is_not_on_record_has_nothing_to_be_copied(tmp_path: Path) -> None:
    folder = tmp_path / "session"
    folder.mkdir()
    keep_copy(OLD, env(tmp_path), folder)
    assert list(folder.iterdir()) == []


def test_after_a_run_that_resumed_and_ended_nothing_of_it_lies_beside_the_record(tmp_path: Path) -> None:
    mine = record(tmp_path, "28", "please begin")
    with kept(OLD, env(tmp_path)):
        stray = record(tmp_path, "31", age=0.0)
    assert (mine.exists(), stray.exists()) == (True, False)


def test_a_record_that_a_run_has_destroyed_is_put_back(tmp_path: Path) -> None:
    mine = record(tmp_path, "28", "please begin")
    before = mine.read_bytes()
    with kept(OLD, env(tmp_path)):
        mine.unlink()
    assert mine.read_bytes() == before


def test_a_conversation_that_is_not_known_is_left_to_the_program(tmp_path: Path) -> None:
    chats(tmp_path)
    with kept(OLD, env(tmp_path)):
        pass
    assert list(chats(tmp_path).iterdir()) == []


@pytest.mark.parametrize("chosen", [("-r",), ("-r", "latest"), ("--resume=3",)])
def test_where_only_the_program_knows_what_is_resumed_every_record_of_the_project_is_kept(
    tmp_path: Path, chosen: tuple[str, ...]
) -> None:
    mine, other = record(tmp_path, "28", "please begin"), record(tmp_path, "40", "something else", session=NAMESAKE)
    (chats(tmp_path).parent / ".project_root").write_text(str(tmp_path), encoding="utf-8")
    contents, modes = mine.read_bytes(), mine.stat().st_mode
    for _ in range(2):
        Gemini().launch(order(tmp_path, *chosen))
    folder = tmp_path / "session"
    assert sorted(path.name for path in (folder / "kept").glob("*.jsonl")) == [mine.name, other.name]
    assert not list((folder / "kept").glob(".session*"))
    assert mine.stat().st_mode == modes
    mine.unlink()
    keep_copy(OLD, env(tmp_path), folder)
    assert mine.read_bytes() == contents
    keep_copy(NAMESAKE, env(tmp_path), folder)
    assert not other.samefile(folder / "kept" / other.name), "what is resumed by its id is copied"


def test_where_the_records_are_on_another_disk_they_are_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(there: Path, here: Path) -> None:
        raise OSError(errno.EXDEV, "another disk")

    mine = record(tmp_path, "28", "please begin")
    (chats(tmp_path).parent / ".project_root").write_text(str(tmp_path), encoding="utf-8")
    monkeypatch.setattr(os, "link", refuse)
    Gemini().launch(order(tmp_path, "-r"))
    assert (tmp_path / "session" / "kept" / mine.name).read_bytes() == mine.read_bytes()


def test_an_id_that_would_lead_out_of_a_folder_names_no_conversation(tmp_path: Path) -> None:
    path = record(tmp_path, "28", "please begin", session="e412b7a3/../../x")
    assert session_of(path) is None


def append(path: Path, line: object) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line, separators=(",", ":")) + "\n")


def test_a_resumed_conversation_is_taken_up_once_the_program_says_so_in_its_record(tmp_path: Path) -> None:
    folder = tmp_path / "session"
    folder.mkdir()
    mine = record(tmp_path, "28", "please begin")
    append(mine, {"$set": {"sessionId": OLD}})  # of an earlier resume
    keep_copy(OLD, env(tmp_path), folder)
    assert not loaded(OLD, env(tmp_path), folder)
    append(mine, {"sessionId": OLD, "startTime": "2026-11-15T19:28:30.000Z", "kind": "main"})  # it starts, still empty
    assert not loaded(OLD, env(tmp_path), folder)
    append(mine, {"$set": {"sessionId": OLD}})
    assert loaded(OLD, env(tmp_path), folder)


def test_one_that_was_not_resumed_or_whose_copy_is_another_name_of_it_has_nothing_to_take_up(tmp_path: Path) -> None:
    folder = tmp_path / "session"
    folder.mkdir()
    assert loaded(OLD, env(tmp_path), folder)
    mine = record(tmp_path, "28", "please begin")
    assert loaded(OLD, env(tmp_path), folder)
    (folder / "kept").mkdir()
    os.link(mine, folder / "kept" / mine.name)
    assert loaded(OLD, env(tmp_path), folder)


def test_a_version_that_never_says_so_is_believed_after_a_minute(tmp_path: Path) -> None:
    folder = tmp_path / "session"
    folder.mkdir()
    mine = record(tmp_path, "28", "please begin")
    keep_copy(OLD, env(tmp_path), folder)
    copy = folder / "kept" / mine.name
    then = copy.stat().st_mtime - 61.0
    os.utime(copy, (then, then))
    assert loaded(OLD, env(tmp_path), folder)
