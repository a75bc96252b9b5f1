"""Who may be talked to: a socket in a folder of somebody else's making is nobody's socket."""

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from batonpass import _entry
from batonpass.cli import client
from batonpass.home import socket_path, socket_trouble, spool_path
from batonpass.serve.api import Api


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "run").mkdir(mode=0o700)
    return tmp_path / "run"


def test_a_private_folder_is_trusted_and_one_that_is_not_there_is_nobodys(folder: Path) -> None:
    assert socket_trouble(str(folder / "s")) is None
    assert socket_trouble(str(folder / "none" / "s")) is None


def test_a_folder_that_is_a_link_a_file_or_open_to_others_is_not_trusted(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(folder)
    (tmp_path / "file").touch()
    assert socket_trouble(str(tmp_path / "link" / "s")) == f"{tmp_path}/link is no folder but a link or a file"
    assert socket_trouble(str(tmp_path / "file" / "s")) == f"{tmp_path}/file is no folder but a link or a file"
    for mode in (0o720, 0o702, 0o777):
        folder.chmod(mode)
        assert socket_trouble(str(folder / "s")) == f"others may write into {folder}"


def test_a_folder_of_somebody_else_is_not_trusted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = os.getuid()
    monkeypatch.setattr("os.getuid", lambda: mine + 1)
    assert socket_trouble(str(folder / "s")) == f"{folder} belongs to somebody else"


async def test_the_daemon_makes_no_socket_there(folder: Path) -> None:
    folder.chmod(0o777)
    with pytest.raises(PermissionError, match=r"others may write into .* so no socket is made there"):
        await Api(folder / "s", {}).start()
    assert list(folder.iterdir()) == []


async def test_the_socket_is_for_its_owner_alone(folder: Path) -> None:
    api = Api(folder / "s", {})
    await api.start()
    try:
        assert (folder / "s").stat().st_mode & 0o777 == 0o600
    finally:
        await api.stop()


def test_a_long_home_leads_to_a_folder_of_this_user_in_tmp(tmp_path: Path) -> None:
    path = socket_path(str(tmp_path / ("x" * 120)))
    assert path.startswith(f"/tmp/baton-{os.getuid()}/")
    assert len(path) < 100


@pytest.fixture
def trap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, list[bytes]]]:
    """A home whose socket folder is open to others, and in it somebody who listens."""
    home = tmp_path / "home"
    (home / "run").mkdir(parents=True)
    (home / "run").chmod(0o777)
    monkeypatch.setenv("BATON_HOME", str(home))
    heard: list[bytes] = []
    server = socket.socket(socket.AF_UNIX)
    server.bind(socket_path(str(home)))
    server.listen()
    server.settimeout(0.5)

    def listen() -> None:
        with server:
            while True:
                try:
                    connection, _ = server.accept()
                except TimeoutError:
                    return
                with connection:
                    heard.append(connection.recv(1000))

    thread = threading.Thread(target=listen)
    thread.start()
    yield home, heard
    thread.join()


def test_a_command_tells_nobody_there_anything(trap: tuple[Path, list[bytes]]) -> None:
    home, heard = trap
    with pytest.raises(client.Refused) as told:
        client.call("ping", start=False)
    assert told.value.message == (
        f"Baton's socket is not used, for others may write into {home}/run: "
        "remove that, or set BATON_HOME to a shorter path."
    )
    assert heard == []


def test_a_hook_tells_nobody_there_anything_and_keeps_its_report(trap: tuple[Path, list[bytes]]) -> None:
    home, heard = trap
    (home / "run" / "stopped").touch()
    env = {"PATH": os.environ["PATH"], "BATON_HOME": str(home), "BATON_SESSION": "0a1b2c3d"}
    argv = [sys.executable, "-I", "-S", str(_entry.__file__), "hook", "event"]
    subprocess.run(argv, input=b'{"secret": 1}', env=env, check=True, capture_output=True, timeout=30)
    assert heard == []
    assert json.loads(Path(spool_path(str(home))).read_text(encoding="utf-8"))["payload"] == {"secret": 1}


@pytest.mark.parametrize(
    ("session", "payload"),
    [
        ("0a1b2c3d", b"\xff\xfe\0 no json at all"),
        ("0a1b2c3d", b'null,"op":"stop","session":"other"'),
        ("0a1b2c3d", b"[" * 100_000),
        ("../../x", b"{}"),
        ("\u00b2", b"{}"),
    ],
)
@pytest.mark.parametrize("role", ["event", "ask", "prime", "permit", "note", "\u00e9\"'"])
def test_a_hook_called_with_garbage_never_fails_the_agent(
    tmp_path: Path, session: str, payload: bytes, role: str
) -> None:
    (tmp_path / "sessions" / "0a1b2c3d").mkdir(parents=True)
    env = {"PATH": os.environ["PATH"], "BATON_HOME": str(tmp_path), "BATON_SESSION": session, "LC_ALL": "C.UTF-8"}
    argv = [sys.executable, "-I", "-S", str(_entry.__file__), "hook", role]
    done = subprocess.run(argv, input=payload, env=env, capture_output=True, timeout=30, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    for line in (tmp_path / "spool" / "hooks.jsonl").read_bytes().split(b"\n") if (tmp_path / "spool").exists() else []:
        assert b'"op":"stop"' not in line or line.index(b'"op":"hook","session":"0a1b2c3d"') > line.index(
            b'"op":"stop"'
        )
