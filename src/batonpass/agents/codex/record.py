"""Codex's rollout file, line by line, as normalised events. Every line is read on its own."""

import json
import re
from collections.abc import Iterator, Mapping

from batonpass.agents.codex.wishes import mode_of
from batonpass.transcripts.events import (
    Compacted,
    Event,
    Failed,
    Interrupted,
    Origin,
    Permitted,
    Prompted,
    Said,
    ToolCalled,
    ToolReturned,
    TurnEnded,
    Used,
)
from batonpass.untrusted import count, decode, stamp

Entry = Mapping[str, object]

# What the lines that matter hold; most of a rollout's bytes are in lines that do not, and are not decoded.
_MATTERS = re.compile(
    rb'"type": ?"(?:compacted|token_count|task_complete|turn_aborted|item_completed|function_call|custom_tool_call'
    rb'|thread_settings_applied|function_call_output|custom_tool_call_output|local_shell_call)"|<subagent_notification>'
)
_NEWS = re.compile(r"\s*<subagent_notification>(.*)</subagent_notification>\s*", re.DOTALL)
_EXITED = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d+)", re.MULTILINE)
_FAILED = re.compile(r"(?:Script failed|execution error|apply_patch verification failed|exec_command failed)\b")
_CODE_MODE = "exec-"  # ids of what a code-mode script ran: it stands in no other line
_FAILURES = {
    "usage_limit_exceeded": "rate_limit",
    "server_overloaded": "overloaded",
    "internal_server_error": "overloaded",
    "unauthorized": "authentication",
    "context_window_exceeded": "too_long",
}
# Errors of a provider that Codex has no name for; then only the words tell.
_WORDS = (
    (re.compile(r"context_length_exceeded|context window"), "too_long"),
    (re.compile(r"\b40[13] |invalid_api_key"), "authentication"),
    (re.compile(r"\b429 |rate_limit|usage limit|quota", re.IGNORECASE), "rate_limit"),
    (re.compile(r"\b5\d\d |overloaded", re.IGNORECASE), "overloaded"),
)


def parse(line: bytes) -> list[Event]:
    """The events of one line; none for lines that do not matter, that are torn, or that nobody foresaw."""
    if not _MATTERS.search(line):
        return []
    try:
        entry = _mapping(decode(line))
        payload = _mapping(entry.get("payload"))
        return list(_events(_text(entry, "type"), payload, stamp(entry.get("timestamp"))))
    except (ValueError, RecursionError):
        return []


def _events(kind: str, payload: Entry, at: float) -> Iterator[Event]:
    if kind == "compacted":
        yield Compacted(at, _trigger(payload), None)
    elif kind == "response_item":
        yield from _response(payload, at)
    elif kind == "event_msg":
        yield from _event(payload, at)


def _trigger(payload: Entry) -> str:
    """Auto happens within the turn of a prompt; /compact is a turn that nobody's prompt is named for."""
    resumed = _mapping(payload.get("resume_metadata"))
    turn, prompted = resumed.get("last_started_turn_id"), _mapping(resumed.get("turn_attribution")).get("turn_id")
    return "manual" if turn and turn != prompted else "auto"


def _event(payload: Entry, at: float) -> Iterator[Event]:
    match payload.get("type"):
        case "token_count":
            yield from _used(_mapping(payload.get("info")), at)
        case "task_complete":
            error = _mapping(payload.get("error"))
            yield Failed(at, _failure(error), _text(error, "message")) if error else TurnEnded(at)
        case "turn_aborted":
            yield Interrupted(at)
        case "thread_settings_applied":
            yield Permitted(at, mode_of(_mapping(payload.get("thread_settings"))))
        case "item_completed":
            yield from _item(_mapping(payload.get("item")), at)
        case _:
            pass


def _used(info: Entry, at: float) -> Iterator[Event]:
    """The last request alone is what the context holds: the other figures are sums over the whole thread.

    After a compaction only the total is given, so nothing else is relied on.
    """
    last = _mapping(info.get("last_token_usage"))
    used, window = count(last.get("total_tokens")), count(info.get("model_context_window"))
    if used:
        yield Used(at, used, count(last.get("output_tokens")) or 0, "", "", window=window or None)


