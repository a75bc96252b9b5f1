"""The scripted Gemini model, spoken to as Gemini CLI speaks to it."""

import http.client
import json
from collections.abc import Iterator
from typing import Any

import pytest

from batonpass.sim.brain import Asked, Reply, ToolUse
from batonpass.sim.gemini_api import GeminiModel
from batonpass.sim.model_wire import Kind

TOOLS = [{"functionDeclarations": [{"name": "write_file"}, {"name": "run_shell_command"}]}]
CONTEXT = "<session_context>\n- **Workspace Directories:**\n  - /home/dev/project\n</session_context>"


class Echo:
    """Says what it was asked, and keeps it."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []

    def reply(self, asked: Asked) -> Reply:
        self.asked.append(asked)
        return Reply(f"You said: {asked.text}")


@pytest.fixture
def brain() -> Echo:
    return Echo()


@pytest.fixture
def model(brain: Echo) -> Iterator[GeminiModel]:
    with GeminiModel(brain) as running:
        yield running


def content(role: str, *texts: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"text": text} for text in texts]}


def request(*items: object, **more: object) -> dict[str, Any]:
    """A request body; a plain text is a user message."""
    contents = [content("user", item) if isinstance(item, str) else item for item in items]
    return {"contents": contents, "tools": TOOLS, **more}


def post(model: GeminiModel, body: dict[str, Any], call: str = "generateContent") -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(model.url.removeprefix("http://"), timeout=10)
    try:
        connection.request("POST", f"/v1beta/models/gemini-2.5-pro:{call}", json.dumps(body))
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def answer(model: GeminiModel, body: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(post(model, body)[1])
    return found


def parts(model: GeminiModel, body: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = answer(model, body)["candidates"][0]["content"]["parts"]
    return found


def test_the_brain_hears_what_was_said_and_not_what_the_program_puts_in(model: GeminiModel, brain: Echo) -> None:
    hooked = content("user", CONTEXT, "please begin", "<hook_context>a &lt;b&gt;</hook_context>")
    assert parts(model, request(hooked)) == [{"text": "You said: please begin"}]
    assert model.user_texts() == ["please begin"]
    assert "a <b>" in brain.asked[0].context
    assert model.requests[0].model == "gemini-2.5-pro"


def test_figures_of_a_reply_are_those_that_the_program_takes_for_the_context(model: GeminiModel) -> None:
    model.script(Reply("hello", used=61_234, output=34))
    usage = answer(model, request("hi"))["usageMetadata"]
    assert (usage["promptTokenCount"], usage["candidatesTokenCount"], usage["totalTokenCount"]) == (61_200, 34, 61_234)


def test_a_stream_brings_the_text_in_pieces_and_then_the_tools(model: GeminiModel) -> None:
    model.script(Reply("abcd", chunks=2, tools=(ToolUse("shell", {"command": "ls"}),)))
    body = post(model, request("hi"), "streamGenerateContent?alt=sse")[1].decode()
    chunks = [json.loads(line.removeprefix("data: ")) for line in body.split("\r\n\r\n") if line]
    found = [chunk["candidates"][0] for chunk in chunks]
    assert [one["content"]["parts"][0].get("text") for one in found] == ["ab", "cd", None]
    assert found[-1]["content"]["parts"][0]["functionCall"]["name"] == "run_shell_command"
    assert [one.get("finishReason") for one in found] == [None, None, "STOP"]


def test_tools_are_called_by_the_programs_names_and_with_whole_paths(model: GeminiModel) -> None:
    model.script(Reply(tools=(ToolUse("write", {"path": "a/b.md", "content": "x"}), ToolUse("web_fetch", {"q": 1}))))
    write, fetch = (part["functionCall"] for part in parts(model, request(content("user", CONTEXT, "go"))))
    assert (write["name"], write["args"]) == ("write_file", {"file_path": "/home/dev/project/a/b.md", "content": "x"})
    assert (fetch["name"], fetch["args"]) == ("web_fetch", {"q": 1})


def test_results_of_tools_reach_the_brain(model: GeminiModel, brain: Echo) -> None:
    result = {"role": "user", "parts": [{"functionResponse": {"name": "x", "response": {"output": "three files"}}}]}
    answer(model, request("count", content("model", "I look."), result))
    assert brain.asked[0].tool_results == ("three files",)
    assert brain.asked[0].text == "count"


def test_side_requests_get_the_form_that_they_ask_for_and_no_thought(model: GeminiModel, brain: Echo) -> None:
    schema = {"type": "OBJECT", "properties": {"next_speaker": {"type": "STRING", "enum": ["user", "model"]}}}
    body = {"contents": [content("user", "who?")], "generationConfig": {"responseSchema": schema}}
    assert json.loads(parts(model, body)[0]["text"]) == {"next_speaker": "user"}
    assert (brain.asked, model.requests[0].kind) == ([], Kind.SIDE)


def test_a_compression_gets_a_snapshot(model: GeminiModel) -> None:
    body = {"contents": [content("user", "please begin")], "systemInstruction": content("user", "a <state_snapshot>")}
    (part,) = parts(model, body)
    assert part["text"].startswith("<state_snapshot>")
    assert "please begin" in part["text"]
    assert model.requests[0].kind is Kind.COMPACT


def test_a_sub_agent_ends_with_the_tool_that_it_must_end_with(model: GeminiModel) -> None:
    form = {"type": "object", "properties": {"result": {"type": "string"}}, "required": ["result"]}
    tools = [{"functionDeclarations": [{"name": "complete_task", "parametersJsonSchema": form}]}]
    (part,) = parts(model, request("look into it", tools=tools))
    assert part["functionCall"]["name"] == "complete_task"
    assert part["functionCall"]["args"] == {"result": "The sub-agent is done."}
    assert model.requests[0].kind is Kind.SUB


@pytest.mark.parametrize(("name", "status"), [("rate_limit", 429), ("overloaded", 503), ("too_long", 400)])
def test_errors_come_as_the_service_puts_them(model: GeminiModel, name: str, status: int) -> None:
    model.script(Reply(error=name))
    got, body = post(model, request("hi"))
    assert (got, json.loads(body)["error"]["code"]) == (status, status)


def test_tokens_are_counted_when_asked(model: GeminiModel) -> None:
    assert json.loads(post(model, request("hi"), "countTokens")[1])["totalTokens"] > 0
