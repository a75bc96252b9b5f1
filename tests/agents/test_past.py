"""Conversations on record: found by their id, or told by the transcript itself."""

import json
import os
from pathlib import Path

import pytest

from batonpass.agents import get
from batonpass.sim.agent_record import proc_start

TALK = "58c74e71-66d4-451c-a1a0-f4373e55ba3c"


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": str(tmp_path / "claude"), "BATON_HOME": str(tmp_path / "baton")}


@pytest.fixture
def claude_talk(tmp_path: Path) -> Path:
    lines = [
        {"type": "summary", "summary": "of something older"},
        {"type": "user", "sessionId": TALK, "cwd": "/work/shop", "message": {"content": "hello"}},
        {"type": "user", "sessionId": TALK, "cwd": "/elsewhere", "message": {"content": "and there"}},
    ]
    path = tmp_path / "claude" / "projects" / "-work-shop" / f"{TALK}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("\n".join(["not json", *map(json.dumps, lines)]) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def scripted_talk(tmp_path: Path) -> Path:
    path = tmp_path / "baton" / "scripted" / "transcripts" / f"{TALK}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"event": "session", "at": 1.0, "cwd": "/work/shop"}) + "\n", encoding="utf-8")
    return path


def test_a_conversation_is_found_by_its_id(env: dict[str, str], claude_talk: Path, scripted_talk: Path) -> None:
    for agent, path in (("claude", claude_talk), ("scripted", scripted_talk)):
        past = get(agent).past(TALK, env)
        assert past is not None
        assert (past.agent_session, past.transcript, past.folder, past.pid) == (TALK, path, Path("/work/shop"), None)


def test_a_transcript_tells_whose_it_is_wherever_it_lies(env: dict[str, str], claude_talk: Path) -> None:
    moved = claude_talk.rename(claude_talk.with_name("kept.jsonl"))
    past = get("claude").past(str(moved), env)
    assert past is not None
    assert (past.agent_session, past.folder) == (TALK, Path("/work/shop"))


def test_an_agent_does_not_take_anothers_transcript_for_its_own(
    env: dict[str, str], claude_talk: Path, scripted_talk: Path
) -> None:
    assert get("claude").past(str(scripted_talk), env) is None
    assert get("scripted").past(str(claude_talk), env) is None


@pytest.mark.parametrize("wanted", ["nobody", "", "*", "../../etc/passwd", "/nowhere/talk.jsonl", "a\0b.jsonl"])
def test_what_is_not_there_is_not_found(env: dict[str, str], claude_talk: Path, wanted: str) -> None:
    assert get("claude").past(wanted, env) is None
    assert get("scripted").past(wanted, env) is None


def test_a_conversation_that_still_runs_names_its_process(env: dict[str, str], claude_talk: Path) -> None:
    word = {"sessionId": TALK, "status": "busy", "procStart": proc_start(os.getpid())}
    folder = claude_talk.parents[2] / "sessions"
    folder.mkdir()
    (folder / f"{os.getpid()}.json").write_text(json.dumps(word), encoding="utf-8")
    (folder / "999999999.json").write_text(json.dumps(word), encoding="utf-8")
    past = get("claude").past(TALK, env)
    assert past is not None
    assert past.pid == os.getpid()
