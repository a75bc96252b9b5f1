"""What a running Gemini CLI says of itself: its window title, its hooks, and the prompts in its journal.

Each of them tells the state at a moment; the latest one counts. A cancelled request ends without its hook,
and a user may have switched the title off, so none of them would do alone.
"""

import os
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from batonpass.agents import processes
from batonpass.agents.base import Binding, HookKind, Status
from batonpass.agents.gemini import running
from batonpass.agents.gemini.record import Journal
from batonpass.agents.gemini.typed import NOTES
from batonpass.session import State
from batonpass.transcripts.events import Failed, Interrupted, Prompted
from batonpass.transcripts.tail import Tail

_TITLES = {"◇": State.IDLE, "✦": State.BUSY, "⏲": State.BUSY, "✋": State.WAITING}
_HOOKS = {
    HookKind.SESSION_START: State.IDLE,
    HookKind.PROMPT: State.BUSY,
    HookKind.STOP: State.IDLE,
    HookKind.NOTIFICATION: State.WAITING,
}
_MOMENT = 0.001
WAITS = "asks for permission"


@dataclass(frozen=True, slots=True)
class Word:
    """A state by the program's own word, and when it said so."""

    state: State
    at: float


@dataclass(slots=True)
class _Followed:
    tail: Tail
    word: Word | None = None


@dataclass(slots=True)
class Turns:
    """Keeps the last word of hooks and journals; only what was appended to a journal is read."""

    _hooks: dict[str, Word] = field(default_factory=dict)
    _begun: set[str] = field(default_factory=set)  # conversations whose start a hook has told of
    _journals: dict[Path, _Followed] = field(default_factory=dict)
    _front: dict[int, tuple[frozenset[object], str | None]] = field(default_factory=dict)  # by process

    def heard(self, session: str, kind: HookKind, at: float) -> None:
        """A hook of this conversation; one that waited in the spool has nothing to say against a later one."""
        before = self._hooks.get(session)
        if kind is HookKind.SESSION_START:
            self._begun.add(session)
        if kind in _HOOKS and (before is None or at >= before.at):
            self._hooks[session] = Word(_HOOKS[kind], at)

    def last(self, session: str | None, journal: Path | None) -> Word | None:
        """The latest word on a conversation; None as long as there is none."""
        words = [self._hooks.get(session or ""), self._told(journal) if journal is not None else None]
        return max((word for word in words if word), key=lambda word: word.at, default=None)

    def front(self, binding: Binding) -> str | None:
        """The conversation in front: the bound one, unless its process has begun another that no hook has told of."""
        if binding.transcript is None or binding.pid is None:
            return binding.agent_session
        seen, front = self._front.get(binding.pid, (frozenset(), None))
        with suppress(OSError):
            now = _beside(binding.transcript.parent)
            if now != seen:
                found = running.find(binding.pid)
                front = found.agent_session if found else None
                self._front[binding.pid] = now, front
        # One whose start a hook told of is followed with that hook, and may have been left since. No other hook moves
        # the session, so a prompt or an end of a turn in there must not silence the notes.
        return binding.agent_session if front is None or front in self._begun else front

    def _told(self, journal: Path) -> Word | None:
        followed = self._journals.setdefault(journal, _Followed(Tail(journal, Journal())))
        for event in followed.tail.read().events:
            if isinstance(event, Prompted):
                followed.word = Word(State.BUSY, event.at)
            elif isinstance(event, Interrupted | Failed):
                followed.word = Word(State.IDLE, event.at)
        return followed.word


def _beside(chats: Path) -> frozenset[object]:
    """What changes when a conversation begins: the records of a project, and the notes of what was typed."""
    with os.scandir(chats) as entries:
        records: set[object] = {(entry.name, entry.stat().st_size > 0) for entry in entries}
    with suppress(OSError):
        records.add((chats.parent / NOTES).stat().st_mtime_ns)
    return frozenset(records)


def status(binding: Binding, turns: Turns) -> Status:
    """State by its own word; UNKNOWN before the first one."""
    if binding.pid is None:
        return Status(State.UNKNOWN)
    if not processes.alive(binding.pid):
        return Status(State.DEAD)
    titled = _titled(binding)
    told = turns.last(binding.agent_session, binding.transcript)
    if told is not None and told.at < (processes.started(binding.pid) or 0.0) - running.CLOCK_SECONDS:
        told = None  # it was said in an earlier process: a conversation that was resumed is not in that turn any more
    word = max((word for word in (told, titled) if word), key=lambda word: word.at, default=None)
    front = turns.front(binding)
    if word is None:
        return Status(State.UNKNOWN, front)
    waiting = WAITS if word.state is State.WAITING else None
    # A turn may be over before its title was ever seen: it was idle again at the latest when that was looked at.
    since = binding.title_since if word is titled else word.at
    if word is titled and word.state is State.IDLE and told is not None:
        since = max(since, told.at + _MOMENT)
    return Status(word.state, front, since, waiting)


def _titled(binding: Binding) -> Word | None:
    """A title tells the state at the moment it is seen, however long it has stood there."""
    state = title_state(binding.title)
    return None if state is None else Word(state, binding.title_at)


def title_state(title: str | None) -> State | None:
    """What a window title says; None where it is not one of this program's.

    >>> title_state("◇  Ready (shop)"), title_state("somewhere")
    (<State.IDLE: 'idle'>, None)
    """
    return _TITLES.get((title or "").strip()[:1])
