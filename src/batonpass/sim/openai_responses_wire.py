"""The Responses API as Codex speaks it: what a request says, and how a reply is put on the wire."""

import html
import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from batonpass.sim.brain import Reply, ToolUse
from batonpass.sim.model_wire import Json, Kind, Message, Request, pieces, server_sent

# What Codex itself puts into user messages.
_NOT_SAID = (
    "<environment_context", "<user_instructions", "<turn_aborted", "<subagent_notification", "<skill", "<permissions",
    "# AGENTS.md",
)  # fmt: skip
_HOOK_PROMPT = re.compile(r"\s*<hook_prompt[^>]*>(.*)</hook_prompt>\s*", re.DOTALL)
_META = "x-codex-turn-metadata"
_CODE_MODE = "exec"  # the one tool of models that call the others from a script
_ERRORS = {
    "rate_limit": (429, "rate_limit_exceeded", "Rate limit reached. Please try again in 1s."),
    "overloaded": (503, "server_is_overloaded", "The server is overloaded."),
    "server": (500, "server_error", "The server had an error."),
    "authentication": (401, "invalid_api_key", "Incorrect API key provided."),
    "too_long": (400, "context_length_exceeded", "Your input of {used} tokens exceeds the context window of {window}."),
}


class ResponsesWire:
    """The wire of a ScriptedModel, in the words of the Responses API."""

    endpoint: tuple[str, ...] = ("/responses",)
    delta = "response.output_text.delta"

    def read(self, body: Mapping[str, Any], path: str = "") -> Request:
        items = [item for item in body.get("input") or () if isinstance(item, dict)]
        meta = _metadata(body)
        return Request(
            kind=_kind(body, meta),
            model=str(body.get("model") or ""),
            system=str(body.get("instructions") or ""),
            messages=tuple(_message(item) for item in items if _is_talk(item)),
            session=str(meta["thread_id"]) if meta.get("thread_id") else None,
            stream=bool(body.get("stream")),
            tools=frozenset(_tools(body, items)),
        )

    def answer(self, number: str, request: Request, reply: Reply, used: int) -> "Answer":
        return Answer(number, request.model, request.tools, reply, used)

    def frame(self, event: Json) -> bytes:
        return server_sent(event)

    def error(self, name: str, used: int, window: int, words: str = "") -> tuple[int, Json]:
        status, code, message = _ERRORS[name]
        text = words or message.format(used=max(used, window + 1), window=window)
        return status, {"error": {"message": text, "type": code, "code": code}}

    def summary(self, text: str) -> str:
        return text


def _metadata(body: Mapping[str, Any]) -> Json:
    """What Codex says of the turn: its thread, who started it, and what the request is for."""
    try:
        meta = json.loads((body.get("client_metadata") or {}).get(_META) or "{}")
    except (ValueError, AttributeError):
        return {}
    return meta if isinstance(meta, dict) else {}


def _kind(body: Mapping[str, Any], meta: Mapping[str, Any]) -> Kind:
    schema = ((body.get("text") or {}).get("format") or {}).get("schema") or {}
    if "title" in (schema.get("properties") or {}) or meta.get("thread_source") == "thread_title":
        return Kind.SIDE
    if "compact" in str(meta.get("request_kind") or ""):
        return Kind.COMPACT
    return Kind.SUB if meta.get("thread_source") == "subagent" else Kind.MAIN


def _is_talk(item: Json) -> bool:
    kind = str(item.get("type") or "message")
    return kind == "message" or kind.endswith(("_call", "_call_output"))


def _message(item: Json) -> Message:
    kind = str(item.get("type") or "message")
    if kind.endswith("_call_output"):
        return Message("user", "", "", (_text(item.get("output")),))
    if kind.endswith("_call"):
        return Message("assistant", "", "", ())
    role, text = str(item.get("role")), _text(item.get("content"))
    if role in ("developer", "system"):
        return Message("system", text, "", ())
    asked = _HOOK_PROMPT.fullmatch(text)
    if asked:
        text = html.unescape(asked.group(1))
    said = "" if role != "user" or text.lstrip().startswith(_NOT_SAID) else text.strip()
    return Message(role, text, said, ())


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(str(part["text"]) for part in parts if isinstance(part, dict) and "text" in part)


