"""Which conversation a process began by itself: its first turn may be over before anybody could listen to it."""

from collections.abc import Mapping

from batonpass.agents import processes
from batonpass.agents.base import LaunchError
from batonpass.agents.opencode.arguments import given, parse
from batonpass.agents.opencode.database import database, first_prompt, talks, transcript
from batonpass.agents.opencode.launch import PORT
from batonpass.agents.opencode.neighbours import neighbours


def begun(pid: int, env: Mapping[str, str]) -> str | None:
    """The one conversation that began since the process did, with the prompt of its command line.

    None where there is none, or more than one, and where a neighbour was started with the same words: it may be its.
    """
    prompt, folder, since = _prompt(pid), processes.folder(pid), processes.started(pid)
    if not prompt or folder is None or since is None:
        return None
    if not processes.environment(pid).get(PORT):
        return None  # a person started it, and may be in another conversation by now
    path = database(env)
    born = [talk for talk in talks(path, folder=folder) if talk.parent is None and talk.created >= since]
    found = [talk.id for talk in born if first_prompt(transcript(path, talk.id)) == prompt]
    if len(found) != 1 or any(_prompt(other) == prompt for other in neighbours(pid, folder)):
        return None
    return found[0]


def _prompt(pid: int) -> str | None:
    """With what it begins a conversation by itself; None where it begins none, or goes on with an earlier one."""
    try:
        chosen = parse([word for word in given(processes.arguments(pid)) if word]).conversation
    except LaunchError:  # a command of its own, such as `serve`
        return None
    return chosen[0].value.strip() if [option.name for option in chosen] == ["--prompt"] else None
