"""What an opencode is doing: by the word that it gives over its port, and by its record."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from time import monotonic, time

from batonpass.agents import processes
from batonpass.agents.base import Binding, Found, Past, Status
from batonpass.agents.opencode.arguments import given, parse
from batonpass.agents.opencode.begun import begun
from batonpass.agents.opencode.database import Talk, Turn, database, last_turn, talks, transcript
from batonpass.agents.opencode.launch import PORT
from batonpass.agents.opencode.neighbours import is_program, neighbours
from batonpass.agents.opencode.word import Word
from batonpass.agents.setbacks import TriesAgain
from batonpass.session import State

_NO_PORT = (
    "this opencode was started without a port: Baton follows it by its database, types its prompts, and knows which "
    "conversation is in front only while no other opencode runs in the same folder"
)
# A prompt that was taken back before anything answered it stays open in the record for ever.
_UNANSWERED_SECONDS = 15.0
_LOOK_SECONDS = 2.0  # every process of the machine is looked at: not at every change of a file
_LEFT_SECONDS = 5.0  # in which one that was just seen may still write before it is gone


def status(binding: Binding, word: Word | None) -> Status:
    """State by its own word where the port answers, else by its record; and which conversation is in front."""
    if binding.pid is None:
        return Status(State.UNKNOWN)
    if not processes.alive(binding.pid):
        return Status(State.DEAD)
    bound = binding.agent_session
    mine = front(binding.pid, binding.env, word, bound) or _unheard(binding.pid, binding.env, word, bound) or bound
    if mine is None:
        return Status(State.IDLE) if word is not None and word.answers else Status(State.UNKNOWN)
    if word is not None and (asked := word.asks(mine)):
        return Status(State.WAITING, mine, waiting_for=asked)
    busy = word.busy(mine) if word is not None else None
    if busy:
        return Status(State.BUSY, mine, tries_again=word.tries_again(mine) if word else None)
    turn = last_turn(transcript(database(binding.env), mine))
    if turn is not None and _under_way(turn, busy, binding.pid):
        return Status(State.BUSY, mine, turn.since, tries_again=_last_heard(word, mine, turn))
    return Status(State.IDLE, mine, turn.since if turn else None)


def _last_heard(word: Word | None, mine: str, turn: Turn) -> TriesAgain | None:
    """What it is to try again by its last word; that the port says no more is no answer, one in the record is."""
    again = word.tries_again(mine) if word is not None else None
    return again if again is not None and turn.since <= again.failed.at else None


def _under_way(turn: Turn, busy: bool | None, pid: int) -> bool:
    if not turn.open:
        return False
    began = processes.started(pid)
    if began is not None and turn.since < began - 1.0:
        return False  # it was cut off with an earlier process
    # The record is ahead of the events for a moment, and in a first turn for some seconds.
    recent = abs(time() - turn.since) < _UNANSWERED_SECONDS
    return recent or (busy is None and not turn.between)


def front(pid: int, env: Mapping[str, str], word: Word | None, bound: str | None = None) -> str | None:
    """The conversation that its user sees; None where nobody can tell, and the one known so far goes on to hold.

    A process with a port is asked and never guessed at. Without one only the record tells, and that only what is
    certain to be of this process.
    """
    if word is not None and not word.silent:
        return word.front
    folder, began = processes.folder(pid), processes.started(pid)
    if folder is None or began is None:
        return None
    spoken = [talk for talk in talks(database(env), folder=folder) if talk.parent is None and talk.updated >= began - 1]
    if not spoken or spoken[0].id == bound:
        return bound
    seen = _company.setdefault(pid, time() if bound else began - 1)
    if _has_company(pid, folder, int(monotonic() / _LOOK_SECONDS)):
        _company[pid] = time()
        return None
    # Begun, or gone on with, after every other process had left: nobody else can have done that.
    newest = spoken[0]
    if newest.created <= seen and newest.updated <= seen + _LEFT_SECONDS:
        return None
    return None if _is_there_another(pid, folder) else newest.id


def _unheard(pid: int, env: Mapping[str, str], word: Word | None, bound: str | None = None) -> str | None:
    """The conversation that it was started with, where its port says nothing any more of which one that was.

    Not where it is known to have another one: one that was used since the process began.
    """
    if word is None or not word.answers or word.front is not None:
        return None
    known = talks(database(env), identity=bound) if bound else []
    began = processes.started(pid)
    if known and (began is None or known[0].updated >= began):
        return None
    return begun(pid, env)


# A process -> when another opencode was last seen in its folder; at first, when that was first looked for.
_company: dict[int, float] = {}


@lru_cache(maxsize=64)
def _has_company(pid: int, folder: Path, moment: int) -> bool:
    """Whether another opencode works in this folder; looked up once in each moment, as it is asked at every change."""
    return _is_there_another(pid, folder)


def _is_there_another(pid: int, folder: Path) -> bool:
    return next(neighbours(pid, folder), None) is not None


def find(pid: int, word: Word | None) -> Found | None:
    """The opencode that runs as that process or below it, with the conversation that its user sees."""
    for process in processes.with_descendants(pid):
        words = processes.arguments(process)
        if _is_opencode(words):
            env = _with_port(processes.environment(process), words, processes.folder(process))
            mine = front(process, env, word) or _unheard(process, env, word) or _resumed(words)
            path = transcript(database(env), mine) if mine else None
            return Found(process, mine, path, env, None if PORT in env else _NO_PORT)
    return None


def _is_opencode(words: list[str]) -> bool:
    """Whether a command line is that of opencode's own screen, also where a wrapper runs it."""
    if not is_program(words):
        return False
    try:
        parse([word for word in given(words) if word])
    except Exception:  # a command of its own, such as `run` or `serve`
        return False
    return True


def _with_port(env: dict[str, str], words: list[str], folder: Path | None) -> dict[str, str]:
    """Where it can be asked: on its port, about the folder that it works in, which need not be its shell's."""
    port = _option(words, "--port")
    return {**env, PORT: port, **({"PWD": str(folder)} if folder else {})} if port else env


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
    here = [pid for pid in _running() if processes.folder(pid) == Path(talk.folder)]
    named = {pid: _resumed(processes.arguments(pid)) for pid in here}
    holder = next((pid for pid, one in named.items() if one == talk.id), None)
    perhaps = next((pid for pid, one in named.items() if one is None and _may_have_used(pid, talk)), None)
    return Past(talk.id, transcript(where, talk.id), Path(talk.folder), holder, perhaps)


def _may_have_used(pid: int, talk: Talk) -> bool:
    """Whether a process was there when the conversation was last used; one with a port is asked by its own watch."""
    began = processes.started(pid)
    return PORT not in processes.environment(pid) and began is not None and began <= talk.updated + 1
