"""The scripted OpenAI model, spoken to as Codex speaks to it."""

import http.client
import json
from collections.abc import Iterator
from typing import Any

import pytest

from batonpass.sim.brain import Asked, Reply, ToolUse
from batonpass.sim.model_wire import Kind
from batonpass.sim.openai_responses import ResponsesModel

THREAD = "01a1e1fc-411f-7aa1-9a47-1551515c639a"
TOOLS = [{"type": "function", "name": "exec_command"}, {"type": "custom", "name": "apply_patch"}]


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
def model(brain: Echo) -> Iterator[ResponsesModel]:
    with ResponsesModel(brain) as running:
        yield running


def message(role: str, text: str) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}


def request(*items: object, source: str = "user", kind: str = "turn", **more: object) -> dict[str, Any]:
    """A request body; a plain text is a user message."""
    meta = {"thread_id": THREAD, "thread_source": source, "request_kind": kind}
    entries = [message("user", item) if isinstance(item, str) else item for item in items]
    client = {"x-codex-turn-metadata": json.dumps(meta)}
    return {"model": "gpt-x", "input": entries, "tools": TOOLS, "client_metadata": client, **more}


def post(model: ResponsesModel, body: dict[str, Any]) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(model.url.removeprefix("http://"), timeout=10)
    try:
        connection.request("POST", "/v1/responses", json.dumps(body))
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def answer(model: ResponsesModel, body: dict[str, Any]) -> dict[str, Any]:
    status, data = post(model, body)
    assert status == 200
    decoded: dict[str, Any] = json.loads(data)
    return decoded


def test_what_the_user_said_is_told_from_what_codex_put_in(model: ResponsesModel, brain: Echo) -> None:
    answer(model, request(message("developer", "be good"), "<environment_context>x</environment_context>", "hello"))
    (asked,) = brain.asked
    assert (asked.text, asked.turn, asked.tool_results) == ("hello", 1, ())
    assert "be good" in asked.context
    assert model.requests[0].session == THREAD


def test_a_hooks_request_is_read_as_the_hook_gave_it(model: ResponsesModel, brain: Echo) -> None:
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]}
    wrapped = '<hook_prompt hook_run_id="stop:7:/&lt;session-flags&gt;/x">Write &lt;it&gt; &amp; stop.</hook_prompt>'
    answer(model, request("hello", said, wrapped))
    assert brain.asked[0].text == "Write <it> & stop."
    assert model.user_texts() == ["hello", "Write <it> & stop."]


def test_results_belong_to_the_tools_of_the_last_response(model: ResponsesModel, brain: Echo) -> None:
    call = {"type": "function_call", "call_id": "c1", "name": "exec_command", "arguments": "{}"}
    done = {"type": "function_call_output", "call_id": "c1", "output": "Process exited with code 0\nhi"}
    answer(model, request("hello", call, done))
    assert brain.asked[0].tool_results == ("Process exited with code 0\nhi",)
    assert brain.asked[0].text == "hello"


def test_usage_climbs_with_the_conversation_and_adds_up(model: ResponsesModel) -> None:
    first = answer(model, request("hello"))
    again = answer(model, request("hello", first["output"][0], "more"))
    assert [body["usage"]["total_tokens"] for body in (first, again)] == [20_000, 21_000]
    usage = again["usage"]
    assert usage["input_tokens"] + usage["output_tokens"] == usage["total_tokens"]


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (request("hello"), Kind.MAIN),
        (request("hello", source="subagent"), Kind.SUB),
        (request("hello", kind="compaction"), Kind.COMPACT),
        (request("hello", text={"format": {"schema": {"properties": {"title": {}}}}}), Kind.SIDE),
    ],
)
def test_only_the_conversation_that_the_user_sees_reaches_the_brain(
    model: ResponsesModel, brain: Echo, body: dict[str, Any], kind: Kind
) -> None:
    answer(model, body)
    assert model.requests[0].kind is kind
    assert len(brain.asked) == (kind is Kind.MAIN)


def test_a_stream_brings_the_text_in_pieces_and_ends_with_the_usage(model: ResponsesModel) -> None:
    model.script(Reply("one two three", chunks=3, used=777))
    _, data = post(model, request("hello", stream=True))
    events = [json.loads(line[6:]) for line in data.decode().splitlines() if line.startswith("data: ")]
    assert [event["type"] for event in events][:2] == ["response.created", "response.output_item.added"]
    deltas = [event["delta"] for event in events if event["type"] == "response.output_text.delta"]
    assert ("".join(deltas), len(deltas)) == ("one two three", 3)
    assert events[-1]["type"] == "response.completed"
    assert events[-1]["response"]["usage"]["total_tokens"] == 777


WRITE = ToolUse("write", {"path": "/p/a b.md", "content": "one\ntwo\n"})
PATCH = "*** Begin Patch\n*** Add File: /p/a b.md\n+one\n+two\n*** End Patch"


def test_a_file_is_written_by_a_patch_and_a_command_run_by_the_shell_tool(model: ResponsesModel) -> None:
    model.script(Reply("I write.", tools=(WRITE, ToolUse("shell", {"command": "ls"}))))
    said, write, run = answer(model, request("hello"))["output"]
    assert said["content"][0]["text"] == "I write."
    assert (write["type"], write["name"], write["input"]) == ("custom_tool_call", "apply_patch", PATCH)
    assert (run["name"], json.loads(run["arguments"])) == ("exec_command", {"cmd": "ls"})


def test_a_model_without_patches_writes_by_the_shell(model: ResponsesModel) -> None:
    model.script(Reply(tools=(WRITE,)))
    (call,) = answer(model, request("hello", tools=TOOLS[:1]))["output"]
    assert json.loads(call["arguments"])["cmd"].endswith("> '/p/a b.md'")


def test_a_code_mode_model_calls_its_tools_from_a_script(model: ResponsesModel) -> None:
    listed = {"type": "additional_tools", "tools": [{"type": "namespace", "name": "f", "tools": [{"name": "exec"}]}]}
    model.script(Reply(tools=(WRITE, ToolUse("shell", {"command": "ls"}))))
    write, run = answer(model, request(listed, "hello", tools=[]))["output"]
    assert (write["name"], write["input"]) == ("exec", f"text(await tools.apply_patch({json.dumps(PATCH)}));")
    assert 'tools.exec_command({"cmd": "ls"})' in run["input"]


@pytest.mark.parametrize(("error", "status"), [("rate_limit", 429), ("server", 500), ("authentication", 401)])
def test_errors_come_as_the_api_sends_them(model: ResponsesModel, error: str, status: int) -> None:
    model.script(Reply(error=error))
    got, data = post(model, request("hello"))
    assert got == status
    assert json.loads(data)["error"]["message"]
