"""The scripted chat model, spoken to as opencode speaks to it."""

import http.client
import json
from collections.abc import Iterator
from typing import Any

import pytest

from batonpass.sim.brain import Asked, Reply, ToolUse
from batonpass.sim.model_wire import Kind
from batonpass.sim.openai_chat import ChatModel

SESSION = "ses_e1f4befc6ffeLBFl8ZctIjkMGw"


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
def model(brain: Echo) -> Iterator[ChatModel]:
    with ChatModel(brain) as running:
        yield running


def request(*items: object, tools: tuple[str, ...] = ("bash", "write", "task"), **more: object) -> dict[str, Any]:
    """A request body; a plain text is a user message."""
    messages = [{"role": "user", "content": item} if isinstance(item, str) else item for item in items]
    listed = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in tools]
    return {"model": "m", "messages": messages, "tools": listed, "promptCacheKey": SESSION, **more}


def system(text: str) -> dict[str, Any]:
    return {"role": "system", "content": text}


def post(model: ChatModel, body: dict[str, Any]) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(model.url.removeprefix("http://"), timeout=10)
    try:
        connection.request("POST", "/v1/chat/completions", json.dumps(body))
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def answer(model: ChatModel, body: dict[str, Any]) -> dict[str, Any]:
    status, data = post(model, body)
    assert status == 200
    decoded: dict[str, Any] = json.loads(data)
    return decoded


def test_what_the_user_said_is_told_from_what_opencode_put_in(model: ChatModel, brain: Echo) -> None:
    parts = [{"type": "text", "text": "hello"}, {"type": "text", "text": "<system-reminder>plan</system-reminder>"}]
    answer(model, request(system("be good"), {"role": "user", "content": parts}))
    (asked,) = brain.asked
    assert (asked.text, asked.turn, asked.tool_results) == ("hello", 1, ())
    assert "be good" in asked.context
    assert "plan" in asked.context
    assert model.requests[0].session == SESSION


def test_a_prompt_in_the_middle_of_a_turn_is_read_as_it_was_given(model: ChatModel, brain: Echo) -> None:
    wrapped = (
        "<system-reminder>\nThe user sent the following message:\nand mind the tabs\n\n"
        "Please address this message and continue with your tasks.\n</system-reminder>"
    )
    answer(model, request("hello", {"role": "assistant", "content": "Yes."}, wrapped))
    assert brain.asked[0].text == "and mind the tabs"
    assert model.user_texts() == ["hello", "and mind the tabs"]


def test_results_belong_to_the_tools_of_the_last_response(model: ChatModel, brain: Echo) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
    done = {"role": "tool", "tool_call_id": "c1", "content": "hi\n"}
    answer(model, request("hello", {"role": "assistant", "content": "I look.", "tool_calls": [call]}, done))
    assert brain.asked[0].tool_results == ("hi\n",)
    assert brain.asked[0].text == "hello"


def test_usage_climbs_with_the_conversation_and_adds_up(model: ChatModel) -> None:
    first = answer(model, request("hello"))
    again = answer(model, request("hello", first["choices"][0]["message"], "more"))
    assert [body["usage"]["total_tokens"] for body in (first, again)] == [20_000, 21_000]
    usage = again["usage"]
    assert usage["prompt_tokens"] + usage["completion_tokens"] == usage["total_tokens"]


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (request("hello"), Kind.MAIN),
        (request("hello", tools=("bash", "write")), Kind.SUB),
        (request(system("You are a title generator."), "hello", tools=()), Kind.SIDE),
        (request(system("You summarize conversations."), "hello", tools=()), Kind.COMPACT),
    ],
)
def test_only_the_conversation_that_the_user_sees_reaches_the_brain(
    model: ChatModel, brain: Echo, body: dict[str, Any], kind: Kind
) -> None:
    answer(model, body)
    assert model.requests[0].kind is kind
    assert len(brain.asked) == (kind is Kind.MAIN)


def test_a_stream_brings_the_text_in_pieces_and_ends_with_the_usage(model: ChatModel) -> None:
    model.script(Reply("one two three", chunks=3, used=777))
    _, data = post(model, request("hello", stream=True))
    lines = [line[6:] for line in data.decode().splitlines() if line.startswith("data: ")]
    assert lines[-1] == "[DONE]"
    chunks = [json.loads(line) for line in lines[:-1]]
    texts = [c["choices"][0]["delta"].get("content") for c in chunks if c["choices"]]
    assert [text for text in texts if text] == ["one t", "wo th", "ree"]
    assert chunks[-2]["choices"][0]["finish_reason"] == "stop"
    assert chunks[-1]["usage"]["total_tokens"] == 777


def test_files_and_commands_go_by_the_names_that_opencodes_tools_have(model: ChatModel) -> None:
    write = ToolUse("write", {"path": "/p/a b.md", "content": "one\ntwo\n"})
    model.script(Reply("I write.", tools=(write, ToolUse("shell", {"command": "ls"}))), times=2)
    said = answer(model, request("hello"))["choices"][0]
    assert (said["message"]["content"], said["finish_reason"]) == ("I write.", "tool_calls")
    calls = [call["function"] for call in said["message"]["tool_calls"]]
    assert [call["name"] for call in calls] == ["write", "bash"]
    assert json.loads(calls[0]["arguments"]) == {"filePath": "/p/a b.md", "content": "one\ntwo\n"}
    assert json.loads(calls[1]["arguments"])["command"] == "ls"
    patched = answer(model, request("hello", tools=("apply_patch", "task")))["choices"][0]["message"]["tool_calls"][0]
    assert patched["function"]["name"] == "apply_patch"
    assert "*** Add File: /p/a b.md\n+one\n+two\n" in json.loads(patched["function"]["arguments"])["patchText"]


@pytest.mark.parametrize(("error", "status"), [("rate_limit", 429), ("server", 500), ("authentication", 401)])
def test_errors_come_as_the_api_sends_them(model: ChatModel, error: str, status: int) -> None:
    model.script(Reply(error=error))
    got, data = post(model, request("hello"))
    assert got == status
    assert json.loads(data)["error"]["message"]
