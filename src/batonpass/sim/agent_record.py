"""What the scripted agent leaves on disk: its transcript, and a file that says what it is doing."""

import json
import os
import time
from collections.abc import Iterator, Mapping

from batonpass.sim.agent_options import state_path, transcript_path


def new_id() -> str:
    """A random id in the shape of a UUID (the uuid module would cost a tenth of the start-up)."""
    digits = os.urandom(16).hex()
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"


class Transcript:
    """One conversation, one JSON object per line, named after the normalised events."""

    def __init__(self, home: str, session: str) -> None:
        self.path = transcript_path(home, session)
        os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
        self._file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self.echo: int | None = None  # where each line goes as well
        self.last = ""  # the event that was added last

    def add(self, event: str, **fields: object) -> None:
        line = json.dumps({"event": event, "at": time.time(), **fields}, ensure_ascii=False)
        self.last = event
        data = line.encode("utf-8", "replace") + b"\n"
        os.write(self._file, data)
        if self.echo is not None:
            os.write(self.echo, data)

    def close(self) -> None:
        os.close(self._file)


def recorded(home: str, session: str) -> Iterator[Mapping[str, object]]:
    """The lines of a transcript; torn ones are left out. Raises FileNotFoundError."""
    with open(transcript_path(home, session), encoding="utf-8", errors="replace") as lines:
        for line in lines:
            try:
                found = json.loads(line)
            except ValueError:
                continue
            if isinstance(found, dict):
                yield found


class StateFile:
    """Says what the process is doing; whole at every moment, gone when it ends in order."""

    def __init__(self, home: str) -> None:
        self._pid = os.getpid()
        self._path = state_path(home, self._pid)
        self._last: tuple[object, ...] = ()
        self._since = time.time()
        os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)

    def put(self, session: str, status: str, waiting_for: str | None = None) -> None:
        now = (session, status, waiting_for)
        if now == self._last:
            return
        self._last, self._since = now, time.time()
        state = {
            "pid": self._pid,
            "session": session,
            "status": status,
            "since": self._since,
            "waiting_for": waiting_for,
            "proc_start": proc_start(self._pid),
        }
        temporary = f"{self._path}.new"
        with open(temporary, "w", encoding="utf-8") as file:
            json.dump(state, file)
        os.replace(temporary, self._path)

    def remove(self) -> None:
        if os.path.exists(self._path):
            os.unlink(self._path)


def proc_start(pid: int) -> str | None:
    """When a process began, in the kernel's own ticks; None where the kernel does not say, or it has ended.

    With the pid it names a process for good: pids are used again. One that ended may stand in the list
    until its parent takes note, and tmux can be late with that.
    """
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
        return None if fields[0] in ("Z", "X") else fields[19]
    except (OSError, IndexError):
        return None