def _failure(error: Entry) -> str:
    """The error by its name; a name that carries details is an object with that one key."""
    info = error.get("codex_error_info")
    name = next(iter(info), "") if isinstance(info, dict) else info
    told = next((kind for words, kind in _WORDS if words.search(_text(error, "message"))), "other")
    return _FAILURES.get(str(name), told)


def _item(item: Entry, at: float) -> Iterator[Event]:
    """What the user said and what the agent said, as its screen shows it, and what a code-mode script ran.

    A summary that the agent writes for its own compaction is in no such item.
    """
    identity = _text(item, "id")
    match item.get("type"):
        case "UserMessage":
            if text := _joined(item.get("content")):
                yield Prompted(at, text, Origin.HUMAN, identity or None)
        case "HookPrompt":
            if text := _joined(item.get("fragments")):
                yield Prompted(at, text, Origin.HOOK, identity or None)
        case "AgentMessage":
            if text := _joined(item.get("content")):
                yield Said(at, text, identity)
        case "CommandExecution" if identity.startswith(_CODE_MODE):
            yield ToolCalled(at, identity, "exec_command", {"cmd": _command(item.get("command"))})
            code = item.get("exit_code")
            output = _text(item, "aggregated_output")
            yield ToolReturned(at, identity, code == 0, output if code == 0 else f"Exit code: {code}\n{output}")
        case "FileChange" if identity.startswith(_CODE_MODE):
            files = "\n".join(f"*** Update File: {path}" for path in _mapping(item.get("changes")))
            yield ToolCalled(at, identity, "apply_patch", {"input": files})
            yield ToolReturned(at, identity, item.get("status") == "completed", _text(item, "stdout"))
        case _:
            pass


def _command(words: object) -> str:
    """What was run: of a shell with its script, the script."""
    listed = [str(word) for word in words] if isinstance(words, list) else []
    return listed[2] if len(listed) == 3 and listed[1] in ("-lc", "-c") else " ".join(listed)


def _response(payload: Entry, at: float) -> Iterator[Event]:
    call = _text(payload, "call_id")
    match payload.get("type"):
        case "function_call":
            yield ToolCalled(at, call, _text(payload, "name"), _arguments(payload.get("arguments")))
        case "custom_tool_call":
            yield ToolCalled(at, call, _text(payload, "name"), {"input": _text(payload, "input")})
        case "local_shell_call":
            yield ToolCalled(at, call, "local_shell", {"command": _mapping(payload.get("action")).get("command")})
        case "function_call_output" | "custom_tool_call_output":
            text = _joined(payload.get("output"))
            yield ToolReturned(at, call, _succeeded(text), text)
        case "message":
            yield from _news(_joined(payload.get("content")), at)
        case _:
            pass


def _news(text: str, at: float) -> Iterator[Event]:
    """The end of a sub-agent, which it puts in as a message: what was set to work by a call returns now, by its id."""
    told = _NEWS.fullmatch(text)
    news = _arguments(told[1]) if told else {}
    status = _mapping(news.get("status"))
    if (agent := _text(news, "agent_path")) and status:
        outcome, words = next(iter(status.items()))
        yield ToolReturned(at, agent, outcome == "completed", str(words or outcome))


def _arguments(text: object) -> Mapping[str, object]:
    try:
        return _mapping(json.loads(text)) if isinstance(text, str) else {}
    except (ValueError, RecursionError):
        return {}


def _succeeded(text: str) -> bool:
    """By the exit code where one is told; a command that still runs, and a tool that tells none, has not failed."""
    told = _EXITED.search(text[:400])
    return told.group(1) == "0" if told else not _FAILED.match(text)


def _joined(content: object) -> str:
    """The text of a content: a string, or pieces of which only those with text count."""
    if isinstance(content, str):
        return content
    pieces = [_mapping(piece).get("text") for piece in content] if isinstance(content, list) else []
    return "\n".join(text for text in pieces if isinstance(text, str))


def _mapping(value: object) -> Entry:
    return value if isinstance(value, dict) else {}


def _text(entry: Entry, key: str) -> str:
    value = entry.get(key)
    return value if isinstance(value, str) else ""
