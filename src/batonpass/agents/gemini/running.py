"""Gemini CLI as it runs: its processes, and the conversation that each has in front."""

import re
from collections.abc import Mapping
from datetime import datetime
from itertools import pairwise
from pathlib import Path

from batonpass.agents import processes
from batonpass.agents.base import Binding, Found
from batonpass.agents.gemini.places import project_of, user_folder
from batonpass.agents.gemini.resume import first_entry, session_of, transcript

ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_CHOSEN = ("--session-id", "--resume", "-r")
_CLOCK_SECONDS = 1.5  # by which the kernel's word on a start may be off
_STARTS_WITHIN = 60.0  # seconds from the start of a process to that of its first record, on a busy machine


def program_of(pid: int) -> Mapping[str, str] | None:
    """The environment of a process that is this program; None for any other."""
    words = processes.arguments(pid)
    if not any(word.rpartition("/")[2] in ("gemini", "gemini.js") for word in words[1:5]):
        return None
    return processes.environment(pid)


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
    """The record of the conversation that is in front.

    It was named at the start, or begun while the process ran: at its start, or by a clear since. What other processes
    of the same folder began with is theirs; where one of them could have cleared as well, nobody can tell.
    """
    began, folder = processes.started(pid), processes.folder(pid)
    chats = _chats(folder, env) if folder else None
    if began is None or chats is None:
        return None
    own, dated = _chosen(processes.arguments(pid), env), _dated(chats)
    others = [one for one in _same_folder(folder) if one not in _family(pid)]
    theirs = {path for one in others for path in (_chosen(processes.arguments(one), env), _first(one, dated)) if path}
    since = [path for start, path in dated if start >= began - _CLOCK_SECONDS and path not in theirs]
    if others and len(since) > 1:
        return None
    return since[-1] if since else own


def _dated(chats: Path) -> list[tuple[float, Path]]:
    """Every record of a project with the moment it began, in that order."""
    return sorted((_started(path), path) for path in chats.glob("session-*.jsonl"))


def _first(pid: int, dated: list[tuple[float, Path]]) -> Path | None:
    """The record that a process began with."""
    began = processes.started(pid)
    if began is None:
        return None
    return next((path for start, path in dated if 0 <= start - began + _CLOCK_SECONDS < _STARTS_WITHIN), None)


def _chats(folder: Path, env: Mapping[str, str]) -> Path | None:
    """Where the sessions of a project are: the program names a folder for it, and notes the project in there."""
    for noted in user_folder(env).glob("tmp/*/.project_root"):
        if project_of(noted.parent / "chats" / "x") == folder:
            return noted.parent / "chats"
    return None


def _chosen(words: list[str], env: Mapping[str, str]) -> Path | None:
    """The record of the conversation that the command line names."""
    for option, value in pairwise(words):
        if option in _CHOSEN and ID.fullmatch(value):
            return transcript(value, env)
    return None


def _started(path: Path) -> float:
    stamp = first_entry(path).get("startTime")
    try:
        return datetime.fromisoformat(stamp).timestamp() if isinstance(stamp, str) else 0.0
    except ValueError:
        return 0.0


def _same_folder(folder: Path | None) -> list[int]:
    """Every running one that works in this folder."""
    return [pid for pid in processes.everyone() if program_of(pid) is not None and processes.folder(pid) == folder]


def _family(pid: int) -> set[int]:
    """The process with its launcher and its children: they are one session."""
    launcher = processes.parent(pid)
    return {*processes.with_descendants(pid), *([launcher] if launcher else [])}
