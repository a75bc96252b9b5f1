"""A tmux server of one's own, for tests and rehearsals: no user's sessions, no user's configuration."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

_SECONDS_TO_END = 3.0


@contextlib.contextmanager
def private_tmux() -> Iterator[str]:
    """The socket path of a new, empty server, which is ended by its process id afterwards.

    The path is short because a unix socket's must be. The server lives on without sessions.
    """
    folder = Path(tempfile.mkdtemp(prefix="baton-tmux-", dir="/tmp"))
    path = str(folder / "s")
    pids = {start_server(path)}
    try:
        yield path
    finally:
        pids.add(server_pid(path))  # it may have been replaced meanwhile
        for pid in pids - {None}:
            _end(pid, path)
        shutil.rmtree(folder, ignore_errors=True)


def start_server(path: str) -> int | None:
    """Start a server on the socket path, with no configuration file; its process id."""
    run_tmux(path, "-f", "/dev/null", "start-server", ";", "set-option", "-s", "exit-empty", "off")
    return server_pid(path)


def server_pid(path: str) -> int | None:
    """The process id of the server on a socket path, by the kernel's word; None when none listens.

    Asking tmux itself would hang with a server that is stopped.
    """
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(path)
        except OSError:
            return None
        if not hasattr(socket, "SO_PEERCRED"):
            said = run_tmux(path, "display-message", "-p", "#{pid}")
            return int(said) if said.isdigit() else None
        return int.from_bytes(client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)[:4], "little")


def run_tmux(path: str, *words: str) -> str:
    """What one tmux command says, on the server of the socket path."""
    env = {key: value for key, value in os.environ.items() if key not in ("TMUX", "TMUX_PANE")}
    done = subprocess.run(
        ["tmux", "-u", "-S", path, *words],
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=10,
        check=False,
    )
    return done.stdout.removesuffix("\n")


def _end(pid: int | None, path: str) -> None:
    assert pid is not None
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
        os.kill(pid, signal.SIGCONT)
        until = time.monotonic() + _SECONDS_TO_END
        while server_pid(path) == pid:
            if time.monotonic() > until:
                os.kill(pid, signal.SIGKILL)
                return
            time.sleep(0.01)
