"""One message of opencode's record, with its parts, as normalised events.

The database, the API and `opencode export` all give a message as `{"info": …, "parts": […]}`. It changes while
it is written, so each event has a key by which it is known when the message is looked at again.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from batonpass.agents.setbacks import OVERLOADED, RATE_LIMIT
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

Entry = Mapping[str, object]
Keyed = tuple[str, Event]

_LAST = 1e15  # milliseconds: no moment that anybody will see
_GOES_ON = ("tool-calls", "unknown")  # the model is asked again in the same turn
_FAILURES = {
    "ProviderAuthError": "authentication",
    "ContextOverflowError": "too_long",
}
_STATUS = {401: "authentication", 403: "authentication", 413: "too_long", 429: "rate_limit", 503: "overloaded",
           529: "overloaded"}  # fmt: skip
_OVERLOADED = re.compile(
    r"overloaded|unavailable|internal|server error|connect|socket|network|timed? ?out", re.IGNORECASE
)


def parse(line: bytes) -> list[Event]:
    """The events of one message; none for what is torn or that nobody foresaw."""
    try:
        message = mapping(decode(line))
    except ValueError:
        return []
    return [event for _, event in events(mapping(message.get("info")), entries(message.get("parts")))]


def events(info: Entry, parts: Sequence[Entry]) -> Iterator[Keyed]:
    """Every event of a message as it stands now, each with its key."""
    if info.get("role") == "user":
        yield from _user(info, parts)
    elif info.get("role") == "assistant":
        yield from _assistant(info, parts)


def is_settled(info: Entry, parts: Sequence[Entry], is_last: bool) -> bool:
    """Whether nothing will be added to a message. A user's is written bit by bit before it is answered."""
    if info.get("role") == "assistant":
        return "completed" in mapping(info.get("time"))
    return bool(parts) and not is_last


def is_open(info: Entry) -> bool:
    """Whether a turn is under way, by the last message of a conversation."""
    if info.get("role") == "user":
        return True
    if "completed" not in mapping(info.get("time")):
        return True
    return is_between(info)


def is_between(info: Entry) -> bool:
    """Whether an answer is whole and the next one of the same turn is due: at once, or never if a tool was refused."""
    done = info.get("role") == "assistant" and "completed" in mapping(info.get("time"))
    return done and not info.get("error") and info.get("finish") in _GOES_ON


def model_of(info: Entry) -> str:
    """The model's name as `--model` takes it; a user's message has it one level down."""
    named = mapping(info.get("model")) or info
    provider, model = text(named, "providerID"), text(named, "modelID")
    return f"{provider}/{model}" if provider and model else model


def created(info: Entry) -> float:
    return seconds(mapping(info.get("time")).get("created"))


def _user(info: Entry, parts: Sequence[Entry]) -> Iterator[Keyed]:
    at = created(info)
    spoken = [part for part in parts if part.get("type") == "text" and not part.get("ignored")]
    by_person = any(not part.get("synthetic") for part in spoken)
    for part in parts:
        key = text(part, "id")
        match part.get("type"):
            case "text" if part in spoken and part.get("text"):
                # What opencode adds to a person's prompt is no prompt; on its own it starts a turn.
                if not part.get("synthetic"):
                    yield key, Prompted(at, text(part, "text"), Origin.HUMAN, text(part, "messageID") or None)
                elif not by_person:
                    yield key, Prompted(at, text(part, "text"), Origin.SYSTEM, text(part, "messageID") or None)
            case "subtask" if part.get("prompt"):
                yield key, Prompted(at, text(part, "prompt"), Origin.HUMAN, text(part, "messageID") or None)
            case "compaction":
                yield key, Compacted(at, "auto" if part.get("auto") is True else "manual", None)
            case _:
                pass


def _assistant(info: Entry, parts: Sequence[Entry]) -> Iterator[Keyed]:
    begun, completed = created(info), mapping(info.get("time")).get("completed")
    identity = text(info, "id")
    if not info.get("summary"):  # of a compaction: nothing that was said to anybody
        for part in parts:
            yield from _part(part, begun, completed is not None)
        yield from _used(info, begun, identity)
    if completed is None:
        return
    at = seconds(completed) or begun
    if error := mapping(info.get("error")):
        yield f"{identity} end", failed(error, at)
    elif not info.get("summary") and info.get("finish") and info.get("finish") not in _GOES_ON:
        yield f"{identity} end", TurnEnded(at)


def _used(info: Entry, at: float, identity: str) -> Iterator[Keyed]:
    tokens = mapping(info.get("tokens"))
    cache = mapping(tokens.get("cache"))
    counted = [count(tokens.get(name)) or 0 for name in ("input", "output", "reasoning")]
    counted += [count(cache.get(name)) or 0 for name in ("read", "write")]
    used = count(tokens.get("total")) or sum(counted)
    if used:
        done = seconds(mapping(info.get("time")).get("completed")) or at
        yield f"{identity} used {used}", Used(done, used, counted[1], model_of(info), identity)


def _part(part: Entry, begun: float, over: bool) -> Iterator[Keyed]:
    key, times = text(part, "id"), mapping(part.get("time"))
    if part.get("type") == "text" and (over or "end" in times) and part.get("text") and not part.get("ignored"):
        yield key, Said(seconds(times.get("end")) or begun, text(part, "text"), text(part, "messageID"))
    elif part.get("type") == "tool":
        yield from _tool(part, key, begun)


def _tool(part: Entry, key: str, begun: float) -> Iterator[Keyed]:
    state = mapping(part.get("state"))
    status, times, call = state.get("status"), mapping(state.get("time")), text(part, "callID")
    if status not in ("running", "completed", "error"):
        return
    yield (
        f"{key} called",
        ToolCalled(seconds(times.get("start")) or begun, call, text(part, "tool"), mapping(state.get("input"))),
    )
    at = seconds(times.get("end")) or begun
    if status == "completed":
        exit_code = count(mapping(state.get("metadata")).get("exit"))
        output = text(state, "output")
        if exit_code:
            yield f"{key} returned", ToolReturned(at, call, False, f"Exit code: {exit_code}\n{output}")
        else:
            yield f"{key} returned", ToolReturned(at, call, True, output)
    elif status == "error":
        yield f"{key} returned", ToolReturned(at, call, False, text(state, "error"))


def failed(error: Entry, at: float) -> Event:
    """An error as it stands with a message, or is printed."""
    name, data = text(error, "name"), mapping(error.get("data"))
    if name == "MessageAbortedError":
        return Interrupted(at)
    kind = _FAILURES.get(name) or _STATUS.get(count(data.get("statusCode")) or 0, "other")
    return Failed(at, kind, text(data, "message") or name)


def refused(words: str, at: float) -> Failed:
    """What it tries again, told by its words alone: what is no fault of a server is a limit."""
    return Failed(at, OVERLOADED if _OVERLOADED.search(words) else RATE_LIMIT, words)


def mapping(value: object) -> Entry:
    return value if isinstance(value, dict) else {}


def entries(value: object) -> list[Entry]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def text(entry: Entry, key: str) -> str:
    value = entry.get(key)
    return value if isinstance(value, str) else ""


def seconds(stamp: object) -> float:
    """Milliseconds, as opencode counts, in seconds; 0 for what is no time."""
    if isinstance(stamp, bool) or not isinstance(stamp, int | float) or not 0 <= stamp < _LAST:
        return 0.0
    return moment(stamp / 1000) or 0.0
