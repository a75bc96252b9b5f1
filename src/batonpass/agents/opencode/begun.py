"""Which conversation a process began by itself: its first turn may be over before anybody could listen to it."""

from batonpass.agents import processes
from batonpass.agents.base import LaunchError
from batonpass.agents.opencode.arguments import given, parse
from batonpass.agents.opencode.record import Entry, created, entries, mapping, text
from batonpass.agents.opencode.server import Server


def begun(server: Server, pid: int) -> str | None:
    """The one conversation that began since the process did, with the prompt of its command line.

    None where there is none, or more than one: the same words may have been given to a neighbour. Raises ServerAway.
    """
    prompt, since = _prompt(pid), processes.started(pid)
    if not prompt or since is None:
        return None
    born = [one for one in entries(server.get("/session")) if created(one) >= since - 1 and not text(one, "parentID")]
    found = [one for one in born if _first(server.get(f"/session/{text(one, 'id')}/message")) == prompt.strip()]
    return text(found[0], "id") if len(found) == 1 else None


def _prompt(pid: int) -> str | None:
    try:
        return parse(given(processes.arguments(pid))).value("--prompt")
    except LaunchError:  # a command of its own, such as `serve`
        return None


def _first(messages: object) -> str:
    """The words with which a conversation began."""
    spoken = (one for one in entries(messages) if text(mapping(one.get("info")), "role") == "user")
    return "".join(_words(next(spoken, {}))).strip()


def _words(message: Entry) -> list[str]:
    parts = [part for part in entries(message.get("parts")) if text(part, "type") == "text"]
    return [text(part, "text") for part in parts if not part.get("synthetic")]
