"""Gemini CLI's session file as normalised events: a journal, in which later lines replace earlier ones.

A message with the id of an earlier one stands in its place; `$set.messages` replaces all of them, as a compression,
a cancelled request and a resume do; `$rewindTo` takes back a message and what came after it. How full the
context is stands with the last answer that is left, and is unknown when its figures were left out.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from batonpass.agents.gemini.limits import window
from batonpass.agents.gemini.typed import seconds
from batonpass.transcripts.events import (
    Compacted,
    Event,
    Failed,
    Interrupted,
    Origin,
    Prompted,
    Rewound,
    Said,
    ToolCalled,
    ToolReturned,
    Used,
)
from batonpass.untrusted import count, decode

Entry = Mapping[str, object]

# What it writes into user messages itself.
_NOT_SAID = ("<session_context>", "<hook_context>", "<state_snapshot>")
_SNAPSHOT = "<state_snapshot>"
_CANCELLED = "Request cancelled."
_COMPRESSED = "Context compressed"
_MODEL_FAILED = "[API Error"  # other errors are of its own commands, servers and settings, and end no turn
_EXITED = re.compile(r"^Exit Code: (-?\d+)", re.MULTILINE)
_SUBAGENT = "invoke_agent"
# A call of a sub-agent succeeds also where that one gave up: why it ended stands in what it returned.
_ENDED = re.compile(r"^Termination Reason: (\w+)", re.MULTILINE)
_REACHED = "GOAL"
_FAILURES = (
    (re.compile(r"\b429\b|quota|rate.?limit|resource.?exhausted|usage limit", re.IGNORECASE), "rate_limit"),
    (re.compile(r"\b50[0-9]\b|overloaded|unavailable|internal error", re.IGNORECASE), "overloaded"),
    (re.compile(r"\b40[13]\b|unauthenticated|api.?key|permission denied|sign in", re.IGNORECASE), "authentication"),
    (re.compile(r"exceed\w* the (?:remaining )?context|token count|too long|too large", re.IGNORECASE), "too_long"),
)


@dataclass(frozen=True, slots=True)
class _Usage:
    """What an answer says of the whole context."""

    total: int
    output: int
    model: str
    message: str


class Journal:
    """The reader of one session file. A file that is read again from its start begins anew with its first line."""

    def __init__(self) -> None:
        self._first: Entry | None = None
        self._begin()

    def _begin(self) -> None:
        self._messages: dict[str, _Usage | bool] = {}  # False: no answer; True: an answer that tells no usage
        self._said: dict[str, str] = {}
        self._calls: set[str] = set()
        self._known: _Usage | None = None  # as last told
        self._shortened = False  # a compression shows that was not told yet,
        self._before: int | None = None  # and what the usage was before it
        self._at = 0.0

    def __call__(self, line: bytes) -> list[Event]:
        """The events of one line; none for lines that do not matter, that are torn, or that nobody foresaw."""
        try:
            entry = _mapping(decode(line))
        except ValueError:
            return []
        self._at = seconds(entry.get("timestamp")) or self._at
        return list(self._events(entry))

    def _events(self, entry: Entry) -> Iterator[Event]:
        if "$set" in entry:
            yield from self._set(_mapping(entry["$set"]))
        elif "$rewindTo" in entry:
            self._rewind(str(entry["$rewindTo"]))
            yield from self._changed()
        elif isinstance(entry.get("id"), str):
            yield from self._message(str(entry["id"]), entry)
        elif "sessionId" in entry:
            self._header(entry)

    def _header(self, entry: Entry) -> None:
        """The first line; one that comes again, with another date, tells that the session was resumed."""
        if self._first is None or self._first == entry:
            self._begin()
            self._first = entry
        self._at = seconds(entry.get("startTime")) or self._at

    # -- what replaces what ----------------------------------------------------------------------------

    def _set(self, changes: Entry) -> Iterator[Event]:
        self._at = seconds(changes.get("lastUpdated")) or self._at
        listed = changes.get("messages")
        if not isinstance(listed, list):
            return
        messages = [message for message in map(_mapping, listed) if isinstance(message.get("id"), str)]
        if any(_text(m).startswith(_SNAPSHOT) and m["id"] not in self._messages for m in messages):
            self._shortened, self._before = True, self._known.total if self._known else None
        self._messages = {str(message["id"]): _usage(message) for message in messages}
        yield from self._changed()

    def _rewind(self, target: str) -> None:
        kept: dict[str, _Usage | bool] = {}
        for identity, usage in self._messages.items():
            if identity == target:
                break
            kept[identity] = usage
        self._messages = kept if target in self._messages else {}

    def _changed(self) -> Iterator[Event]:
        """What is to be said of the usage after the journal was changed, if that is something else now."""
        now = self._usage()
        if now is None and self._known is not None:
            yield Rewound(self._at)
        elif now is not None and now != self._known:
            yield _used(now, self._at)
        self._known = now

    def _usage(self) -> _Usage | None:
        """That of the last answer; None when there is none, or when it tells none."""
        last = next((usage for usage in reversed(self._messages.values()) if usage is not False), None)
        return last if isinstance(last, _Usage) else None

    # -- messages --------------------------------------------------------------------------------------

    def _message(self, identity: str, entry: Entry) -> Iterator[Event]:
        again = identity in self._messages
        self._messages[identity] = _usage(entry)
        text = _text(entry)
        match entry.get("type"):
            case "user":
                yield from self._compaction("auto")
                if text and not again:
                    yield Prompted(self._at, text, Origin.HUMAN, identity)
            case "gemini":
                if text and self._said.get(identity) != text:
                    self._said[identity] = text
                    yield Said(self._at, text, identity)
                yield from self._tools(entry.get("toolCalls"))
                if self._usage() is not None:  # an answer's figures may come a moment after its text
                    yield from self._changed()
            case "info":
                yield from self._compaction("auto" if text.startswith(_COMPRESSED) else "manual")
                if text == _CANCELLED:
                    yield Interrupted(self._at)
            case "error":
                if text.startswith(_MODEL_FAILED):
                    yield Failed(self._at, failure_of(text), text)
            case _:
                pass

    def _compaction(self, trigger: str) -> Iterator[Event]:
        """A compression shows in the messages first; who wanted it stands in the line behind."""
        if self._shortened:
            yield Compacted(self._at, trigger, self._before)
            self._shortened = False

    def _tools(self, calls: object) -> Iterator[Event]:
        """Every call is written once it has ended, with its result."""
        for call in map(_mapping, calls if isinstance(calls, list) else []):
            identity = call.get("id")
            if not isinstance(identity, str) or identity in self._calls:
                continue
            self._calls.add(identity)
            name, output = str(call.get("name") or ""), _output(call.get("result"))
            stopped = (_ENDED if name == _SUBAGENT else _EXITED).search(output)
            ok = call.get("status") == "success" and (stopped is None or stopped[1] in ("0", _REACHED))
            if name == _SUBAGENT:
                yield ToolCalled(self._at, identity, "task", _task(call))
            else:
                yield ToolCalled(self._at, identity, name, _mapping(call.get("args")))
            yield ToolReturned(self._at, identity, ok, output)


def _task(call: Entry) -> Entry:
    """What a sub-agent was set to do, in the words that facts know: who it is, of which kind, and its task."""
    given = _mapping(call.get("args"))
    named = {"name": call.get("agentId"), "subagent_type": given.get("agent_name"), "prompt": given.get("prompt")}
    return {key: value for key, value in named.items() if isinstance(value, str)}


def _usage(message: Entry) -> _Usage | bool:
    if message.get("type") != "gemini":
        return False
    tokens = _mapping(message.get("tokens"))
    total = count(tokens.get("total"))
    if not total:
        return True
    return _Usage(total, count(tokens.get("output")) or 0, str(message.get("model") or ""), str(message.get("id")))


def _used(usage: _Usage, at: float) -> Used:
    return Used(at, usage.total, usage.output, usage.model, usage.message, window=window(usage.model or None))


def _text(message: Entry) -> str:
    """What somebody said in a message, without what the program put in."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    pieces = [_mapping(piece).get("text") for piece in content] if isinstance(content, list) else []
    texts = [text for text in pieces if isinstance(text, str)]
    if message.get("type") == "user":
        shown = [text for text in texts if not text.lstrip().startswith(_NOT_SAID)]
        return "\n".join(shown or [text for text in texts if text.startswith(_SNAPSHOT)])
    return "\n".join(texts)


def _output(result: object) -> str:
    """What a tool gave back."""
    texts: list[str] = []
    for part in map(_mapping, result if isinstance(result, list) else []):
        response = _mapping(_mapping(part.get("functionResponse")).get("response"))
        texts += [str(response[key]) for key in ("output", "error") if isinstance(response.get(key), str)]
    return "\n".join(texts)


def failure_of(text: str) -> str:
    """The kind of failure that its words tell."""
    return next((kind for pattern, kind in _FAILURES if pattern.search(text)), "other")


def _mapping(value: object) -> Entry:
    return value if isinstance(value, dict) else {}
