"""The Gemini API as Gemini CLI speaks it: what a request says, and how a reply is put on the wire."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from batonpass.sim.brain import Reply, ToolUse
from batonpass.sim.model_wire import Json, Kind, Message, Request, pieces

# What Gemini CLI itself puts into user messages.
_NOT_SAID = ("<session_context>", "<hook_context>", "<state_snapshot>")
_HOOK_CONTEXT = "<hook_context>"
_DONE = "complete_task"  # the tool by which a sub-agent ends
_WORKSPACE = re.compile(r"\*\*Workspace Directories:\*\*\s+- (/[^\n]+)")
_PATH = re.compile(r"/models/([^/:]+):(\w+)$")
_ERRORS = {
    "rate_limit": (429, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."),
    "overloaded": (503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
    "server": (500, "INTERNAL", "An internal error has occurred."),
    "authentication": (401, "UNAUTHENTICATED", "API key not valid. Please pass a valid API key."),
    "too_long": (400, "INVALID_ARGUMENT", "The input token count ({used}) exceeds the maximum ({window})."),
}


class GeminiWire:
    """The wire of a ScriptedModel, in the words of the Gemini API."""

    endpoint: tuple[str, ...] = (":streamGenerateContent", ":generateContent")
    delta = "text"

    def read(self, body: Mapping[str, Any], path: str = "") -> Request:
        named = _PATH.search(path)
        declared = _declared(body)
        schema = _schema(body)
        if schema is None and _DONE in declared:
            schema = declared[_DONE]
        return Request(
            kind=_kind(body, declared, schema),
            model=named[1] if named else "",
            system=_text(body.get("systemInstruction")),
            messages=tuple(_message(content) for content in _listed(body.get("contents"))),
            session=None,
            stream=named is not None and named[2].startswith("stream"),
            tools=frozenset(declared),
            schema=schema,
        )

    def answer(self, number: str, request: Request, reply: Reply, used: int) -> "Answer":
        return Answer(number, request, reply, used)

    def frame(self, event: Json) -> bytes:
        data = {name: value for name, value in event.items() if name != "type"}
        return f"data: {json.dumps(data)}\r\n\r\n".encode()

    def error(self, name: str, used: int, window: int, words: str = "") -> tuple[int, Json]:
        code, status, message = _ERRORS[name]
        text = words or message.format(used=max(used, window + 1), window=window)
        return code, {"error": {"code": code, "message": text, "status": status}}

    def summary(self, text: str) -> str:
        return f"<state_snapshot>\n{text}\n</state_snapshot>"


def _declared(body: Mapping[str, Any]) -> dict[str, Json]:
    """The tools that the request offers, each with the form of its arguments."""
    functions = [f for tool in _listed(body.get("tools")) for f in _listed(tool.get("functionDeclarations"))]
    return {str(f.get("name")): f.get("parametersJsonSchema") or f.get("parameters") or {} for f in functions}


def _schema(body: Mapping[str, Any]) -> Json | None:
    """The form that an answer in JSON must have."""
    wanted = body.get("generationConfig") or {}
    return wanted.get("responseJsonSchema") or wanted.get("responseSchema")


def _kind(body: Mapping[str, Any], declared: Mapping[str, Json], schema: Json | None) -> Kind:
    if _DONE in declared:
        return Kind.SUB
    if declared:
        return Kind.MAIN
    asked = _text(body.get("systemInstruction")) + "".join(_text(c) for c in _listed(body.get("contents"))[-1:])
    return Kind.COMPACT if schema is None and "state_snapshot" in asked else Kind.SIDE


def _message(content: Json) -> Message:
    role = "assistant" if content.get("role") == "model" else "user"
    parts = _listed(content.get("parts"))
    texts = [_shown(str(part["text"])) for part in parts if part.get("text")]
    said = [text for text in texts if not text.lstrip().startswith(_NOT_SAID)] if role == "user" else []
    results = [_result(part["functionResponse"]) for part in parts if "functionResponse" in part]
    return Message(role, "\n".join(texts), "\n".join(said).strip(), tuple(results))


def _shown(text: str) -> str:
    """A hook's context is escaped on its way; a model reads through that."""
    return text.replace("&lt;", "<").replace("&gt;", ">") if text.startswith(_HOOK_CONTEXT) else text


