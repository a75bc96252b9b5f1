"""The state directory: made for its owner alone, held by one daemon, with its name and its log."""

import fcntl
import logging
import logging.handlers
import os
import socket
import uuid
from collections.abc import Callable
from io import TextIOWrapper
from pathlib import Path

from batonpass.disk import write_private
from batonpass.handoff.redact import Allow
from batonpass.handoff.redacted import LogFormatter


class AlreadyRunning(Exception):
    """Another daemon holds the state directory."""


def trouble(root: Path, error: OSError) -> str:
    """Why no daemon can work there, as a sentence for the person who wanted one."""
    where = f" ({error.filename})" if error.filename else ""
    return (
        f"the daemon cannot work in {root}: {error.strerror or error}{where}; what is there is kept: "
        "mend that, or set BATON_HOME to another folder"
    )


def prepare(root: Path, allow: Callable[[], Allow] = tuple) -> None:
    """Make the folders, and keep a log in one of them, without secrets but what is allowed. Raises OSError."""
    for folder in (root, root / "run", root / "logs", root / "sessions", root / "spool"):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    root.chmod(0o700)
    handler = _OwnLog(root / "logs" / "baton.log", maxBytes=5_000_000, backupCount=3, encoding="utf-8")
    handler.setFormatter(LogFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s", allow))
    ours = logging.getLogger("batonpass")
    ours.addHandler(handler)
    ours.setLevel(logging.INFO)


def lock(root: Path) -> int:
    """Hold the state directory; a second daemon would type everything twice. Raises AlreadyRunning."""
    descriptor = os.open(root / "run" / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        raise AlreadyRunning(f"another baton daemon holds {root}") from error
    os.ftruncate(descriptor, 0)
    os.write(descriptor, str(os.getpid()).encode())
    return descriptor


def host_id(root: Path) -> str:
    """A stable name of this host and user for the engine: two executors must never share one."""
    path = root / "host-id"
    try:
        kept = path.read_text(encoding="utf-8", errors="replace").strip()
    except FileNotFoundError:
        kept = ""
    if kept:
        return kept
    value = f"{socket.gethostname().split('.')[0].lower()}-{uuid.uuid4().hex[:6]}"
    write_private(path, value)
    return value


class _OwnLog(logging.handlers.RotatingFileHandler):
    """A log that only its owner reads: it names projects and quotes prompts."""

    def _open(self) -> TextIOWrapper:
        descriptor = os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        return TextIOWrapper(os.fdopen(descriptor, "ab"), encoding=self.encoding, write_through=True)
