"""The scripted agent's transcript, line by line, as normalised events."""

from collections.abc import Mapping, Sequence

from batonpass.agents.notices import notice_in
from batonpass.transcripts.events import (
    Compacted,
    Event,
    Failed,
    Interrupted,
    Origin,
    Prompted,
    Said,
    ToolCalled,
    ToolReturned,
    TurnEnded,
    Used,
)
from batonpass.untrusted import count, decode, moment

Line = Mapping[str, object]


def events(line: bytes) -> Sequence[Event]:
    """The event of one line; nothing for lines of the agent's own, and for torn or strange ones."""
    found = object_in(line)
    at = moment(found.get("at")) if found else None
    if found is None or at is None:
        return ()
    event = _event(found, at)
    return () if event is None else (event,)


def object_in(text: bytes) -> Line | None:
    """The JSON object in a text; None when there is none."""
    try:
        found = decode(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def text_of(line: Line, name: str) -> str | None:
    value = line.get(name)
    return value if isinstance(value, str) else None


def _event(line: Line, at: float) -> Event | None:
    text, message_id = text_of(line, "text") or "", text_of(line, "message_id") or ""
    call_id = text_of(line, "call_id") or ""
    match line.get("event"):
        case "prompted":
            origin = text_of(line, "origin") or ""
            known = Origin(origin) if origin in set(Origin) else Origin.HUMAN
            return Prompted(at, text, known, text_of(line, "prompt_id"), notice_in(text))
        case "said":
            return Said(at, text, message_id)
        case "tool_called":
            arguments = line.get("arguments")
            tool = text_of(line, "tool") or ""
            return ToolCalled(at, call_id, tool, arguments if isinstance(arguments, dict) else {})
        case "tool_returned":
            return ToolReturned(at, call_id, line.get("ok") is True, text)
        case "used":
            return _used(line, at, message_id)
        case "compacted":
            return Compacted(at, text_of(line, "trigger") or "auto", count(line.get("before")))
        case "failed":
            return Failed(at, text_of(line, "kind") or "other", text)
        case "turn_ended":
            return TurnEnded(at)
        case "interrupted":
            return Interrupted(at)
    return None


def _used(line: Line, at: float, message_id: str) -> Used | None:
    used = count(line.get("used"))
    if used is None:
        return None
    return Used(at, used, count(line.get("output")) or 0, text_of(line, "model") or "", message_id)