def _result(response: object) -> str:
    given = response.get("response") if isinstance(response, dict) else None
    return "\n".join(str(value) for value in given.values()) if isinstance(given, dict) else ""


def _text(content: object) -> str:
    parts = _listed(content.get("parts")) if isinstance(content, dict) else []
    return "\n".join(str(part["text"]) for part in parts if part.get("text"))


def _listed(value: object) -> list[Json]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply made ready for the wire."""

    number: str
    request: Request
    reply: Reply
    used: int

    def whole(self) -> Json:
        """The answer to a request that does not stream."""
        return self._chunk([*([{"text": self._said}] if self._said else []), *self._calls()], last=True)

    def events(self) -> Iterator[Json]:
        """The answer as a stream; its text in as many pieces as the reply says, then the tools that it calls."""
        calls, texts = self._calls(), pieces(self._said, self.reply.chunks)
        for index, piece in enumerate(texts):
            last = index == len(texts) - 1 and not calls
            yield {"type": GeminiWire.delta, **self._chunk([{"text": piece}], last=last)}
        if calls or not texts:
            yield {"type": "end", **self._chunk(calls or [{"text": ""}], last=True)}

    @property
    def _said(self) -> str:
        if self.request.kind is Kind.SIDE and self.request.schema is not None:
            return json.dumps(example(self.request.schema, self.reply.text))
        return "" if self._ends else self.reply.text

    @property
    def _ends(self) -> bool:
        """Whether a sub-agent ends with this, which it can only do by a tool."""
        return self.request.kind is Kind.SUB and not self.reply.tools

    def _calls(self) -> list[Json]:
        if self._ends:
            return [self._call(0, _DONE, example(self.request.schema or {}, self.reply.text))]
        return [self._call(index, *_by_name(tool, self.request)) for index, tool in enumerate(self.reply.tools)]

    def _call(self, index: int, name: str, arguments: Json) -> Json:
        call = {"name": name, "args": arguments, "id": f"call_{self.number}_{index}"}
        return {"functionCall": call, "thoughtSignature": "cmVoZWFyc2Fs"}

    def _chunk(self, parts: list[Json], *, last: bool) -> Json:
        """Input and output add up to `used`, which Gemini CLI takes for the context."""
        inputs = max(0, self.used - self.reply.output)
        candidate: Json = {"content": {"role": "model", "parts": parts}, "index": 0}
        return {
            "candidates": [{**candidate, "finishReason": "STOP"} if last else candidate],
            "usageMetadata": {
                "promptTokenCount": inputs,
                "candidatesTokenCount": self.reply.output,
                "cachedContentTokenCount": max(0, inputs - 1_000),
                "totalTokenCount": inputs + self.reply.output,
            },
            "modelVersion": self.request.model,
            "responseId": f"resp_{self.number}",
        }


def _by_name(tool: ToolUse, request: Request) -> tuple[str, Json]:
    """A tool call in the words of Gemini CLI's own tools; its paths are whole."""
    arguments = dict(tool.arguments)
    if tool.name == "write":
        path = PurePosixPath(_workspace(request), str(arguments["path"]))
        return "write_file", {"file_path": str(path), "content": arguments["content"]}
    if tool.name == "shell":
        return "run_shell_command", {"command": arguments["command"], "description": "a step of the rehearsal"}
    return tool.name, arguments


def _workspace(request: Request) -> str:
    found = next((match[1] for m in request.messages if (match := _WORKSPACE.search(m.text))), "/")
    return found.strip()


def example(schema: Mapping[str, Any], text: str) -> Any:
    """The smallest value of that form, with this text where any text will do.

    >>> example({"type": "OBJECT", "properties": {"a": {"type": "string"}}, "required": ["a"]}, "hello")
    {'a': 'hello'}
    """
    match str(schema.get("type") or "object").lower():
        case "object":
            properties = schema.get("properties") or {}
            wanted = schema.get("required") or properties
            return {name: example(form, text) for name, form in properties.items() if name in wanted}
        case "array":
            return []
        case "number" | "integer":
            return 0
        case "boolean":
            return False
        case _:
            return (schema.get("enum") or [text])[0]
