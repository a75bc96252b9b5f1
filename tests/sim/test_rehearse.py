"""A command in the private place of a rehearsal."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


def rehearse(agent: str, home: Path, *command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "batonpass.sim.rehearse", agent, "http://127.0.0.1:1", "--home", str(home), *command]
    mine = {**os.environ, "HOME": "/home/me", "BATON_HOME": "/home/me/.baton", "BATON_CODEX": "/opt/codex"}
    return subprocess.run(argv, cwd=cwd, env=mine, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini", "opencode"])
def test_nothing_of_the_users_own_is_found_there(tmp_path: Path, agent: str) -> None:
    done = rehearse(agent, tmp_path / "r", "--", "env", cwd=tmp_path)
    given = dict(line.partition("=")[::2] for line in done.stdout.splitlines())
    places = {"HOME": "user", "BATON_HOME": "baton", "BATON_TMUX": "tmux"}
    assert {name: given[name] for name in places} == {name: f"{tmp_path}/r/{at}" for name, at in places.items()}
    assert not [name for name, value in given.items() if "/home/me" in value]
    assert given.get("BATON_CODEX") == ("/opt/codex" if agent == "codex" else None)
    assert (tmp_path / "r").stat().st_mode & 0o077 == 0


def test_a_command_keeps_its_own_dashes_and_its_status(tmp_path: Path) -> None:
    done = rehearse("claude", tmp_path / "r", "--", "sh", "-c", 'echo "$@"; exit 3', "sh", "--", "--home", cwd=tmp_path)
    assert (done.stdout, done.returncode) == ("-- --home\n", 3)


def test_a_command_that_is_not_there_is_told(tmp_path: Path) -> None:
    done = rehearse("claude", tmp_path / "r", "--", "no-such-program", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "no-such-program cannot be started (No such file or directory); nothing was started.\n"
