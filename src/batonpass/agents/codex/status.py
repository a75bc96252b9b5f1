"""What a running Codex says of itself: the conversations that it holds open, and the turn in its rollout.

It keeps a lock for each conversation from the moment it begins, also after a clear, and the rollout only from
the first prompt on. Where the system shows no processes in /proc, only the rollout speaks.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from batonpass.agents import processes
from batonpass.agents.base import Binding, Found, Past, Status
from batonpass.agents.codex.launch import codex_home
from batonpass.disk import open_plain
from batonpass.session import State
from batonpass.untrusted import decode

LOCKS = "thread-writer-locks"
_ID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_LOCK = re.compile(rf"{LOCKS}/({_ID})\.lock$")
_ROLLOUT = re.compile(rf"/rollout-[^/]*-({_ID})\.jsonl$")
_TURN = re.compile(rb'"(?:task_started|task_complete|turn_aborted)"')
_BLOCK = 1 << 20


@dataclass(slots=True)
class _Read:
    """How far a rollout was read, and whether a turn was under way there."""

    inode: int = 0
    offset: int = 0
    busy: bool = False
    since: float | None = None


@dataclass(slots=True)
class Turns:
    """Follows rollouts for the begin and the end of turns; only what was appended is read."""

    _read: dict[Path, _Read] = field(default_factory=dict)

    def of(self, rollout: Path) -> tuple[bool, float | None] | None:
        """Whether a turn is under way, and since when that is so; None as long as there is no file."""
        try:
            stream = open_plain(rollout)
        except OSError:
            return None
        with stream:
            facts = os.fstat(stream.fileno())
            known = self._read.get(rollout)
            if known is None or known.inode != facts.st_ino or known.offset > facts.st_size:
                known = self._read[rollout] = _Read(inode=facts.st_ino)
            stream.seek(known.offset)
            held = b""
            while block := stream.read(_BLOCK):
                *lines, held = (held + block).split(b"\n")
                for line in lines:
                    known.offset += len(line) + 1
                    _take(known, line)
        return known.busy, known.since


def _take(known: _Read, line: bytes) -> None:
    if not _TURN.search(line):
        return
    try:
        entry = decode(line)
        payload = entry.get("payload") if isinstance(entry, dict) else None
        kind = payload.get("type") if isinstance(payload, dict) else None
        if isinstance(entry, dict) and kind in ("task_started", "task_complete", "turn_aborted"):
            known.since = datetime.fromisoformat(str(entry.get("timestamp"))).timestamp()
            known.busy = kind == "task_started"
    except ValueError:
        return


@dataclass(frozen=True, slots=True)
class _Open:
    """What a process holds open: conversations by their locks, rollouts by their conversation."""

    held: frozenset[str]
    rollouts: Mapping[str, Path]

    def fresh(self, after: str) -> str | None:
        """The newest conversation that nobody has spoken in, if it began after that one: ids sort by time."""
        return max((one for one in self.held if one not in self.rollouts and one > after), default=None)


def status(binding: Binding, turns: Turns) -> Status:
    """State by its own word. While a turn is under way, conversations that it begins are its sub-agents'."""
    if binding.pid is None:
        return Status(State.UNKNOWN)
    if not processes.alive(binding.pid):
        return Status(State.DEAD)
    mine, rollout = binding.agent_session, binding.transcript
    if mine is None and (found := find(binding.pid)) is not None:
        # Its first prompt came before anybody looked, and no hook has told of it.
        mine, rollout = found.agent_session, found.transcript
    turn = turns.of(rollout) if rollout is not None else None
    if turn is not None and turn[0] and not _left_behind(turn[1], binding.pid):
        return Status(State.BUSY, mine, turn[1])
    holding = _open(binding.pid)
    if fresh := holding.fresh(mine or ""):
        return Status(State.IDLE, fresh)
    if turn is not None:
        return Status(State.IDLE, mine, turn[1])
    return Status(State.IDLE, mine) if mine in holding.held else Status(State.UNKNOWN)


def _left_behind(began: float | None, pid: int) -> bool:
    """Whether a turn was cut off with an earlier process: a conversation that was resumed is not in it any more."""
    started = processes.started(pid)
    return began is not None and started is not None and began < started - 1.0


def find(pid: int) -> Found | None:
    """The Codex that runs as that process or below it, with the newest conversation that its user sees.

    One that works through the shared background server holds nothing open itself, and is not found.
    """
    holding = _open(pid)
    if any(not _meta(holding.rollouts[one]) for one in holding.held if one in holding.rollouts):
        return None  # just made, and nobody can tell yet whose it is
    seen = [one for one in holding.held if one not in holding.rollouts or _is_users(holding.rollouts[one])]
    newest = max(seen, default=None)
    if newest is None:
        return None
    return Found(pid, newest, holding.rollouts.get(newest), processes.environment(pid))


def past(wanted: str, env: Mapping[str, str]) -> Past | None:
    """The conversation of that id, or in that rollout; None for a sub-agent's, which nobody could go on with."""
    if re.fullmatch(_ID, wanted):
        path = next(codex_home(env).glob(f"sessions/*/*/*/rollout-*-{wanted}.jsonl"), None)
    else:
        path = Path(wanted)
    named = _ROLLOUT.search(f"/{path}") if path else None
    if path is None or named is None or not _is_users(path):
        return None
    folder = _meta(path).get("cwd")
    if not isinstance(folder, str) or not folder.startswith("/"):
        return None
    lock = f"/{LOCKS}/{named[1]}.lock"
    holders = (pid for pid in processes.everyone() if any(name.endswith(lock) for name in processes.open_files(pid)))
    return Past(named[1], path, Path(folder), next(holders, None))


def _is_users(rollout: Path) -> bool:
    """Whether a person talks in it; sub-agents have rollouts of their own."""
    return _meta(rollout).get("thread_source", "") == "user"


def _meta(rollout: Path) -> Mapping[str, object]:
    """What its first line says of the conversation."""
    try:
        with open_plain(rollout) as stream:
            entry = decode(stream.readline(_BLOCK))
    except (OSError, ValueError):
        return {}
    payload = entry.get("payload") if isinstance(entry, dict) and entry.get("type") == "session_meta" else None
    return payload if isinstance(payload, dict) else {}


def _open(pid: int) -> _Open:
    held: set[str] = set()
    rollouts: dict[str, Path] = {}
    for process in processes.with_descendants(pid):
        for path in processes.open_files(process):
            if lock := _LOCK.search(path):
                held.add(lock[1])
            elif rollout := _ROLLOUT.search(path):
                rollouts[rollout[1]] = Path(path)
    return _Open(frozenset(held), rollouts)


def lock_folder(env: Mapping[str, str]) -> Path:
    """The folder in which a file appears as soon as a conversation begins."""
    return codex_home(env) / LOCKS
