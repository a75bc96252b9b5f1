import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from batonpass.agents.base import Binding
from batonpass.agents.claude import Claude
from batonpass.agents.claude.status import status
from batonpass.session import State
from tests.agents.claude.fixtures import VERSIONS, read

both = pytest.mark.parametrize("version", VERSIONS)


def binding(home: Path, pid: int | None = 4242, **env: str) -> Binding:
    return Binding(pid, None, None, home, {"HOME": str(home), **env})


def running(home: Path, word: Mapping[str, Any], *, started: str | None = None, state: str = "S") -> Path:
    """A machine on which process 4242 runs and keeps its file; gives its /proc."""
    sessions = home / ".claude" / "sessions"
    sessions.mkdir(parents=True)
    (sessions / "4242.json").write_text(json.dumps(word), encoding="utf-8")
    process = home / "proc" / "4242"
    process.mkdir(parents=True)
    fields = [state, *["0"] * 18, started or str(word.get("procStart")), "0"]
    (process / "stat").write_text(f"4242 (a (b) c) {' '.join(fields)}\n", encoding="utf-8")
    return home / "proc"


@both
@pytest.mark.parametrize(
    ("name", "state", "waiting_for", "background"),
    [
        ("idle", State.IDLE, None, False),
        ("busy", State.BUSY, None, False),
        ("waiting_permission", State.WAITING, "permission prompt", False),
        ("waiting_dialog", State.WAITING, "dialog open", False),
        ("shell_background", State.IDLE, None, True),
    ],
)
def test_the_state_is_what_the_program_says(
    tmp_path: Path, version: str, name: str, state: State, waiting_for: str | None, background: bool
) -> None:
    word = read(version, "sessions", name)
    found = status(binding(tmp_path), running(tmp_path, word))
    assert (found.state, found.waiting_for, found.background) == (state, waiting_for, background)
    assert found.agent_session == word["sessionId"]
    assert found.since == word["statusUpdatedAt"] / 1000


def test_a_file_left_by_a_process_that_is_gone_means_dead(tmp_path: Path) -> None:
    proc = running(tmp_path, read("2.1.325", "sessions", "idle"))
    (proc / "4242" / "stat").unlink()
    assert status(binding(tmp_path), proc).state is State.DEAD


def test_a_process_that_got_the_same_number_later_is_not_the_session(tmp_path: Path) -> None:
    proc = running(tmp_path, read("2.1.325", "sessions", "idle"), started="999999")
    assert status(binding(tmp_path), proc).state is State.DEAD


def test_a_process_that_nobody_has_waited_for_is_dead(tmp_path: Path) -> None:
    proc = running(tmp_path, read("2.1.325", "sessions", "idle"), state="Z")
    assert status(binding(tmp_path), proc).state is State.DEAD


def test_without_proc_a_living_process_is_enough(tmp_path: Path) -> None:
    word = read("2.1.325", "sessions", "busy")
    running(tmp_path, word)
    own = tmp_path / ".claude" / "sessions" / f"{os.getpid()}.json"
    own.write_text(json.dumps(word), encoding="utf-8")
    assert status(binding(tmp_path, os.getpid()), tmp_path / "none").state is State.BUSY


@pytest.mark.parametrize("content", [b"", b'{"pid":', b"[]", b'{"status":"brand-new"}', b'{"status":7}'])
def test_a_word_that_cannot_be_understood_is_unknown(tmp_path: Path, content: bytes) -> None:
    proc = running(tmp_path, {}, started="1")
    (tmp_path / ".claude" / "sessions" / "4242.json").write_bytes(content)
    assert status(binding(tmp_path), proc).state is State.UNKNOWN


def test_nothing_is_known_before_the_file_or_the_process_is(tmp_path: Path) -> None:
    assert Claude().status(binding(tmp_path, None)).state is State.UNKNOWN
    assert Claude().status(binding(tmp_path, os.getpid())).state is State.UNKNOWN


def test_the_file_to_watch_lies_in_the_configured_folder(tmp_path: Path) -> None:
    other = tmp_path / "cfg"
    assert Claude().state_files(binding(tmp_path)) == (tmp_path / ".claude" / "sessions" / "4242.json",)
    moved = binding(tmp_path, CLAUDE_CONFIG_DIR=str(other))
    assert Claude().state_files(moved) == (other / "sessions" / "4242.json",)
    assert Claude().state_files(binding(tmp_path, None)) == ()
