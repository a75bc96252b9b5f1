"""A Codex that works through the shared background server: which of the server's conversations its window has in front.

The window offers its conversations tools on a port of its own, and the server tells for each conversation at which
port those are: that is Codex's own word on whose it is. A conversation is locked anew whenever it is brought up, so the
time of its lock tells which one came last.
"""

import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from urllib.parse import urlsplit

from batonpass.agents import processes
from batonpass.agents.codex.server import Refused, Server, ServerAway, connected, control_socket
from batonpass.agents.codex.turns import Turns
from batonpass.untrusted import identifier

LOCKS = "thread-writer-locks"
_LOCK = re.compile(r"(.+)\.lock")
_TOOLS = "codex_tui"  # by this name the window's own tools stand among a conversation's servers
_AGAIN_SECONDS = 1.0  # before the server is asked again about what it did not know yet,
_AWAY_SECONDS = 30.0  # and before one is tried again that kept everybody waiting


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation of a person in the shared server."""

    id: str
    port: int  # of the window that brought it up
    rollout: Path
    server: int  # the process that carries it out


@dataclass(frozen=True, slots=True)
class Seen:
    """When a conversation was last brought up, and its last turn, as far as there was one."""

    talk: Talk
    brought_up: float
    began: float | None = None
    ended: float | None = None  # None while it is under way

    @property
    def last(self) -> float:
        """When its user was last there for certain."""
        return max(self.brought_up, self.began or 0.0)

    def was_busy(self, moment: float) -> bool:
        return self.began is not None and self.began < moment and (self.ended is None or moment < self.ended)


def foremost(seen: Iterable[Seen]) -> Talk | None:
    """The conversation that a window has in front; None where that cannot be told.

    A window begins no conversation while its own is at work; what does begin then was begun by the agent, or from
    its list of all conversations, and nobody knows which of the two is looked at.
    """
    ranked = sorted(seen, key=lambda one: one.last)
    if not ranked or any(other.was_busy(ranked[-1].last) for other in ranked[:-1]):
        return None
    return ranked[-1].talk


@dataclass(slots=True)
class Shared:
    """Asks the server whenever conversations were brought up since, and remembers what it said."""

    _locks: Mapping[str, float] = field(default_factory=dict)
    _talks: tuple[Talk, ...] = ()
    _whole: bool = False  # whether every lock was accounted for
    _again: float = float("-inf")  # when to ask all the same, if it was not

    def front(self, pid: int, home: Path, turns: Turns) -> Talk | None:
        """What the window at or below that process shows; None where that cannot be told, or it is no such window."""
        control = control_socket(home)
        ports = frozenset(port for one in windows(pid) for port in processes.listening(one))
        if not ports or not control.exists():
            return None
        locks = _locks(home / LOCKS)
        if locks != self._locks or (not self._whole and monotonic() > self._again):
            self._ask(control, locks)
        mine = [talk for talk in self._talks if talk.port in ports]
        return foremost(_seen(talk, locks.get(talk.id, 0.0), turns) for talk in mine)

    def _ask(self, control: Path, locks: Mapping[str, float]) -> None:
        self._locks, self._whole = locks, False
        told: dict[str, Talk | None] = {}
        try:
            with connected(control) as server:
                for one in _loaded(server):
                    with suppress(Refused):  # it is just being brought up, or let go of
                        told[one] = _talk(server, one)
        except ServerAway:
            self._again = monotonic() + _AWAY_SECONDS
            return  # what was known holds until it answers again
        self._again = monotonic() + _AGAIN_SECONDS
        self._talks = tuple(talk for talk in told.values() if talk)
        self._whole = locks.keys() <= told.keys()


def windows(pid: int) -> list[int]:
    """The processes at and below that one, without a shared server that one of them has started for all."""
    return list(processes.with_descendants(pid, without=_is_server))


def _is_server(pid: int) -> bool:
    return processes.arguments(pid)[1:2] == ["app-server"]


def _loaded(server: Server) -> list[str]:
    try:
        named = server.call("thread/loaded/list", {}).get("data")
    except Refused as error:
        raise ServerAway(str(error)) from error
    return [one for one in named if identifier(one)] if isinstance(named, list) else []


def _talk(server: Server, conversation: str) -> Talk | None:
    """None for a sub-agent's, and for one that no window has brought up."""
    match server.call("thread/read", {"threadId": conversation}):
        case {"thread": {"threadSource": "user", "parentThreadId": None, "path": str(path)}}:
            port = _port(server, conversation)
            return Talk(conversation, port, Path(path), server.pid) if port else None
        case _:
            return None


def _port(server: Server, conversation: str) -> int | None:
    asked = {"threadId": conversation, "serverName": _TOOLS, "detail": "toolsAndAuthOnly"}
    match server.call("mcpServerStatus/list", asked):
        case {"data": [{"name": str(name), "httpOrigin": str(origin)}]} if name == _TOOLS:
            return urlsplit(origin).port
        case _:
            return None


def _locks(folder: Path) -> dict[str, float]:
    """When each lock was made, by conversation."""
    made: dict[str, float] = {}
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if (named := _LOCK.fullmatch(entry.name)) and identifier(named[1]):
                    made[named[1]] = entry.stat().st_mtime
    except OSError:
        pass  # there is none yet, or one was let go of just now
    return made


def _seen(talk: Talk, brought_up: float, turns: Turns) -> Seen:
    turn = turns.of(talk.rollout)
    if turn is None or turn.began is None:
        return Seen(talk, brought_up)
    return Seen(talk, brought_up, turn.began, None if turn.under_way(talk.server) else turn.since)
