"""What a running Codex says of itself: the conversations that it holds open, and the turn in its rollout.

It keeps a lock for each conversation from the moment it begins, also after a clear, and the rollout only from
the first prompt on. Where the system shows no processes in /proc, only the rollout speaks.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from batonpass.agents import processes
from batonpass.agents.base import Binding, Found, FrontUnknown, Past, Status
from batonpass.agents.codex.launch import codex_home
from batonpass.agents.codex.shared import LOCKS, Shared, Talk, windows
from batonpass.agents.codex.turns import Turns
from batonpass.disk import open_plain
from batonpass.session import State
from batonpass.untrusted import decode

_ID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_LOCK = re.compile(rf"{LOCKS}/({_ID})\.lock$")
_ROLLOUT = re.compile(rf"/rollout-[^/]*-({_ID})\.jsonl$")
_DATABASE = re.compile(r"/state_\d+\.sqlite$")
_BLOCK = 1 << 20
_UNTOLD = (
    "the Codex in this pane works through its shared background server, which does not tell which conversation is in "
    "front there; send it a prompt, or type /clear where another window shows the same one, and adopt it again"
)


@dataclass(frozen=True, slots=True)
class _Open:
    """What a process holds open: conversations by their locks, rollouts by their conversation."""

    held: frozenset[str]
    rollouts: Mapping[str, Path]
    codex: int | None  # the process that holds Codex's own database: it is one, whatever else it holds

    def fresh(self, after: str) -> str | None:
        """The newest conversation that nobody has spoken in, if it began after that one: ids sort by time."""
        return max((one for one in self.held if one not in self.rollouts and one > after), default=None)


def status(binding: Binding, turns: Turns, shared: Shared) -> Status:
    """State by its own word. While a turn is under way, conversations that it begins are its sub-agents'."""
    if binding.pid is None:
        return Status(State.UNKNOWN)
    if not processes.alive(binding.pid):
        return Status(State.DEAD)
    holding = _open(binding.pid)
    if not holding.held and (talk := shared.front(binding.pid, turns)):
        return _of_talk(talk, turns)
    if not holding.held and holding.codex is not None:
        return Status(State.UNKNOWN)  # it runs, and in which conversation nobody tells: that it rests nobody knows
    mine, rollout = binding.agent_session, binding.transcript
    if mine is None and (found := _newest(holding)) is not None:
        # Its first prompt came before anybody looked, and no hook has told of it.
        mine, rollout = found, holding.rollouts.get(found)
    turn = turns.of(rollout) if rollout is not None else None
    if turn is not None and turn.under_way(binding.pid):
        return Status(State.BUSY, mine, turn.since)
    if fresh := holding.fresh(mine or ""):
        return Status(State.IDLE, fresh)
    if turn is not None:
        return Status(State.IDLE, mine, turn.since)
    return Status(State.IDLE, mine) if mine in holding.held else Status(State.UNKNOWN)


def _of_talk(talk: Talk, turns: Turns) -> Status:
    turn = turns.of(talk.rollout)
    if turn is None:
        return Status(State.IDLE, talk.id)
    return Status(State.BUSY if turn.under_way(talk.server) else State.IDLE, talk.id, turn.since)


def holds(binding: Binding) -> bool:
    """Whether it holds the lock of the bound conversation; that it runs must do where no process is shown."""
    if binding.pid is None or not processes.alive(binding.pid):
        return False
    return not processes.shown() or binding.agent_session in _open(binding.pid).held


def find(pid: int, turns: Turns, shared: Shared) -> Found | None:
    """The Codex that runs as that process or below it, with the newest conversation that its user sees.

    Raises FrontUnknown for one behind the shared background server that shows none of its own.
    """
    holding = _open(pid)
    env = processes.environment(holding.codex or pid)
    if not holding.held:
        talk = shared.front(pid, turns)
        if talk is None and holding.codex is not None:
            raise FrontUnknown(_UNTOLD)
        return Found(pid, talk.id, talk.rollout if talk.rollout.exists() else None, env) if talk else None
    newest = _newest(holding)
    return Found(pid, newest, holding.rollouts.get(newest), env) if newest else None


def _newest(holding: _Open) -> str | None:
    if any(not _meta(holding.rollouts[one]) for one in holding.held if one in holding.rollouts):
        return None  # just made, and nobody can tell yet whose it is
    seen = [one for one in holding.held if one not in holding.rollouts or _is_users(holding.rollouts[one])]
    return max(seen, default=None)


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
    codex: int | None = None
    for process in windows(pid):
        for path in processes.open_files(process):
            if _DATABASE.search(path):
                codex = codex or process
            if lock := _LOCK.search(path):
                held.add(lock[1])
            elif rollout := _ROLLOUT.search(path):
                rollouts[rollout[1]] = Path(path)
    return _Open(frozenset(held), rollouts, codex)


def lock_folder(env: Mapping[str, str]) -> Path:
    """The folder in which a file appears as soon as a conversation begins."""
    return codex_home(env) / LOCKS
