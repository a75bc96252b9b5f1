"""The Chat Completions API as opencode speaks it: what a request says, and how a reply is put on the wire."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from batonpass.sim.brain import Reply, ToolUse
from batonpass.sim.model_wire import Json, Kind, Message, Request, pieces
from batonpass.sim.openai_responses_wire import added_file

_HEAD = 600  # characters of a system prompt in which its purpose stands
# A prompt that comes in the middle of a turn is wrapped for the model; other reminders nobody said.
_MEANWHILE = re.compile(
    r"\s*<system-reminder>\s*The user sent the following message:\n(.*?)\n\nPlease address this message\b.*"
    r"</system-reminder>\s*",
    re.DOTALL,
)
_NOT_SAID = "<system-reminder>"
_CHUNK = "chat.completion.chunk"
_DONE = "done"
_ERRORS = {
    "rate_limit": (429, "rate_limit_exceeded", "Rate limit reached. Please try again in 1s."),
    "overloaded": (503, "server_is_overloaded", "The server is overloaded."),
    "server": (500, "server_error", "The server had an error."),
    "authentication": (401, "invalid_api_key", "Incorrect API key provided."),
    "too_long": (400, "context_length_exceeded", "This model's maximum context length is {window} tokens. "
                 "However, your messages resulted in {used} tokens."),
}  # fmt: skip


class ChatWire:
    """The wire of a ScriptedModel, in the words of the Chat Completions API."""

    endpoint: tuple[str, ...] = ("/chat/completions",)
    delta = "text"

    def read(self, body: Mapping[str, Any], path: str = "") -> Request:
        given = [message for message in body.get("messages") or () if isinstance(message, dict)]
        tools = frozenset(str((tool.get("function") or {}).get("name")) for tool in body.get("tools") or ())
        system = "\n".join(_text(message.get("content")) for message in given if message.get("role") == "system")
        session = body.get("promptCacheKey") or body.get("prompt_cache_key")
        return Request(
            kind=_kind(system, tools),
            model=str(body.get("model") or ""),
            system=system,
            messages=tuple(_message(message) for message in given),
            session=str(session) if session else None,
            stream=bool(body.get("stream")),
            tools=tools,
        )

    def answer(self, number: str, request: Request, reply: Reply, used: int) -> "Answer":
        return Answer(number, request.model, request.tools, reply, used)

    def frame(self, event: Json) -> bytes:
        rest = {name: value for name, value in event.items() if name != "type"}
        return f"data: {'[DONE]' if event['type'] == _DONE else json.dumps(rest)}\n\n".encode()

    def error(self, name: str, used: int, window: int, words: str = "") -> tuple[int, Json]:
        status, code, message = _ERRORS[name]
        text = words or message.format(used=max(used, window + 1), window=window)
        return status, {"error": {"message": text, "type": code, "code": code}}

    def summary(self, text: str) -> str:
        return text


def _kind(system: str, tools: frozenset[str]) -> Kind:
    """Titles and summaries are made without tools; a sub-agent has no tool to start another."""
    if tools:
        return Kind.MAIN if "task" in tools else Kind.SUB
    return Kind.SIDE if "title" in system[:_HEAD].lower() else Kind.COMPACT


def _message(message: Json) -> Message:
    role, content = str(message.get("role")), message.get("content")
    if role == "tool":
        return Message("user", "", "", (_text(content),))
    text = _text(content)
    if role != "user":
        return Message("system" if role == "developer" else role, text, "", ())
    said = [_said(part) for part in _texts(content)]
    return Message(role, text, "\n".join(part for part in said if part), ())


def _said(text: str) -> str:
    """What a person said in one part of a user message."""
    if meanwhile := _MEANWHILE.fullmatch(text):
        return meanwhile.group(1).strip()
    return "" if text.lstrip().startswith(_NOT_SAID) else text.strip()


def _texts(content: object) -> list[str]:
    if isinstance(content, str):
        return [content]
    parts = content if isinstance(content, list) else []
    return [str(part["text"]) for part in parts if isinstance(part, dict) and "text" in part]


def _text(content: object) -> str:
    return "\n".join(_texts(content))


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply made ready for the wire."""

    number: str
    model: str
    tools: frozenset[str]
    reply: Reply
    used: int

    @property
    def calls(self) -> list[Json]:
        return [_call(f"call_{self.number}_{n}", n, tool, self.tools) for n, tool in enumerate(self.reply.tools)]

    def usage(self) -> Json:
        """Prompt and completion add up to `used`, which opencode takes for the context."""
        prompt = max(0, self.used - self.reply.output)
        return {
            "prompt_tokens": prompt,
            "completion_tokens": self.reply.output,
            "total_tokens": prompt + self.reply.output,
            "prompt_tokens_details": {"cached_tokens": max(0, prompt - 1_000)},
            "completion_tokens_details": {"reasoning_tokens": 0},
        }

    def whole(self) -> Json:
        """The answer to a request that does not stream."""
        said: Json = {"role": "assistant", "content": self.reply.text}
        if calls := self.calls:
            said["tool_calls"] = calls
        choice = {"index": 0, "message": said, "finish_reason": self._reason}
        return {**self._head("chat.completion"), "choices": [choice], "usage": self.usage()}

    def events(self) -> Iterator[Json]:
        """The answer as a stream of chunks; its text in as many pieces as the reply says."""
        yield self._chunk("begin", {"role": "assistant", "content": ""})
        for piece in pieces(self.reply.text, self.reply.chunks):
            yield self._chunk("text", {"content": piece})
        if calls := self.calls:
            yield self._chunk("calls", {"tool_calls": calls})
        yield self._chunk("end", {}, self._reason)
        yield {"type": "usage", **self._head(_CHUNK), "choices": [], "usage": self.usage()}
        yield {"type": _DONE}

    @property
    def _reason(self) -> str:
        return "tool_calls" if self.reply.tools else "stop"

    def _head(self, kind: str) -> Json:
        return {"id": f"chatcmpl-{self.number}", "object": kind, "created": 0, "model": self.model}

    def _chunk(self, name: str, delta: Json, reason: str | None = None) -> Json:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return {"type": name, **self._head(_CHUNK), "choices": [choice]}


def _call(identity: str, index: int, tool: ToolUse, known: frozenset[str]) -> Json:
    """A tool call by the name and with the arguments that opencode's own tools have."""
    name, arguments = tool.name, dict(tool.arguments)
    if name == "write":
        path, content = str(arguments["path"]), str(arguments["content"])
        if "write" in known or "apply_patch" not in known:
            arguments = {"filePath": path, "content": content}
        else:
            name, arguments = "apply_patch", {"patchText": added_file(path, content)}
    elif name == "shell":
        name, arguments = "bash", {"command": arguments["command"], "description": "A step of the rehearsal"}
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"index": index, "id": identity, "type": "function", "function": function}
