"""How commands talk to the daemon: one JSON line each way over a unix socket. Standard library only."""

import fcntl
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain, repeat
from pathlib import Path
from typing import Any

from batonpass.home import home, socket_path, socket_trouble

START_WITHIN = 40.0
ANSWER_WITHIN = 30.0
# A daemon of ours that ends at once may have lost the race against one started elsewhere: look for that one.
_RACE_GRACE = 2.0
_LOG_BYTES = 5_000_000
_BACK_OFF = (0.02, 0.05, 0.1, 0.2)

# Kept, so that Python does not complain about a child that is meant to outlive the command.
_started: list[subprocess.Popen[bytes]] = []


class Refused(Exception):
    """What a command cannot do, in one sentence for the person who asked, with the exit code to leave by."""

    def __init__(self, message: str, code: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.code = code


class NotRunning(Refused):
    """No daemon answers on the socket, and none was asked to be started."""


def state_home() -> str:
    """The state directory that this command and its daemon share, as an absolute path."""
    return os.path.abspath(home(os.environ))


def log_path() -> Path:
    """Where a daemon started by a command writes what goes wrong."""
    return Path(state_home()) / "logs" / "daemon.log"


def call(op: str, /, *, within: float | None = ANSWER_WITHIN, start: bool = True, **fields: object) -> Any:
    """The daemon's result for one operation; starts a daemon when none runs, unless `start` is false.

    Raises Refused with the daemon's own sentence and exit code, or with what kept it from answering.
    """
    connection = _connect() or (_start() if start else None)
    if connection is None:
        raise NotRunning("No Baton daemon is running; any command that needs one starts it.", 3)
    with connection:
        connection.settimeout(within)
        try:
            connection.sendall(json.dumps({"op": op, **fields}).encode("utf-8") + b"\n")
            line = _read_line(connection)
        except TimeoutError:
            raise Refused(
                f"The Baton daemon did not answer '{op}' within {within:g} s and may still be at it: "
                f"look at `baton status` and {log_path()}."
            ) from None
        except OSError as problem:
            raise Refused(
                f"The connection to the Baton daemon broke during '{op}' ({problem.strerror or problem}): "
                f"look at `baton status` and {log_path()}."
            ) from None
    return _result(op, line)


def _result(op: str, line: bytes) -> Any:
    try:
        reply = json.loads(line)
        if reply["ok"]:
            return reply["result"]
        error, code = str(reply["error"]), int(reply.get("exit", 1))
    except (ValueError, KeyError, TypeError):
        raise Refused(
            f"The Baton daemon's answer to '{op}' was cut off or is no answer; it may have just stopped: "
            f"try again, and look at {log_path()}."
        ) from None
    raise Refused(error, code)


def _read_line(connection: socket.socket) -> bytes:
    parts = []
    while part := connection.recv(1 << 16):
        parts.append(part)
        if part.endswith(b"\n"):
            break
    return b"".join(parts)


def _connect() -> socket.socket | None:
    """A connection to a daemon that listens, or None."""
    path = socket_path(state_home())
    if trouble := socket_trouble(path):
        raise Refused(f"Baton's socket is not used, for {trouble}: remove that, or set BATON_HOME to a shorter path.")
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(ANSWER_WITHIN)
    try:
        connection.connect(path)
    except (FileNotFoundError, NotADirectoryError, ConnectionRefusedError):
        connection.close()
        return None
    except OSError as problem:
        connection.close()
        raise Refused(f"The Baton daemon's socket {path} cannot be used: {problem.strerror or problem}.") from None
    return connection


def _start() -> socket.socket:
    """Start a daemon and connect to it. Of several commands at once, one starts it and the others wait."""
    deadline = time.monotonic() + START_WITHIN
    try:
        with _only_one(deadline):
            return _connect() or _start_alone(deadline)
    except OSError as problem:
        raise Refused(
            f"Baton's state cannot be kept in {state_home()} ({problem.strerror or problem}): "
            "make the folder writable, or set BATON_HOME to another one."
        ) from None


def _start_alone(deadline: float) -> socket.socket:
    log = log_path()
    log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _keep_small(log)
    begins = log.stat().st_size if log.exists() else 0
    with open(log, "ab", opener=_owner_only) as out:
        process = subprocess.Popen(
            daemon_argv(),
            env={**os.environ, "BATON_HOME": state_home()},  # made absolute: the daemon leaves this folder
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    _started.append(process)
    for ended in _patiently(deadline, process):
        if connection := _connect():
            return connection
        if ended:
            why = f"it ended with code {process.returncode}"
            break
    else:
        why = f"it does not answer after {START_WITHIN:g} s"
    raise Refused(f"The Baton daemon could not be started: {why}{_last_words(log, begins)}; its log is {log}.")


def _keep_small(log: Path) -> None:
    """Put a log away that has grown: the last one is kept beside it, the one before goes."""
    if log.exists() and log.stat().st_size > _LOG_BYTES:
        os.replace(log, log.with_name(f"{log.name}.1"))


def _patiently(deadline: float, process: subprocess.Popen[bytes]) -> Iterator[bool]:
    """Until the deadline, with growing pauses, True once the process ended and its time of grace is over."""
    ended_at: float | None = None
    for pause in chain(_BACK_OFF, repeat(_BACK_OFF[-1])):
        if process.poll() is not None and ended_at is None:
            ended_at = time.monotonic()
        yield ended_at is not None and time.monotonic() > ended_at + _RACE_GRACE
        if time.monotonic() > deadline:
            return
        time.sleep(pause)


def daemon_argv() -> list[str]:
    """The command that runs the daemon in the foreground."""
    return [sys.executable, "-m", "batonpass._entry", "daemon", "run"]


@contextmanager
def _only_one(deadline: float) -> Iterator[None]:
    """Hold the right to start a daemon; waits for another command that is just starting one."""
    folder = Path(state_home()) / "run"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with open(folder / "start.lock", "ab", opener=_owner_only) as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise Refused(
                        "Another command has been starting the Baton daemon for too long; "
                        f"try again, and look at {log_path()}."
                    ) from None
                time.sleep(_BACK_OFF[1])
        yield


def _owner_only(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _last_words(log: Path, begins: int) -> str:
    """The last line that the daemon left in its log since it was started, as the end of a sentence."""
    with open(log, "rb") as out:
        out.seek(begins)
        lines = out.read()[-4096:].decode("utf-8", "replace").splitlines()
    said = [line.strip() for line in lines if line.strip()]
    return f", saying “{said[-1][:300]}”" if said else ""
