"""A database that is read again and again while its owner writes: opened once for each burst of looks."""

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_BUSY_SECONDS = 0.2
_KEPT_SECONDS = 0.05  # whoever has it open keeps its owner from tidying up at its end: not for long


@dataclass(frozen=True, slots=True)
class _Connection:
    path: Path
    files: tuple[object, ...]  # which ones they were when it was opened
    sqlite: sqlite3.Connection


class Opened:
    """Gives a connection for reading. One that is free again is kept for a moment, for whoever looks next.

    Opening costs a hundred times what a look does. A connection serves one reader at a time, in any thread.
    """

    def __init__(self, kept_seconds: float = _KEPT_SECONDS) -> None:
        self._kept_seconds = kept_seconds
        self._free: list[_Connection] = []
        self._lock = threading.Lock()
        self._closing = False  # in a moment

    @contextmanager
    def reading(self, path: Path) -> Iterator[sqlite3.Connection]:
        """The database at this path as it is now. Raises sqlite3.Error."""
        connection = self._taken(path) or _open(path)
        try:
            yield connection.sqlite
        except BaseException:
            connection.sqlite.close()
            raise
        self._give_back(connection)

    def _taken(self, path: Path) -> _Connection | None:
        with self._lock:
            found = next((one for one in self._free if one.path == path), None)
            if found is not None:
                self._free.remove(found)
        if found is not None and found.files != _files(path):
            found.sqlite.close()
            return None
        return found

    def _give_back(self, connection: _Connection) -> None:
        with self._lock:
            self._free.append(connection)
            if self._closing:
                return
            self._closing = True
        timer = threading.Timer(self._kept_seconds, self._close)
        timer.daemon = True
        try:
            timer.start()
        except RuntimeError:  # no more threads are to be had: then nothing is kept
            self._close()

    def _close(self) -> None:
        with self._lock:
            free, self._free, self._closing = self._free, [], False
        for connection in free:
            connection.sqlite.close()


def _open(path: Path) -> _Connection:
    """With no log beside it nobody writes, and it is read as it lies: even a reader would leave files there else."""
    files = _files(path)
    uri = f"{path.absolute().as_uri()}?mode=ro{'&immutable=1' if files[1] is None else ''}"
    return _Connection(path, files, sqlite3.connect(uri, uri=True, timeout=_BUSY_SECONDS, check_same_thread=False))


def _files(path: Path) -> tuple[object, ...]:
    """Which files the database and its log are; one that lies still is another one as soon as it was written to."""
    log = _state(Path(f"{path}-wal"))
    found = _state(path)
    return (found[:2] if found and log else found), (log[:2] if log else None)


def _state(path: Path) -> tuple[int, ...] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
