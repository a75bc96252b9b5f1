"""Claude Code's transcript, line by line, as normalised events."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from batonpass.agents.notices import MARK, notice_in
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
from batonpass.untrusted import count, plain, stamp

_SYNTHETIC = "<synthetic>"
_FEEDBACK = "Stop hook feedback:"
_INTERRUPTED = "[Request interrupted by user"
# What the program writes as user messages though nobody typed them.
_LOCAL = ("<command-name>", "<local-command-", "<bash-stdout>", "<bash-stderr>", "<system-reminder>")
_COMMAND = re.compile(
    r"<command-message>.*?</command-message>\s*<command-name>(?P<name>.*?)</command-name>"
    r"(?:\s*<command-args>(?P<args>.*?)</command-args>)?",
    re.DOTALL,
)
_SHELL = re.compile(r"<bash-input>(.*?)</bash-input>", re.DOTALL)
_HANDOFF = re.compile(r"/(?:[\w-]+:)?handoff$")


class _Head(msgspec.Struct):
    """As much of a line as says whether the rest is worth decoding."""

    type: str = ""
    subtype: str | None = None
    isSidechain: bool | None = None


def parse(line: bytes) -> list[Event]:
    """The events of one line; none for lines that do not matter, that are torn, or that nobody foresaw."""
    try:
        head = msgspec.json.decode(line, type=_Head)
        if head.isSidechain or not _matters(head, line):
            return []
        entry = msgspec.json.decode(line, type=dict[str, Any])
        entry = plain(entry) if b"\\u0000" in line else entry
        return list(_events(head, entry, stamp(entry.get("timestamp"))))
    except (
        msgspec.DecodeError,
        UnicodeDecodeError,
        AttributeError,
        LookupError,
        TypeError,
        ValueError,
        RecursionError,
    ):
        return []


def _matters(head: _Head, line: bytes) -> bool:
    if head.type == "attachment":
        return b'"queued_command"' in line
    return head.type in ("user", "assistant") or head.subtype in ("turn_duration", "compact_boundary")


def _events(head: _Head, entry: dict[str, Any], at: float) -> Iterator[Event]:
    if head.type == "user":
        yield from _user(entry, at)
    elif head.type == "assistant":
        yield from _assistant(entry, at)
    elif head.type == "attachment":
        yield from _queued(entry["attachment"], at)
    elif head.subtype == "turn_duration":
        yield TurnEnded(at)
    elif head.subtype == "compact_boundary":
        facts = entry.get("compactMetadata") or {}
        yield Compacted(at, str(facts.get("trigger", "auto")), count(facts.get("preTokens")))


def _user(entry: dict[str, Any], at: float) -> Iterator[Event]:
    content = entry["message"]["content"]
    for block in content if isinstance(content, list) else []:
        if block.get("type") == "tool_result":
            text = _text(block.get("content"))
            yield ToolReturned(at, str(block.get("tool_use_id", "")), not block.get("is_error"), text)
    text = _text(content)
    if not text or entry.get("isCompactSummary") or entry.get("isVisibleInTranscriptOnly"):
        return
    prompt_id = entry.get("promptId")
    if entry.get("isMeta"):
        if text.startswith(_FEEDBACK):
            yield Prompted(at, text.removeprefix(_FEEDBACK).strip(), Origin.HOOK, prompt_id)
    elif text.startswith(_INTERRUPTED):
        yield Interrupted(at)
    elif typed := _as_typed(text):
        origin = _origin(entry.get("origin"), entry.get("promptSource"), text)
        yield Prompted(at, typed, origin, prompt_id, notice_in(typed))


def _as_typed(text: str) -> str | None:
    """The prompt as the user typed it; None for what the program wrote itself.

    A command that runs a prompt (`/review x`) is a prompt; one that the program answers itself is not,
    nor is /handoff, which is addressed to Baton.
    """
    if command := _COMMAND.match(text):
        if _HANDOFF.match(command["name"]):
            return None
        return f"{command['name']} {command['args'] or ''}".strip()
    if shell := _SHELL.match(text):
        return f"!{shell[1]}"
    return None if text.startswith(_LOCAL) else text


def _queued(attachment: dict[str, Any], at: float) -> Iterator[Event]:
    """A prompt sent while a tool ran: it joins the running turn and is written in no other place."""
    if attachment.get("type") == "queued_command" and (text := _text(attachment.get("prompt"))):
        origin = _origin(attachment.get("origin"), attachment.get("commandMode"), text)
        yield Prompted(at, text, origin, notice=notice_in(text))


def _origin(origin: object, source: object, text: str) -> Origin:
    kind = origin.get("kind") if isinstance(origin, dict) else None
    if text.startswith(MARK) or kind not in (None, "human") or source in ("system", "task-notification"):
        return Origin.SYSTEM
    return Origin.HUMAN


def _assistant(entry: dict[str, Any], at: float) -> Iterator[Event]:
    message = entry["message"]
    if entry.get("isApiErrorMessage"):
        yield Failed(at, _failure(entry), _text(message["content"]))
        return
    message_id = str(message.get("id", ""))
    for block in message["content"]:
        match block.get("type"):
            case "text" if (said := _said(block)) not in ("", "(no content)"):
                yield Said(at, said, message_id)
            case "tool_use":
                yield ToolCalled(at, str(block["id"]), str(block["name"]), block.get("input") or {})
            case _:
                pass
    usage, model = message.get("usage"), message.get("model")
    if not isinstance(usage, dict) or not isinstance(model, str) or model == _SYNTHETIC:
        return
    if model and (used := used_tokens(usage)):
        yield Used(at, used, count(usage.get("output_tokens")) or 0, model, message_id)


def used_tokens(usage: dict[str, Any]) -> int:
    """What the next request will carry: all that went in, and what came out."""
    keys = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
    return sum(count(usage.get(key)) or 0 for key in keys)


def _failure(entry: dict[str, Any]) -> str:
    error, status = entry.get("error"), entry.get("apiErrorStatus")
    text = f"{_text(entry['message']['content'])} {entry.get('errorDetails') or ''}".lower()
    if status == 529 or entry.get("apiErrorType") == "overloaded_error":
        return "overloaded"
    if error == "rate_limit" or status == 429:
        return "rate_limit"
    if error == "authentication_failed" or status in (401, 403):
        return "authentication"
    return "too_long" if "too long" in text or "context limit" in text else "other"


def _text(content: object) -> str:
    """The text of a message's content: a string, or blocks of which only the text ones count."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "\n".join(_said(block) for block in content if isinstance(block, dict) and block.get("type") == "text")


def _said(block: dict[str, Any]) -> str:
    text = block.get("text")
    return text if isinstance(text, str) else ""