def _tools(body: Mapping[str, Any], items: list[Json]) -> Iterator[str]:
    """The names of all tools; code-mode models are told theirs in an item of the input."""
    listed = [*(body.get("tools") or ())]
    for item in items:
        listed += item.get("tools") or () if item.get("type") == "additional_tools" else ()
    for tool in listed:
        yield str(tool.get("name") or tool.get("type"))
        yield from (str(inner.get("name")) for inner in tool.get("tools") or ())


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply made ready for the wire."""

    number: str
    model: str
    tools: frozenset[str]
    reply: Reply
    used: int

    @property
    def output(self) -> list[Json]:
        """The items of the response: what it says, then the tools that it calls."""
        calls = [_call(f"call_{self.number}_{n}", tool, self.tools) for n, tool in enumerate(self.reply.tools)]
        if calls and not self.reply.text:
            return calls
        text = {"type": "output_text", "text": self.reply.text, "annotations": []}
        said = {"type": "message", "id": f"msg_{self.number}", "role": "assistant", "status": "completed"}
        return [{**said, "content": [text]}, *calls]

    def usage(self) -> Json:
        """Input and output add up to `used`, which Codex takes for the context."""
        inputs = max(0, self.used - self.reply.output)
        return {
            "input_tokens": inputs,
            "input_tokens_details": {"cached_tokens": max(0, inputs - 1_000)},
            "output_tokens": self.reply.output,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": inputs + self.reply.output,
        }

    def whole(self) -> Json:
        """The answer to a request that does not stream."""
        return {**self._response("completed"), "output": self.output, "usage": self.usage()}

    def events(self) -> Iterator[Json]:
        """The answer as a stream of events; its text in as many pieces as the reply says."""
        yield {"type": "response.created", "response": self._response("in_progress")}
        for index, item in enumerate(self.output):
            begun = {**item, "status": "in_progress", **({"content": []} if "content" in item else {})}
            yield {"type": "response.output_item.added", "output_index": index, "item": begun}
            if "content" in item:
                where = {"item_id": item["id"], "output_index": index, "content_index": 0}
                for piece in pieces(self.reply.text, self.reply.chunks):
                    yield {"type": "response.output_text.delta", **where, "delta": piece}
            yield {"type": "response.output_item.done", "output_index": index, "item": item}
        yield {"type": "response.completed", "response": self.whole()}

    def _response(self, status: str) -> Json:
        return {"id": f"resp_{self.number}", "object": "response", "status": status, "model": self.model}


def _call(identity: str, tool: ToolUse, known: frozenset[str]) -> Json:
    """A tool call in the way that the model's tools allow: by name, or from a script."""
    arguments = dict(tool.arguments)
    if tool.name == "write":
        patch = added_file(str(arguments["path"]), str(arguments["content"]))
        if _CODE_MODE in known:
            return _custom(identity, _CODE_MODE, f"text(await tools.apply_patch({json.dumps(patch)}));")
        if "apply_patch" in known:
            return _custom(identity, "apply_patch", patch)
        tool = ToolUse("shell", {"command": _written_by_shell(arguments)})
        arguments = dict(tool.arguments)
    if tool.name == "shell":
        command = {"cmd": arguments["command"]}
        if _CODE_MODE in known:
            script = f"const ran = await tools.exec_command({json.dumps(command)}); text(ran.output);"
            return _custom(identity, _CODE_MODE, script)
        return _function(identity, "exec_command", command)
    return _function(identity, tool.name, arguments)


def added_file(path: str, content: str) -> str:
    """The patch by which OpenAI's models write a new file."""
    lines = "".join(f"+{line}\n" for line in content.removesuffix("\n").split("\n"))
    return f"*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch"


def _written_by_shell(arguments: Json) -> str:
    path, content = shlex.quote(str(arguments["path"])), shlex.quote(str(arguments["content"]))
    return f'mkdir -p "$(dirname {path})" && printf %s {content} > {path}'


def _custom(identity: str, name: str, text: str) -> Json:
    call = {"type": "custom_tool_call", "id": f"ctc_{identity}", "status": "completed"}
    return {**call, "call_id": identity, "name": name, "input": text}


def _function(identity: str, name: str, arguments: Json) -> Json:
    """A call by name; `space__name` is one of a namespace, such as an MCP server's."""
    space, _, own = name.rpartition("__")
    call = {"type": "function_call", "id": f"fc_{identity}", "status": "completed"}
    named = {"name": own, **({"namespace": space} if space else {})}
    return {**call, "call_id": identity, **named, "arguments": json.dumps(arguments)}
