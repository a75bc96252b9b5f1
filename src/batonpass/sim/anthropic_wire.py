"""The Messages API as Claude Code speaks it: what a request says, and how a reply is put on the wire."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from batonpass.sim.brain import Reply, ToolUse
from batonpass.sim.model_wire import Json, Kind, Message, Request, pieces, server_sent

_COMPACTION = (
    "Tool calls will be rejected and you will fail the task",
    "create a detailed summary of the conversation",
    "tasked with summarizing conversations",
)
_SUGGESTION = "[SUGGESTION MODE:"
_SUB_AGENT = "You are an agent for Claude Code"
_FEW_TOOLS = 3  # the main conversation and sub-agents bring many more
# What the agent itself puts into user messages: reminders, the record of local commands, background news.
_NOT_SAID = re.compile(r"<(system-reminder|task-notification|local-command-[a-z]+|command-[a-z]+)>.*?</\1>", re.DOTALL)
# A prompt sent while a tool runs: in a system message in 2.1.197, beside or in the tool's result in 2.1.325.
_MEANWHILE = re.compile(
    r"The user sent a new message while you were working:\n(.*?)"
    r"(?:\n\n(?:IMPORTANT: After completing your|This is how Claude Code surfaces).*|\Z)",
    re.DOTALL,
)
_SESSION = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def read(body: Mapping[str, Any]) -> Request:
    """What a request body says; parts that are not there count as empty."""
    system = _text(body.get("system") or "")
    messages = tuple(_message(entry) for entry in body.get("messages") or ())
    session = _SESSION.findall(str((body.get("metadata") or {}).get("user_id") or ""))
    return Request(
        kind=_kind(system, messages, body.get("tools") or ()),
        model=str(body.get("model") or ""),
        system=system,
        messages=messages,
        session=session[-1] if session else None,
        stream=bool(body.get("stream")),
    )


def _kind(system: str, messages: Sequence[Message], tools: Sequence[object]) -> Kind:
    said = [message.text for message in messages if message.role != "assistant"]
    last = said[-1] if said else ""
    if any(sign in last or sign in system for sign in _COMPACTION):
        return Kind.COMPACT
    if len(tools) <= _FEW_TOOLS or last.lstrip().startswith(_SUGGESTION):
        return Kind.SIDE
    return Kind.SUB if _SUB_AGENT in system else Kind.MAIN


def _message(entry: Mapping[str, Any]) -> Message:
    content = entry.get("content") or ""
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    texts = [block.get("text", "") for block in blocks if block.get("type") == "text"]
    results = tuple(_text(block.get("content") or "") for block in blocks if block.get("type") == "tool_result")
    role, text = str(entry.get("role")), "\n".join(texts)
    said = _said(role, text) or _said("system", "\n".join(results))
    return Message(role, text, said, results)


def _said(role: str, text: str) -> str:
    meanwhile = [prompt.strip() for prompt in _MEANWHILE.findall(text)]
    if meanwhile or role == "system":
        return "\n".join(meanwhile)
    return _NOT_SAID.sub("", text).strip()


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "\n".join(block["text"] for block in content if isinstance(block, dict) and "text" in block)


_ERRORS = {
    "rate_limit": (429, "rate_limit_error", "This request would exceed the rate limit. Please try again."),
    "overloaded": (529, "overloaded_error", "Overloaded"),
    "server": (500, "api_error", "Internal server error"),
    "authentication": (401, "authentication_error", "invalid x-api-key"),
    "too_long": (400, "invalid_request_error", "prompt is too long: {used} tokens > {window} maximum"),
}


def error(name: str, used: int, window: int, words: str = "") -> tuple[int, Json]:
    """Status and body of an error by its name in Reply.error. KeyError for one that is no answer."""
    status, kind, message = _ERRORS[name]
    text = words or message.format(used=max(used, window + 1), window=window)
    return status, {"type": "error", "error": {"type": kind, "message": text}, "request_id": "req_rehearsal"}


class MessagesWire:
    """The wire of a ScriptedModel, in the words of the Messages API."""

    endpoint: tuple[str, ...] = ("/v1/messages",)
    delta = "content_block_delta"

    def read(self, body: Mapping[str, Any], path: str = "") -> Request:
        return read(body)

    def answer(self, number: str, request: Request, reply: Reply, used: int) -> "Answer":
        return Answer(f"msg_{number}", request.model, reply, used)

    def frame(self, event: Json) -> bytes:
        return server_sent(event)

    def error(self, name: str, used: int, window: int, words: str = "") -> tuple[int, Json]:
        return error(name, used, window, words)

    def summary(self, text: str) -> str:
        return f"<analysis>Read it.</analysis><summary>{text}</summary>"


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply made ready for the wire."""

    id: str
    model: str
    reply: Reply
    used: int

    @property
    def blocks(self) -> list[Json]:
        text: list[Json] = [{"type": "text", "text": self.reply.text}]
        tools = [_tool(f"toolu_{self.id}_{n}", tool) for n, tool in enumerate(self.reply.tools)]
        return (text if self.reply.text or not tools else []) + tools

    @property
    def stop_reason(self) -> str:
        return "tool_use" if self.reply.tools else "end_turn"

    def usage(self, output: int) -> Json:
        """Input, both cache counts and the final output add up to `used`, as a reader will count them."""
        inputs = max(0, self.used - self.reply.output)
        fresh = min(inputs, 3)
        created = min(inputs - fresh, 1_000)
        return {
            "input_tokens": fresh,
            "cache_creation_input_tokens": created,
            "cache_read_input_tokens": inputs - fresh - created,
            "output_tokens": output,
        }

    def whole(self) -> Json:
        """The answer to a request that does not stream."""
        return self._message(self.blocks, self.stop_reason, self.reply.output)

    def events(self) -> Iterator[Json]:
        """The answer as a stream of events; each text in as many pieces as the reply says."""
        yield {"type": "message_start", "message": self._message([], None, 1)}
        for index, block in enumerate(self.blocks):
            yield from self._block(index, block)
        delta = {"stop_reason": self.stop_reason, "stop_sequence": None}
        yield {"type": "message_delta", "delta": delta, "usage": {"output_tokens": self.reply.output}}
        yield {"type": "message_stop"}

    def _message(self, blocks: list[Json], stop_reason: str | None, output: int) -> Json:
        return {
            "id": self.id,
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": blocks,
            "stop_reason": stop_reason,
            "stop_sequence": None,
            "usage": self.usage(output),
        }

    def _block(self, index: int, block: Json) -> Iterator[Json]:
        if block["type"] == "text":
            empty: Json = {"type": "text", "text": ""}
            deltas = [{"type": "text_delta", "text": piece} for piece in pieces(block["text"], self.reply.chunks)]
        else:
            empty = {**block, "input": {}}
            deltas = [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}


def _tool(identity: str, tool: ToolUse) -> Json:
    name, arguments = tool.name, dict(tool.arguments)
    if name == "write":
        name, arguments = "Write", {"file_path": arguments["path"], "content": arguments["content"]}
    elif name == "shell":
        name, arguments = "Bash", {"description": "Work on the job", **arguments}
    return {"type": "tool_use", "id": identity, "name": name, "input": arguments}
