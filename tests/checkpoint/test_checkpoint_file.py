"""Checkpoints: written whole, read only when sound."""

import gzip
import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from batonpass.checkpoint import CheckpointError, read, verify, write
from batonpass.facts import Change, Command, Facts, GitFacts, Utterance
from batonpass.handoff.draft import Meta

META = Meta(2, "handoff-1.md", 1_769_005_845.0, "my session/1", "claude", "5f0c", "p", "threshold", 190, 200, 250, 95.5)
FACTS = Facts(
    at=1,
    project=Path("/p"),
    agent="claude",
    agent_session="5f0c",
    transcript=Path("/t.jsonl"),
    git=GitFacts("main", "abc", changes=(Change("new.py", "untracked"), Change("old.py", "modified"))),
    prompts=(Utterance(1, "Build it"),),
    said=(Utterance(2, "Done: token sk-ant-" + "Ab1" * 20),),
    commands=(Command(3, "make", False, 2, "no rule"),),
)


def test_a_checkpoint_is_named_after_task_agent_percent_and_time(tmp_path: Path) -> None:
    assert write(FACTS, META, tmp_path).name == "my_session_1-claude-95p-20260121T143045Z.json.gz"
    assert write(FACTS, META, tmp_path, task="T7").name == "T7-claude-95p-20260121T143045Z.json.gz"


def test_two_checkpoints_of_one_second_are_two_files(tmp_path: Path) -> None:
    assert write(FACTS, META, tmp_path) != write(FACTS, META, tmp_path)


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    path = write(FACTS, META, tmp_path)
    found = json.loads(json.dumps(read(path)))
    assert verify(path) is None
    assert found["tokens"] == {
        "consumed": 190,
        "remaining": 10,
        "total_allocated": 200,
        "window": 250,
        "percent_used": 95.5,
    }
    assert found["reason"] == "window_critical"
    assert found["conversation"]["prompts"] == ["Build it"]
    assert found["execution_state"]["files_created"] == ["new.py"]
    assert found["execution_state"]["files_modified"] == ["old.py"]
    assert found["execution_state"]["current_error"] == "no rule"


def test_secrets_are_not_written(tmp_path: Path) -> None:
    text = gzip.decompress(write(FACTS, META, tmp_path).read_bytes()).decode()
    assert "sk-ant-" not in text
    assert "[REDACTED:anthropic-key]" in text


def test_a_checkpoint_is_for_its_owner_only_and_unseen_by_git(tmp_path: Path) -> None:
    subprocess.run(["git", "-C", str(tmp_path), "init", "-q"], check=True)
    path = write(FACTS, META, tmp_path / "tmp" / "context-checkpoints")
    assert path.stat().st_mode & 0o777 == 0o600
    status = subprocess.run(
        ["git", "-C", str(tmp_path), "status", "--porcelain"], check=True, capture_output=True, text=True
    )
    assert status.stdout == ""


def test_the_history_is_capped_by_iterations_and_by_lines(tmp_path: Path) -> None:
    many = replace(FACTS, prompts=tuple(Utterance(n, f"prompt {n}") for n in range(9)), said=())
    history = json.loads(json.dumps(read(write(many, META, tmp_path))))["conversation"]["full_history"]
    assert [turn["text"] for turn in history] == [f"prompt {n}" for n in range(4, 9)]

    long = replace(FACTS, prompts=(Utterance(1, "old\n" * 300), Utterance(2, "new\n" * 300)), said=())
    history = json.loads(json.dumps(read(write(long, META, tmp_path))))["conversation"]["full_history"]
    assert sum(turn["text"].count("\n") + 1 for turn in history) == 500
    assert history[-1]["text"] == "new\n" * 300


def test_every_prompt_of_the_user_is_kept_word_for_word_however_many_there_were(tmp_path: Path) -> None:
    said = tuple(Utterance(n, f"Part {n}:\n  keep *this* exactly, {'very ' * n}much") for n in range(40))
    found = read(write(replace(FACTS, prompts=said), META, tmp_path))
    assert found["conversation"]["prompts"] == [one.text for one in said]  # type: ignore[index]


def test_a_changed_checkpoint_is_refused(tmp_path: Path) -> None:
    path = write(FACTS, META, tmp_path)
    changed = gzip.decompress(path.read_bytes()).replace(b"Build it", b"Break it")
    path.write_bytes(gzip.compress(changed))
    assert "was changed after it was written" in (verify(path) or "")
    with pytest.raises(CheckpointError):
        read(path)


def test_a_checkpoint_of_another_version_is_refused(tmp_path: Path) -> None:
    path = write(FACTS, META, tmp_path)
    other = gzip.decompress(path.read_bytes()).replace(b'"version":1', b'"version":9')
    path.write_bytes(gzip.compress(other))
    assert "has version 9; this Baton reads 1" in (verify(path) or "")


@pytest.mark.parametrize(
    "damage",
    [b"", b"not gzip", gzip.compress(b"not json"), gzip.compress(b"[]")],
    ids=["empty", "no gzip", "no json", "no checkpoint"],
)
def test_a_file_that_is_no_checkpoint_is_refused_in_words(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "x.json.gz"
    path.write_bytes(damage)
    assert str(path) in (verify(path) or "")


def test_a_torn_checkpoint_is_refused(tmp_path: Path) -> None:
    path = write(FACTS, META, tmp_path)
    path.write_bytes(path.read_bytes()[:-20])
    assert "cannot be read" in (verify(path) or "")


def test_a_checkpoint_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    assert verify(tmp_path / "none.json.gz") == f"There is no checkpoint {tmp_path / 'none.json.gz'}."
