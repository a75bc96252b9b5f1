"""Qwen Code's transcript, line by line, as normalised events."""

from collections.abc import Iterator, Mapping

from batonpass.transcripts.events import (
    Compacted,
    Event,
    Failed,
    Origin,
    Prompted,
    Said,
    ToolCalled,
    ToolReturned,
    Used,
)
from batonpass.untrusted import count, decode, stamp

Entry = Mapping[str, object]

_ERROR = "qwen-code.api_error"


def parse(line: bytes) -> list[Event]:
    """The events of one line; none for lines that do not matter, that are torn, or that nobody foresaw."""
    try:
        entry = _mapping(decode(line))
        return list(_events(entry, stamp(entry.get("timestamp"))))
    except ValueError:
        return []


def _events(entry: Entry, at: float) -> Iterator[Event]:
    identity = _text(entry, "uuid")
    match entry.get("type"):
        case "user":
            text = "\n".join(_text(part, "text") for part in _parts(entry) if "text" in part)
            if text:
                yield Prompted(at, text, Origin.HUMAN, identity or None)
        case "assistant":
            for part in _parts(entry):
                yield from _said(part, identity, at)
            yield from _used(entry, identity, at)
        case "tool_result":
            yield from _returned(entry, at)
        case "system":
            yield from _system(_text(entry, "subtype"), _mapping(entry.get("systemPayload")), at)
        case _:
            pass


def _said(part: Entry, identity: str, at: float) -> Iterator[Event]:
    call = _mapping(part.get("functionCall"))
    if call:
        yield ToolCalled(at, _text(call, "id"), _text(call, "name"), _mapping(call.get("args")))
    elif part.get("thought") is not True and (text := _text(part, "text")):
        yield Said(at, text, identity)


def _used(entry: Entry, identity: str, at: float) -> Iterator[Event]:
    usage = _mapping(entry.get("usageMetadata"))
    if total := count(usage.get("totalTokenCount")):
        yield Used(at, total, count(usage.get("candidatesTokenCount")) or 0, _text(entry, "model"), identity)


def _returned(entry: Entry, at: float) -> Iterator[Event]:
    ok = _mapping(entry.get("toolCallResult")).get("status") == "success"
    for part in _parts(entry):
        given = _mapping(part.get("functionResponse"))
        answer = _mapping(given.get("response"))
        if given:
            yield ToolReturned(at, _text(given, "id"), ok, _text(answer, "output") or _text(answer, "error"))


def _system(subtype: str, payload: Entry, at: float) -> Iterator[Event]:
    if subtype == "chat_compression":
        yield Compacted(at, "auto", count(_mapping(payload.get("info")).get("originalTokenCount")))
    event = _mapping(payload.get("uiEvent"))
    if event.get("event.name") == _ERROR and "subagent_name" not in event:
        yield Failed(at, _failure(count(event.get("status_code"))), _text(event, "error_message"))


def _failure(status: int | None) -> str:
    if status in (401, 403):
        return "authentication"
    if status == 429:
        return "rate_limit"
    return "overloaded" if status is not None and status >= 500 else "other"


def _parts(entry: Entry) -> list[Entry]:
    parts = _mapping(entry.get("message")).get("parts")
    return [_mapping(part) for part in parts] if isinstance(parts, list) else []


def _mapping(value: object) -> Entry:
    return value if isinstance(value, dict) else {}


def _text(entry: Entry, key: str) -> str:
    value = entry.get(key)
    return value if isinstance(value, str) else ""
