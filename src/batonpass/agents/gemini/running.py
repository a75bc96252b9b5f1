"""Gemini CLI as it runs: its processes, and the conversation that each has in front."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from batonpass.agents import processes
from batonpass.agents.base import Binding, Found
from batonpass.agents.gemini.places import chats_of
from batonpass.agents.gemini.resume import session_of, transcript
from batonpass.agents.gemini.typed import Typed, seconds, typed
from batonpass.transcripts.whole import first_entry

ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_CHOSEN = ("--session-id", "--resume", "-r")
CLOCK_SECONDS = 1.5  # by which the kernel's word on a start may be off
_BEGINS_WITHIN = 60.0  # seconds until a start or a clear has made its record, on a busy machine and behind slow hooks

Dated = Sequence[tuple[float, Path]]


def program_of(pid: int) -> Mapping[str, str] | None:
    """The environment of a process that is this program; None for any other."""
    return processes.environment(pid) if _given(processes.arguments(pid)) is not None else None


def _given(words: Sequence[str]) -> Sequence[str] | None:
    """What the program was given on this command line; None where that is another program's.

    >>> _given(["/usr/bin/node", "--max-old-space-size=4096", "/usr/bin/gemini", "-r"]), _given(["tail", "gemini"])
    (['-r'], None)
    """
    if not words or words[0].rpartition("/")[2] not in ("node", "bun"):
        return None
    script = next((n for n, word in enumerate(words) if n and not word.startswith("-")), None)
    if script is None or words[script].rpartition("/")[2] not in ("gemini", "gemini.js"):
        return None
    return words[script + 1 :]


def leftovers(binding: Binding) -> list[int]:
    """The program behind its launcher: it goes on without its pane, and without the launcher, which hears no signal."""
    mine = binding.env.get("BATON_SESSION")
    if mine is None:
        return []
    found = ((pid, program_of(pid)) for pid in processes.everyone() if pid != binding.pid)
    return [pid for pid, env in found if env is not None and env.get("BATON_SESSION") == mine]


def find(pid: int) -> Found | None:
    """The Gemini CLI that runs as that process or below it, with its conversation where that is certain."""
    found = [one for process in processes.with_descendants(pid) if (one := running(process))]
    return found[0] if found else None


def running(pid: int) -> Found | None:
    """This very process, if it is one."""
    env = program_of(pid)
    if env is None:
        return None
    record = _record_of(pid, env)
    session = session_of(record) if record else None
    # A resume makes a second file; the conversation goes on in the first one.
    return Found(pid, session, transcript(session, env) if session else None, env)


def _record_of(pid: int, env: Mapping[str, str]) -> Path | None:
    """The record of the conversation that is in front, where that is certain.

    It began with the one that its command line names, or that was begun at its start; what other processes of the
    same folder began with is theirs. From there on the program's own notes tell every clear that was typed into it.
    """
    program = _behind(pid)
    began, folder = processes.started(program), processes.folder(program)
    chats = chats_of(folder, env) if folder else None
    if began is None or chats is None:
        return None
    dated, notes = _dated(chats), typed(chats)
    others = [one for one in _same_folder(folder) if one not in _family(pid)]
    theirs = {path for one in others if (path := _first(one, env, dated, notes, set()))}
    first = _first(program, env, dated, notes, theirs)
    session = session_of(first) if first else None
    mine = [line for line in notes if line.session == session and line.at >= began - CLOCK_SECONDS]
    return _moved(first, mine, [(start, path) for start, path in dated if path not in theirs])


def _moved(front: Path | None, mine: Sequence[Typed], dated: Dated) -> Path | None:
    """Where a process is by now that began in that record and was given these lines; None where nobody can tell."""
    clears = [line.at for line in mine if line.clears]
    for line in mine:
        if line.leaves:
            front = None
        elif line.clears:
            until = min([line.at + _BEGINS_WITHIN, *(at for at in clears if at > line.at)])
            begun = [path for start, path in dated if line.at <= start < until]
            if begun:
                front = begun[0] if len(begun) == 1 else None
    return front


def _dated(chats: Path) -> Dated:
    """Every record of a project with the moment it began, in that order."""
    return sorted((seconds(first_entry(path).get("startTime")), path) for path in chats.glob("session-*.jsonl"))


def _first(pid: int, env: Mapping[str, str], dated: Dated, notes: Sequence[Typed], theirs: set[Path]) -> Path | None:
    """The record that a process began with, where only one can be it. Of several, only it has notes."""
    chosen, began = _chosen(processes.arguments(pid), env), processes.started(pid)
    if chosen is not None or began is None:
        return chosen
    within = (began - CLOCK_SECONDS, began + _BEGINS_WITHIN)
    begun = [path for start, path in dated if within[0] <= start < within[1] and path not in theirs]
    if len(begun) > 1:
        known = {line.session for line in notes}
        begun = [path for path in begun if session_of(path) in known]
    return begun[0] if len(begun) == 1 else None


def _behind(pid: int) -> int:
    """The program itself where this is its launcher, which starts it anew for a folder that was just trusted."""
    words = _given(processes.arguments(pid))
    for one in processes.with_descendants(pid):
        if processes.parent(one) == pid and _given(processes.arguments(one)) == words:
            return one
    return pid


def _chosen(words: list[str], env: Mapping[str, str]) -> Path | None:
    """The record of the conversation that the command line names."""
    for option, value in pairwise(words):
        if option in _CHOSEN and ID.fullmatch(value):
            return transcript(value, env)
    return None


def _same_folder(folder: Path | None) -> list[int]:
    """Every running one that works in this folder."""
    return [pid for pid in processes.everyone() if program_of(pid) is not None and processes.folder(pid) == folder]


def _family(pid: int) -> set[int]:
    """The process with its launcher and its children: they are one session."""
    launcher = processes.parent(pid)
    return {*processes.with_descendants(pid), *([launcher] if launcher else [])}
