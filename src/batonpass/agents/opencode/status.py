"""What an opencode is doing: by the word that it gives over its port, and by its record."""

import os
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from time import monotonic, time

from batonpass.agents import processes
from batonpass.agents.base import Binding, Found, Past, Status
from batonpass.agents.opencode.arguments import parse
from batonpass.agents.opencode.database import Talk, Turn, database, last_turn, talks, transcript
from batonpass.agents.opencode.launch import PORT
from batonpass.agents.opencode.word import Word
from batonpass.session import State

_NO_PORT = (
    "this opencode was started without a port: Baton follows it by its database, types its prompts, and knows which "
    "conversation is in front only while no other opencode runs in the same folder"
)
_PROGRAMS = ("opencode", "opencode.exe")
# A prompt that was taken back before anything answered it stays open in the record for ever.
_UNANSWERED_SECONDS = 15.0
_LOOK_SECONDS = 2.0  # every process of the machine is looked at: not at every change of a file


def status(binding: Binding, word: Word | None) -> Status:
    """State by its own word where the port answers, else by its record; and which conversation is in front."""
    if binding.pid is None:
        return Status(State.UNKNOWN)
    if not processes.alive(binding.pid):
        return Status(State.DEAD)
    mine = front(binding.pid, binding.env, word) or binding.agent_session
    if mine is None:
        return Status(State.IDLE) if word is not None and word.answers else Status(State.UNKNOWN)
    if word is not None and (asked := word.asks(mine)):
        return Status(State.WAITING, mine, waiting_for=asked)
    turn = last_turn(transcript(database(binding.env), mine))
    busy = word.busy(mine) if word is not None else None
    if _under_way(turn, busy, binding.pid):
        return Status(State.BUSY, mine, turn.since if turn else None)
    return Status(State.IDLE, mine, turn.since if turn else None)


def _under_way(turn: Turn | None, busy: bool | None, pid: int) -> bool:
    if busy or turn is None or not turn.open:
        return bool(busy)
    began = processes.started(pid)
    if began is not None and turn.since < began - 1.0:
        return False  # it was cut off with an earlier process
    # The record is ahead of the events for a moment, and in a first turn for some seconds.
    return busy is None or abs(time() - turn.since) < _UNANSWERED_SECONDS


def front(pid: int, env: Mapping[str, str], word: Word | None) -> str | None:
    """The conversation that its user sees; None where nobody can tell.

    Without its port only the record tells, and that only of a process that is alone in its folder.
    """
    if word is not None and word.answers:
        return word.front
    folder, began = processes.folder(pid), processes.started(pid)
    if folder is None or began is None:
        return None
    if not _alone(pid, folder, int(monotonic() / _LOOK_SECONDS)):
        return None
    spoken = [talk for talk in talks(database(env), folder=folder) if talk.parent is None and talk.updated >= began - 1]
    return spoken[0].id if spoken else None


@lru_cache(maxsize=64)
def _alone(pid: int, folder: Path, moment: int) -> bool:
    """Whether no other opencode works in this folder; looked up once in each moment, as it is asked at every change."""
    return all(processes.folder(other) != folder for other in _running() if other != pid)


def find(pid: int, word: Word | None) -> Found | None:
    """The opencode that runs as that process or below it, with the conversation that its user sees."""
    for process in processes.with_descendants(pid):
        words = processes.arguments(process)
        if _is_opencode(words):
            env = _with_port(processes.environment(process), words)
            mine = front(process, env, word) or _resumed(words)
            path = transcript(database(env), mine) if mine else None
            return Found(process, mine, path, env, None if PORT in env else _NO_PORT)
    return None


def _is_opencode(words: list[str]) -> bool:
    """Whether a command line is that of opencode's own screen, also where a wrapper runs it."""
    named = [n for n, word in enumerate(words[:2]) if os.path.basename(word) in _PROGRAMS]
    if not named:
        return False
    try:
        parse([word for word in words[named[-1] + 1 :] if word])
    except Exception:  # a command of its own, such as `run` or `serve`
        return False
    return True


def _with_port(env: dict[str, str], words: list[str]) -> dict[str, str]:
    port = _option(words, "--port")
    return {**env, PORT: port} if port else env


def _resumed(words: list[str]) -> str | None:
    return _option(words, "--session") or _option(words, "-s")


def _option(words: list[str], name: str) -> str | None:
    for n, word in enumerate(words):
        if word == name and n + 1 < len(words):
            return words[n + 1]
        if word.startswith(f"{name}="):
            return word.removeprefix(f"{name}=")
    return None


def _running() -> Iterator[int]:
    return (pid for pid in processes.everyone() if _is_opencode(processes.arguments(pid)))


def past(wanted: str, env: Mapping[str, str]) -> Past | None:
    """The conversation of that id, or named below the database's path; None for a sub-agent's."""
    path = Path(wanted)
    where = path.parent if path.is_absolute() else database(env)
    found = [talk for talk in talks(where, identity=path.name) if talk.parent is None] if where.is_file() else []
    if not found:
        return None
    (talk,) = found
    return Past(talk.id, transcript(where, talk.id), Path(talk.folder), _holder(talk))


def _holder(talk: Talk) -> int | None:
    """A process that works in its folder and was there when the conversation was last used."""
    for pid in _running():
        began = processes.started(pid)
        if processes.folder(pid) == Path(talk.folder) and began is not None and began <= talk.updated + 1:
            return pid
    return None
