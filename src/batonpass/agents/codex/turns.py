"""The turns in a rollout: whether one is under way, and when the last one began and ended."""

import os
import re
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from batonpass.agents import processes
from batonpass.disk import open_plain
from batonpass.untrusted import decode

_TURN = re.compile(rb'"(?:task_started|task_complete|turn_aborted)"')
_BLOCK = 1 << 20


@dataclass(slots=True)
class Turn:
    """The last turn of a rollout, as far as it was read."""

    busy: bool = False
    since: float | None = None  # when it became what it is now
    began: float | None = None
    _inode: int = 0
    _offset: int = 0

    def under_way(self, pid: int) -> bool:
        """Whether that process is in it: one that was cut off with an earlier process is not gone on with."""
        started = processes.started(pid)
        cut_off = self.since is not None and started is not None and self.since < started - 1.0
        return self.busy and not cut_off


@dataclass(slots=True)
class Turns:
    """Follows rollouts for the begin and the end of turns; only what was appended is read."""

    _read: dict[Path, Turn] = field(default_factory=dict)

    def of(self, rollout: Path) -> Turn | None:
        """The last turn; None as long as there is no file."""
        try:
            stream = open_plain(rollout)
        except OSError:
            return None
        with stream:
            facts = os.fstat(stream.fileno())
            known = self._read.get(rollout)
            if known is None or known._inode != facts.st_ino or known._offset > facts.st_size:
                known = self._read[rollout] = Turn(_inode=facts.st_ino)
            stream.seek(known._offset)
            held = b""
            while block := stream.read(_BLOCK):
                *lines, held = (held + block).split(b"\n")
                for line in lines:
                    known._offset += len(line) + 1
                    _take(known, line)
        return known


def _take(known: Turn, line: bytes) -> None:
    if not _TURN.search(line):
        return
    try:
        entry = decode(line)
        payload = entry.get("payload") if isinstance(entry, dict) else None
        kind = payload.get("type") if isinstance(payload, dict) else None
        if isinstance(entry, dict) and kind in ("task_started", "task_complete", "turn_aborted"):
            known.since = datetime.fromisoformat(str(entry.get("timestamp"))).timestamp()
            known.busy = kind == "task_started"
            known.began = known.since if known.busy else known.began
    except ValueError:
        return
