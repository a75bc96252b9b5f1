"""The stream of JSON that Claude Code prints in headless runs, and others after its example."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from batonpass.agents.claude.record import parse
from batonpass.agents.headless import Told
from batonpass.transcripts.events import Event, Failed, TurnEnded, Used
from batonpass.untrusted import count, decode, identifier


def heard(line: bytes, at: float, told: Told) -> Iterator[Event]:
    """The events of one line; what it says of the run itself goes into `told`.

    Messages have the form of Claude Code's transcript. Sub-agents' are left out, and so is their usage, which is
    printed before the answer is complete.
    """
    try:
        said = decode(line)
    except ValueError:
        return
    if not isinstance(said, dict) or said.get("parent_tool_use_id") is not None:  # a sub-agent's
        return
    match said.get("type"):
        case "system" if said.get("subtype") == "init":
            told.agent_session = identifier(said.get("session_id"))
            model = said.get("model")
            told.model = model if isinstance(model, str) else None
        case "assistant" | "user":
            for event in parse(line):
                if not isinstance(event, Used):
                    yield replace(event, at=at)
        case "result":
            told.agent_session = identifier(said.get("session_id")) or told.agent_session
            told.window = _window(said.get("modelUsage"), told.model) or told.window
            text = said.get("result")
            failed = said.get("is_error") is True
            yield Failed(at, "other", text if isinstance(text, str) else "") if failed else TurnEnded(at)
        case _:
            pass


def _window(usage: object, model: str | None) -> int | None:
    """The window of the model that answered, among those that had a part in the run."""
    listed = usage if isinstance(usage, Mapping) else {}
    mine = listed.get(model) if model in listed or len(listed) != 1 else next(iter(listed.values()))
    return (count(mine.get("contextWindow")) or None) if isinstance(mine, Mapping) else None
