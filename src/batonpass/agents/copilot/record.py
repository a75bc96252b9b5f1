"""Copilot CLI's events, line by line, as normalised ones; it prints the same in headless runs."""

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

_MAIN = "conversation-agent"  # whose request an answer was for; sub-agents have other names
_FAILURES = {
    "authentication": "authentication",
    "authorization": "authentication",
    "rate_limit": "rate_limit",
    "quota": "rate_limit",
    "context_limit": "too_long",
}


def parse(line: bytes) -> list[Event]:
    """The events of one line; none for lines that do not matter, that are torn, or that nobody foresaw."""
    try:
        entry = _mapping(decode(line))
        return list(_events(_text(entry, "type"), _mapping(entry.get("data")), stamp(entry.get("timestamp"))))
    except ValueError:
        return []


def ended_well(line: bytes) -> bool:
    """Whether this is the last line of a headless run, and says that all went well."""
    try:
        entry = _mapping(decode(line)) if b'"result"' in line else {}
    except ValueError:
        return False
    return entry.get("type") == "result" and entry.get("exitCode") == 0


def _events(kind: str, data: Entry, at: float) -> Iterator[Event]:
    match kind:
        case "user.message":
            if text := _text(data, "content"):
                yield Prompted(at, text, Origin.HUMAN, _text(data, "messageId") or None)
        case "assistant.message":
            if text := _text(data, "content"):
                yield Said(at, text, _text(data, "messageId"))
        case "tool.execution_start":
            yield ToolCalled(at, _text(data, "toolCallId"), _text(data, "toolName"), _mapping(data.get("arguments")))
        case "tool.execution_complete":
            yield _returned(data, at)
        case "session.usage_record":
            yield from _used(_mapping(data.get("usage")), at)
        case "session.compaction_complete":
            yield Compacted(at, "auto", count(data.get("preCompactionTokens")))
        case "session.error":
            yield Failed(at, _failure(data), _text(data, "message"))
        case _:
            pass


def _returned(data: Entry, at: float) -> ToolReturned:
    code = _mapping(data.get("shellExecution")).get("exitCode")
    ok = data.get("success") is True and code in (None, 0)
    text = _text(_mapping(data.get("result")), "content") or _text(_mapping(data.get("error")), "message")
    return ToolReturned(at, _text(data, "toolCallId"), ok, text)


def _used(usage: Entry, at: float) -> Iterator[Event]:
    """Input includes what came from the cache; `maxPromptTokens` is the window."""
    given, output = count(usage.get("inputTokens")), count(usage.get("outputTokens")) or 0
    if given and usage.get("interactionType", _MAIN) == _MAIN:
        window = count(usage.get("maxPromptTokens")) or None
        yield Used(at, given + output, output, _text(usage, "model"), "", window=window)


def _failure(data: Entry) -> str:
    status = count(data.get("statusCode"))
    if status is not None and status >= 500:
        return "overloaded"
    return "rate_limit" if status == 429 else _FAILURES.get(_text(data, "errorType"), "other")


def _mapping(value: object) -> Entry:
    return value if isinstance(value, dict) else {}


def _text(entry: Entry, key: str) -> str:
    value = entry.get(key)
    return value if isinstance(value, str) else ""
