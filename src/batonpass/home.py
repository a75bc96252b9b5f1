"""Where Baton keeps its state. Standard library only: hooks import this on every message."""

import os
import stat

TYPE_CHECKING = False  # `typing` and `collections.abc` would take longer to import than the rest of a hook
if TYPE_CHECKING:
    from collections.abc import Mapping

# A unix socket's path must fit into 104 bytes on macOS and 108 on Linux.
_SOCKET_LIMIT = 100


def home(env: "Mapping[str, str]") -> str:
    """The state directory: BATON_HOME, or .baton in the user's home."""
    return env.get("BATON_HOME") or os.path.join(env.get("HOME") or os.path.expanduser("~"), ".baton")


def socket_path(home: str) -> str:
    """The daemon's socket; in a private folder of the temporary directory when the home's path is too long."""
    path = os.path.join(home, "run", "daemon.sock")
    if len(os.fsencode(path)) <= _SOCKET_LIMIT:
        return path
    import hashlib  # loads OpenSSL, which takes longer than a whole hook

    digest = hashlib.sha256(os.fsencode(home)).hexdigest()[:16]
    return os.path.join("/tmp", f"baton-{os.getuid()}", f"{digest}.sock")


def socket_trouble(path: str) -> str | None:
    """Why the socket at this path is not to be trusted, as the end of a sentence; None when it may be used.

    A folder in /tmp could be laid out by anybody before us: who answers there would read every prompt.
    """
    folder = os.path.dirname(path)
    try:
        facts = os.lstat(folder)
    except OSError:
        return None  # nobody is there; whoever connects is told so
    if not stat.S_ISDIR(facts.st_mode):
        return f"{folder} is no folder but a link or a file"
    if facts.st_uid != os.getuid():
        return f"{folder} belongs to somebody else"
    if facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"others may write into {folder}"
    return None


def session_folder(home: str, session: str) -> str:
    """A session's private folder: launch file, offers, cached status line."""
    return os.path.join(home, "sessions", session)


def prime_file(source: str, part: int) -> str:
    """The name, in a session's folder, of a part of the handoff for conversations that begin in this way."""
    return f"prime.{source}.{part}"


def spool_path(home: str) -> str:
    """Where hooks leave their reports while the daemon is away."""
    return os.path.join(home, "spool", "hooks.jsonl")
