"""A Codex that works through the shared background server: which of the server's conversations its window has in front.

The window offers its conversations tools on a port of its own, and the server tells for each conversation at which
port those are: that is Codex's own word on whose it is. A conversation is locked anew whenever it is brought up, so the
time of its lock tells which one came last.
"""

import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from time import monotonic
from urllib.parse import urlsplit

from batonpass.agents import processes
from batonpass.agents.codex.launch import codex_home
from batonpass.agents.codex.server import Refused, Server, ServerAway, connected, control_socket
from batonpass.agents.codex.turns import Turns
from batonpass.untrusted import identifier

LOCKS = "thread-writer-locks"
_LOCK = re.compile(r"(.+)\.lock")
_TOOLS = "codex_tui"  # by this name the window's own tools stand among a conversation's servers
_ANSWER_SECONDS = 0.2  # for which an answer is waited for; one that comes later counts at the next look
_AGAIN_SECONDS = 0.25  # before the server is asked again about what it did not know yet,
_AWAY_SECONDS = 5.0  # and before one is tried again that did not answer


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


class Shared:
    """Asks the server of each Codex home whenever conversations were brought up since, and remembers what it said."""

    def __init__(self) -> None:
        self._homes: dict[Path, _Home] = {}

    def front(self, pid: int, turns: Turns) -> Talk | None:
        """What the window at or below that process shows; None where that cannot be told, or it is no such window."""
        mine: list[Seen] = []
        for home, ports in _offered(pid).items():
            locks = _locks(home / LOCKS)
            talks = self._homes.setdefault(home, _Home(control_socket(home))).talks(locks)
            if talks is None:
                return None
            mine += [_seen(talk, locks.get(talk.id, 0.0), turns) for talk in talks if talk.port in ports]
        return foremost(mine)


class _Home:
    """What the server of one Codex home says of its conversations.

    It is asked in a thread: one that hangs keeps nobody else waiting.
    """

    def __init__(self, control: Path) -> None:
        self._control = control
        self._asked: Mapping[str, float] | None = None  # the locks that there were when it was asked last
        self._talks: tuple[Talk, ...] | None = None
        self._again = float("-inf")  # when to ask once more, if it did not tell
        self._asking: Thread | None = None

    def talks(self, locks: Mapping[str, float]) -> tuple[Talk, ...] | None:
        """Those that these locks are of; None while it has not told, and what it said before does not hold."""
        if self._asking is not None and not self._asking.is_alive():
            self._asking = None
        if self._asking is None and (locks != self._asked or (self._talks is None and monotonic() > self._again)):
            self._asked, self._talks = locks, None
            self._asking = Thread(target=self._ask, daemon=True)
            self._asking.start()
            self._asking.join(_ANSWER_SECONDS)
        return self._talks if locks == self._asked else None

    def _ask(self) -> None:
        told: dict[str, Talk | None] = {}
        again = _AWAY_SECONDS
        try:
            with suppress(ServerAway), connected(self._control) as server:
                for one in _loaded(server):
                    with suppress(Refused):  # it is just being brought up, or let go of
                        told[one] = _talk(server, one)
                again = _AGAIN_SECONDS
                if _held(server.pid) <= told.keys():  # a lock comes a moment before its conversation is listed
                    self._talks = tuple(talk for talk in told.values() if talk)
        finally:
            self._again = monotonic() + again


def _offered(pid: int) -> dict[Path, frozenset[int]]:
    """The ports at and below that process, by the Codex home that each process has itself, where that has a server."""
    offered: dict[Path, frozenset[int]] = {}
    for one in windows(pid):
        if ports := processes.listening(one):
            home = codex_home(processes.environment(one))
            if control_socket(home).exists():
                offered[home] = offered.get(home, frozenset()) | ports
    return offered


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


def _held(server: int) -> frozenset[str]:
    """The conversations that the server has up: those of other processes have locks in the same folder."""
    paths = (Path(path) for path in processes.open_files(server))
    named = (_LOCK.fullmatch(path.name) for path in paths if path.parent.name == LOCKS)
    return frozenset(lock[1] for lock in named if lock and identifier(lock[1]))


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
