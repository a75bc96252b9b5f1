"""When the machine itself is the trouble: one sentence that says what is wrong, what is kept and what to do."""

import os
import resource
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from batonpass.home import socket_path
from tests.system.conftest import house  # noqa: F401  (a fixture)
from tests.system.house import House, Refused


def run_daemon(home: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """The daemon in the foreground, in a place where it cannot work; it must end by itself."""
    argv = [sys.executable, "-m", "batonpass._entry", "daemon", "run"]
    source = str(Path(__file__).resolve().parents[2] / "src")
    given = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": source, "BATON_HOME": str(home), **env}
    return subprocess.run(argv, env=given, capture_output=True, encoding="utf-8", timeout=100, check=False)


def one_sentence(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    [line] = done.stderr.strip().splitlines()
    assert line.startswith("baton: ")
    return line


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte; only root can make one."""
    folder = tmp_path / "small"
    folder.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if made.returncode:
        pytest.skip("NOT TESTED: no small file system can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_database_that_is_none_is_told_and_kept(tmp_path: Path) -> None:
    (tmp_path / "baton.db").write_bytes(b"my shopping list" * 500)
    said = one_sentence(run_daemon(tmp_path))
    assert f"The store {tmp_path}/baton.db is damaged and was left as it is" in said
    assert (tmp_path / "baton.db").read_bytes() == b"my shopping list" * 500


def test_a_full_disk_is_told_and_what_is_there_is_kept(mounted: Path) -> None:
    (mounted / "kept").write_text("mine", encoding="utf-8")
    with (mounted / "filler").open("wb", buffering=0) as filler, suppress(OSError):
        while True:
            filler.write(b"x" * 4096)
    said = one_sentence(run_daemon(mounted))
    assert str(mounted) in said
    assert "No space left" in said or "is full" in said
    assert "kept" in said
    assert (mounted / "kept").read_text(encoding="utf-8") == "mine"
    (mounted / "filler").unlink()


def test_a_home_that_is_read_only_is_told(mounted: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(mounted)], check=True)
    said = one_sentence(run_daemon(mounted / "home"))
    assert "Read-only file system" in said
    assert "set BATON_HOME to another" in said
    assert not (mounted / "home").exists()


def test_a_home_in_a_place_that_is_no_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "logs").symlink_to(tmp_path / "file")
    said = one_sentence(run_daemon(tmp_path / "home"))
    assert f"the daemon cannot work in {tmp_path}/home: " in said


def test_without_tmux_a_session_is_refused_and_the_daemon_goes_on(house: House) -> None:  # noqa: F811
    tools = house.folder / "bin"
    tools.mkdir()
    for name in ("git", "sh"):
        (tools / name).symlink_to(str(shutil.which(name)))
    house.env["PATH"] = str(tools)
    house.start()
    with pytest.raises(Refused, match="tmux is not installed"):
        house.call("run", agent="scripted", args=[], cwd=str(house.folder), env=house.env, name="x")
    assert house.call("status")["sessions"] == []
    assert list((house.home / "sessions").iterdir()) == [], "the user's environment was left behind"


def test_with_no_descriptors_left_a_session_is_refused_and_the_daemon_goes_on(house: House) -> None:  # noqa: F811
    house.start()
    pid = house.daemon_pid()
    assert pid is not None
    used = len(list(Path(f"/proc/{pid}/fd").iterdir()))
    soft, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (used + 4, hard))
    with pytest.raises(Refused) as told:
        house.call("run", agent="scripted", args=[], cwd=str(house.folder), env=house.env, name="x")
    assert "Too many open files" in str(told.value)
    assert "end some sessions, or raise the number of open files" in str(told.value)
    with ExitStack() as callers:
        for _ in range(50):
            caller = callers.enter_context(socket.socket(socket.AF_UNIX))
            caller.connect(socket_path(str(house.home)))
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (soft, hard))
    house.wait("the daemon answers again", house.answers)
    assert house.daemon_pid() == pid
