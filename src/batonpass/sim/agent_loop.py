"""One thread that waits: work is a generator that yields what it waits for.

No event-loop library: hundreds of these programs run side by side, and each must be small and start at once.
"""

import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")


class Wait:
    """Something that work waits for. `due` is when to look again even though nothing was heard."""

    due: float | None = None

    def over(self) -> bool:
        raise NotImplementedError


Work = Generator[Wait, None, T]


class Pause(Wait):
    def __init__(self, seconds: float) -> None:
        self.due = time.monotonic() + seconds

    def over(self) -> bool:
        assert self.due is not None
        return time.monotonic() >= self.due


class FileAppears(Wait):
    """Until somebody makes the file. Looks every 50 ms: only misbehaviour waits for it."""

    def __init__(self, path: str) -> None:
        self._path = path

    def over(self) -> bool:
        self.due = time.monotonic() + 0.05
        return os.path.exists(self._path)


class Child:
    """A command with text on its stdin. `output` and `status` are final once `ended` is true."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        stdin: str | None = "",
        merge: bool = False,
        env: Mapping[str, str] | None = None,
    ) -> None:
        """`stdin=None` keeps the child's stdin open and empty. Raises OSError when it cannot be started."""
        self.argv = list(argv)
        self.ended = False
        self.status: int | None = None
        self._chunks: list[bytes] = []
        self._keep_open = stdin is None
        self._unsent = (stdin or "").encode("utf-8", "replace")
        self._silent = False  # its stdout is closed, though it may go on
        self._process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if merge else subprocess.DEVNULL,
            env=env,
            start_new_session=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in: int | None = self._process.stdin.fileno()
        self._out = self._process.stdout.fileno()
        os.set_blocking(self._out, False)
        os.set_blocking(self._in, False)
        self._push()

    @property
    def output(self) -> str:
        return b"".join(self._chunks).decode("utf-8", "replace")

    def reads(self) -> list[int]:
        return [] if self.ended or self._silent else [self._out]

    def writes(self) -> list[int]:
        return [self._in] if self._in is not None and self._unsent else []

    def pump(self) -> None:
        """Move what can be moved without waiting, and notice the end.

        The end is the process's, not the pipe's: a hook may leave a daemon behind that inherited the pipe.
        """
        if self.ended:
            return
        status = self._process.poll()
        self._push()
        self._pull()
        if status is not None:
            self.status = status
            self._close()

    def hang_up(self) -> None:
        """Close the child's stdin."""
        if self._in is not None:
            self._in = None
            assert self._process.stdin is not None
            self._process.stdin.close()

    def kill(self) -> None:
        """End it and what it started, now."""
        if not self.ended:
            try:
                os.killpg(self._process.pid, signal.SIGKILL)
            except OSError:
                self._process.kill()
            self.status = self._process.wait()
            self._pull()
            self._close()

    def _push(self) -> None:
        if self._in is None or self._keep_open:
            return
        try:
            while self._unsent:
                self._unsent = self._unsent[os.write(self._in, self._unsent[:65536]) :]
        except BlockingIOError:
            return
        except OSError:
            self._unsent = b""
        self.hang_up()

    def _pull(self) -> None:
        try:
            while data := os.read(self._out, 65536):
                self._chunks.append(data)
        except BlockingIOError:
            return
        except OSError:
            pass
        self._silent = True

    def _close(self) -> None:
        self.ended = True
        self.hang_up()
        assert self._process.stdout is not None
        self._process.stdout.close()


class Children(Wait):
    """Until every child has ended; the late ones are killed and `timed_out` says so."""

    def __init__(self, children: Sequence[Child], timeout: float) -> None:
        self.children = children
        self.timed_out = False
        self.due = time.monotonic() + timeout

    def over(self) -> bool:
        assert self.due is not None
        for child in self.children:
            child.pump()
        if time.monotonic() >= self.due:
            for child in self.children:
                if not child.ended:
                    self.timed_out = True
                    child.kill()
        return all(child.ended for child in self.children)


class Loop:
    """Waits for keys, signals, children and moments, and moves the work on."""

    def __init__(self, keyboard: int, on_keys: Callable[[bytes], None], on_signal: Callable[[int], None]) -> None:
        self._keyboard = keyboard
        self._on_keys = on_keys
        self._on_signal = on_signal
        self._wake, wake_write = os.pipe()
        os.set_blocking(self._wake, False)
        os.set_blocking(wake_write, False)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        for number in (signal.SIGCHLD, signal.SIGWINCH, signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, lambda *_: None)
        self.watched: list[Child] = []  # children that nobody waits for: background shells, the status line

    def step(self, wait: Wait, due: float | None, *, keys: bool = True) -> None:
        """Sleep until something happens: a key, a signal, a child, the moment `due` or the wait's own."""
        children = [*self.watched, *(wait.children if isinstance(wait, Children) else ())]
        moments = [moment for moment in (wait.due, due) if moment is not None]
        timeout = max(0.0, min(moments) - time.monotonic()) if moments else None
        reads = [self._wake, *(fd for child in children for fd in child.reads())]
        reads += [self._keyboard] if keys else []
        writes = [fd for child in children for fd in child.writes()]
        ready, _, _ = select.select(reads, writes, [], timeout)
        for child in children:
            child.pump()
        if self._wake in ready:
            for number in os.read(self._wake, 512):
                self._on_signal(number)
        if self._keyboard in ready:
            self._on_keys(self._read())

    def _read(self) -> bytes:
        """Keys; b"" when the terminal is gone."""
        try:
            return os.read(self._keyboard, 65536)
        except OSError:
            return b""
