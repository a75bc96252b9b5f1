"""Scripted agents that run already: found by their command line, told apart by their state file."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from batonpass.agents import processes
from batonpass.agents.base import Found, Past
from batonpass.agents.scripted.record import object_in
from batonpass.disk import open_plain, read_plain
from batonpass.sim import agent_options
from batonpass.sim.agent_options import PREFIX
from batonpass.sim.agent_record import proc_start
from batonpass.untrusted import identifier

_MODULE = "batonpass.sim.agent"


def find(pid: int) -> Found | None:
    """The agent that runs as that process or below it. Where the system shows no processes in /proc: None."""
    for candidate in processes.with_descendants(pid):
        argv = processes.arguments(candidate)
        if _MODULE in argv:
            found = _found(candidate, argv[argv.index(_MODULE) + 1 :])
            if found is not None:
                return found
    return None


def _found(pid: int, args: Sequence[str]) -> Found | None:
    """None when the process has no state file: it only starts the agent, or has just been started."""
    env = processes.environment(pid)
    home = _home(args, env)
    try:
        state = object_in(read_plain(Path(agent_options.state_path(home, pid))))
    except OSError:
        return None
    if state is None or state.get("proc_start") != proc_start(pid):
        return None
    session = identifier(state.get("session"))
    transcript = Path(agent_options.transcript_path(home, session)) if session else None
    kept = {name: value for name, value in env.items() if name.startswith(PREFIX)}
    return Found(pid, session, transcript, {**kept, PREFIX + "HOME": home})


def past(wanted: str, env: Mapping[str, str]) -> Past | None:
    """The conversation of that id, or in that file: its first line says where it works."""
    session = identifier(wanted.rpartition("/")[2].removesuffix(".jsonl"))
    if session is None:
        return None
    home = agent_options.home_of(env)
    path = Path(wanted if wanted.endswith(".jsonl") else agent_options.transcript_path(home, session))
    try:
        with open_plain(path) as stream:
            first = object_in(stream.readline(1 << 20))
    except OSError:
        return None
    folder = first.get("cwd") if first and "event" in first else None
    return Past(session, path, Path(folder)) if isinstance(folder, str) and folder.startswith("/") else None


def _home(args: Sequence[str], env: Mapping[str, str]) -> str:
    for number, word in enumerate(args):
        if word.startswith("--home="):
            return word.removeprefix("--home=")
        if word == "--home" and number + 1 < len(args):
            return args[number + 1]
    return agent_options.home_of(env)
