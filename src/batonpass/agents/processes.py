"""Processes that Baton did not start: who runs below a pane, with which words and environment.

Where the system shows no processes in /proc, nothing is found.
"""

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from batonpass.clock import Clock

_LISTENS = "0A"


def with_descendants(pid: int, without: Callable[[int], bool] = lambda pid: False) -> Iterator[int]:
    """The process itself, then its children, level by level; one that is left out goes with all below it."""
    waiting = [pid]
    while waiting:
        one = waiting.pop(0)
        if without(one):
            continue
        yield one
        try:
            children = Path(f"/proc/{one}/task/{one}/children").read_text(encoding="ascii")
        except OSError:
            continue
        waiting += [int(child) for child in children.split()]


def everyone() -> list[int]:
    """Every process that the system shows."""
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdecimal()]
    except OSError:
        return []


def shown() -> bool:
    """Whether the system shows processes at all."""
    return os.path.isdir("/proc/self")


def arguments(pid: int) -> list[str]:
    """Its command line."""
    return _words(pid, "cmdline")


def environment(pid: int) -> dict[str, str]:
    """The environment that it was started with."""
    return dict(word.partition("=")[::2] for word in _words(pid, "environ") if "=" in word)


def folder(pid: int) -> Path | None:
    """Where it works now; None where that is not told."""
    try:
        return Path(os.readlink(f"/proc/{pid}/cwd"))
    except OSError:
        return None


async def end(pids: Iterable[int], clock: Clock) -> None:
    """End these processes: asked first, and made to after a while. One that is gone already is no error."""
    left = [pid for pid in pids if alive(pid)]
    for number, patience in ((signal.SIGTERM, 30), (signal.SIGKILL, 10)):
        for pid in left:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)
        for _ in range(patience):
            left = [pid for pid in left if alive(pid)]
            if not left:
                return
            await clock.sleep(0.1)


def _words(pid: int, name: str) -> list[str]:
    try:
        return os.fsdecode(Path(f"/proc/{pid}/{name}").read_bytes()).split("\0")
    except OSError:
        return []


def open_files(pid: int) -> list[str]:
    """The paths of what it holds open."""
    folder = f"/proc/{pid}/fd"
    try:
        numbers = os.listdir(folder)
    except OSError:
        return []
    paths: list[str] = []
    for number in numbers:
        with suppress(OSError):  # closed in between
            paths.append(os.readlink(f"{folder}/{number}"))
    return paths


def listening(pid: int) -> frozenset[int]:
    """The ports of this machine (IPv4) on which it takes connections."""
    own = {path[8:-1] for path in open_files(pid) if path.startswith("socket:[")}
    try:
        lines = Path(f"/proc/{pid}/net/tcp").read_text(encoding="ascii").splitlines()[1:] if own else []
    except OSError:
        return frozenset()
    # Each line: a number, its own address, the other's, the state, ..., and as the tenth word the socket.
    rows = (line.split() for line in lines)
    return frozenset(int(row[1].rpartition(":")[2], 16) for row in rows if row[3] == _LISTENS and row[9] in own)


def alive(pid: int) -> bool:
    """Whether there is such a process, and not only its remains."""
    if (facts := _facts(pid)) is not None:
        return facts[0] not in ("Z", "X")
    if shown():
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def started(pid: int) -> float | None:
    """When it was started, in seconds since the epoch, to about a second; None where the system does not tell."""
    facts = _facts(pid)
    try:
        lines = Path("/proc/stat").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    booted = next((int(line.split()[1]) for line in lines if line.startswith("btime ")), None)
    if facts is None or booted is None:
        return None
    return booted + int(facts[19]) / os.sysconf("SC_CLK_TCK")


def parent(pid: int) -> int | None:
    """Who started it; None where that is not told."""
    facts = _facts(pid)
    return int(facts[1]) if facts else None


def _facts(pid: int) -> list[str] | None:
    """The kernel's figures behind the program's name, which may hold blanks and brackets itself."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return text.rpartition(")")[2].split()
