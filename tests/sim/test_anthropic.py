"""The scripted Anthropic model, spoken to as Claude Code speaks to it."""

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from batonpass.sim.anthropic import AnthropicModel
from batonpass.sim.brain import Asked, Reply, ToolUse
from batonpass.sim.model_wire import Kind

TOOLS = [{"name": f"tool{n}"} for n in range(8)]
SESSION = "11111111-2222-3333-4444-555555555555"


class Echo:
    """Says what it was asked, and keeps it."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []

    def reply(self, asked: Asked) -> Reply:
        self.asked.append(asked)
        return Reply(f"You said: {asked.text}")


@pytest.fixture
def model() -> Iterator[AnthropicModel]:
    with AnthropicModel(Echo()) as running:
        yield running


def request(*messages: object, session: str = SESSION, **more: object) -> dict[str, Any]:
    """A request body; a plain text is a user message."""
    entries = [{"role": "user", "content": entry} if isinstance(entry, str) else entry for entry in messages]
    metadata = {"user_id": json.dumps({"session_id": session})}
    return {"model": "claude-x", "tools": TOOLS, "metadata": metadata, "messages": entries, **more}


def said(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


def post(model: AnthropicModel, body: dict[str, Any] | bytes, path: str = "/v1/messages") -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(model.url.removeprefix("http://"), timeout=10)
    try:
        connection.request("POST", path, body if isinstance(body, bytes) else json.dumps(body))
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def answer(model: AnthropicModel, body: dict[str, Any]) -> dict[str, Any]:
    status, data = post(model, body)
    assert status == 200
    decoded: dict[str, Any] = json.loads(data)
    return decoded


def used(message: dict[str, Any]) -> int:
    return sum(message["usage"].values())


def events(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line[6:]) for line in data.decode().splitlines() if line.startswith("data: ")]


def test_a_request_of_the_main_conversation_is_answered_by_the_brain_and_recorded(
    model: AnthropicModel,
) -> None:
    message = answer(model, request("<system-reminder>date</system-reminder>", "hello", system="be good"))
    assert message["content"] == [{"type": "text", "text": "You said: hello"}]
    assert message["stop_reason"] == "end_turn"
    (recorded,) = model.requests
    assert (recorded.kind, recorded.model, recorded.system) == (Kind.MAIN, "claude-x", "be good")
    assert recorded.messages == [("user", "<system-reminder>date</system-reminder>"), ("user", "hello")]
    assert (recorded.text, recorded.session, recorded.user_texts) == ("hello", SESSION, ["hello"])


def test_usage_adds_up_to_what_the_reply_says_and_climbs_by_itself_otherwise(model: AnthropicModel) -> None:
    model.script(Reply("a", used=150_000, output=321))
    history: list[object] = ["one"]
    assert used(answer(model, request(*history))) == 150_000
    history += [said("a"), "two"]
    assert used(answer(model, request(*history))) == 151_000
    assert used(answer(model, request("other", session=SESSION.replace("1", "9")))) == 20_000


def test_a_history_that_is_short_again_is_a_new_conversation(model: AnthropicModel) -> None:
    model.script(Reply("a", used=150_000))
    answer(model, request("one"))
    answer(model, request("one", said("a"), "two"))
    assert used(answer(model, request("Summary of it all", "two"))) == 20_000
    echo = model.brain
    assert isinstance(echo, Echo)
    assert [(asked.turn, asked.used) for asked in echo.asked] == [(2, 150_000), (2, 0)]


def test_a_request_that_is_sent_again_does_not_climb_twice(model: AnthropicModel) -> None:
    answer(model, request("one"))
    again = request("one", said("a"), "two")
    assert [used(answer(model, again)) for _ in range(3)] == [21_000] * 3


def test_tool_calls_are_claudes_own_and_their_results_come_back(model: AnthropicModel) -> None:
    tools = (ToolUse("write", {"path": "/p/a", "content": "x"}), ToolUse("shell", {"command": "ls"}))
    model.script(Reply("Look", tools=(*tools, ToolUse("Task", {"prompt": "p"}))))
    message = answer(model, request("go"))
    calls = [(block["name"], block["input"]) for block in message["content"][1:]]
    assert calls == [
        ("Write", {"file_path": "/p/a", "content": "x"}),
        ("Bash", {"command": "ls", "description": "Work on the job"}),
        ("Task", {"prompt": "p"}),
    ]
    assert message["stop_reason"] == "tool_use"
    result = {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "a b"}]}
    answer(model, request("go", said("Look"), {"role": "user", "content": [result]}))
    echo = model.brain
    assert isinstance(echo, Echo)
    assert (echo.asked[-1].text, echo.asked[-1].tool_results, echo.asked[-1].turn) == ("go", ("a b",), 1)


def test_a_stream_brings_the_text_in_pieces_and_tool_input_as_json(model: AnthropicModel) -> None:
    model.script(Reply("abcdef", tools=(ToolUse("shell", {"command": "ls"}),), chunks=3, used=500, output=20))
    status, data = post(model, request("go", stream=True))
    assert status == 200
    stream = events(data)
    pieces = [event["delta"]["text"] for event in stream if event.get("delta", {}).get("text")]
    assert pieces == ["ab", "cd", "ef"]
    inputs = [e["delta"]["partial_json"] for e in stream if "partial_json" in e.get("delta", {})]
    assert json.loads(inputs[0])["command"] == "ls"
    assert [stream[0]["type"], stream[-2]["type"], stream[-1]["type"]] == [
        "message_start",
        "message_delta",
        "message_stop",
    ]
    usage = {**stream[0]["message"]["usage"], **stream[-2]["usage"]}
    assert sum(usage.values()) == 500


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        ("rate_limit", 429, "rate_limit_error"),
        ("overloaded", 529, "overloaded_error"),
        ("server", 500, "api_error"),
        ("authentication", 401, "authentication_error"),
        ("too_long", 400, "prompt is too long: 200001 tokens > 200000 maximum"),
    ],
)
def test_errors_look_like_the_real_ones_and_a_retry_is_answered(
    model: AnthropicModel, error: str, status: int, words: str
) -> None:
    model.script(Reply(error=error))
    code, data = post(model, request("go"))
    assert code == status
    assert words in data.decode()
    assert used(answer(model, request("go"))) == 20_000


@pytest.mark.parametrize("error", ["cut_before", "cut_mid"])
def test_a_connection_can_be_cut(model: AnthropicModel, error: str) -> None:
    model.script(Reply("some words", error=error))
    with pytest.raises((http.client.HTTPException, ConnectionError)):
        post(model, request("go", stream=True))
    assert len(model.requests) == 1


def test_requests_that_are_not_the_conversation_never_reach_the_brain(model: AnthropicModel) -> None:
    post(model, request("title please", tools=[]))
    post(model, request("x", said("y"), "[SUGGESTION MODE: Suggest what the user might type]"))
    post(model, request("look around", system="You are an agent for Claude Code, …"))
    _, summary = post(model, request("work", said("the last words"), "create a detailed summary of the conversation"))
    assert [recorded.kind for recorded in model.requests] == [Kind.SIDE, Kind.SIDE, Kind.SUB, Kind.COMPACT]
    assert "the last words" in summary.decode()
    assert not model.main_requests()
    echo = model.brain
    assert isinstance(echo, Echo)
    assert not echo.asked


def test_scripted_answers_go_first_each_as_often_as_it_says_and_only_where_it_matches(
    model: AnthropicModel,
) -> None:
    model.script(Reply("twice"), match="pa+th", times=2)
    model.script(lambda asked: Reply(asked.text.upper()))
    texts = ["paath", "other", "path", "path"]
    answers = [answer(model, request(text))["content"][0]["text"] for text in texts]
    assert answers == ["twice", "OTHER", "twice", "You said: path"]


def test_a_prompt_that_came_twice_is_counted_twice(model: AnthropicModel) -> None:
    for body in (
        request("one"),
        request("one", said("a"), "two", said("b"), "two"),
        request("three", session=SESSION.replace("1", "9")),
    ):
        post(model, body)
    assert model.user_texts() == ["one", "two", "two", "three"]


MEANWHILE = "The user sent a new message while you were working:\nalso this\nplease\n\n"


@pytest.mark.parametrize(
    "news",
    [
        {"role": "system", "content": MEANWHILE + "IMPORTANT: After completing your current task, you MUST"},
        {"role": "user", "content": MEANWHILE + "This is how Claude Code surfaces messages the user sends"},
    ],
    ids=["2.1.197", "2.1.325"],
)
def test_a_prompt_sent_while_a_tool_ran_is_a_user_message_as_it_was_typed(
    model: AnthropicModel, news: dict[str, str]
) -> None:
    result = {"type": "tool_result", "tool_use_id": "t", "content": "slept"}
    answer(model, request("go", said("first"), {"role": "user", "content": [result]}, news))
    assert model.requests[0].user_texts == ["go", "also this\nplease"]
    echo = model.brain
    assert isinstance(echo, Echo)
    assert (echo.asked[0].text, echo.asked[0].tool_results) == ("also this\nplease", ("slept",))


def test_the_record_of_local_commands_is_no_user_message(model: AnthropicModel) -> None:
    caveat = "<local-command-caveat>Caveat: not for you</local-command-caveat>"
    command = "<command-name>/clear</command-name>\n<command-args></command-args>"
    answer(model, request(caveat, f"{command}\n<local-command-stdout></local-command-stdout>\nthe kick"))
    assert model.requests[0].user_texts == ["the kick"]


def test_news_of_a_background_task_starts_a_turn_but_is_no_user_message(model: AnthropicModel) -> None:
    news = "<system-reminder>\n<task-notification>task 7 ended</task-notification>\n</system-reminder>"
    answer(model, request("go", said("done"), news))
    assert model.requests[0].user_texts == ["go"]
    echo = model.brain
    assert isinstance(echo, Echo)
    assert "task 7 ended" in echo.asked[0].text


def test_one_can_wait_for_a_request_that_is_still_to_come(model: AnthropicModel) -> None:
    sender = threading.Timer(0, post, (model, request("late")))
    sender.start()
    assert model.wait_for(lambda recorded: recorded.text == "late").number == 1
    sender.join()


def test_waiting_in_vain_says_what_came_instead(model: AnthropicModel) -> None:
    post(model, request("hello"))
    with pytest.raises(TimeoutError, match="it saw: main 'hello'"):
        model.wait_for(lambda recorded: False, timeout=0.01)


def test_other_paths_get_a_polite_answer(model: AnthropicModel) -> None:
    assert json.loads(post(model, b"x" * 40, "/v1/messages/count_tokens?beta=true")[1]) == {"input_tokens": 10}
    assert post(model, b"{}", "/api/event_logging/batch") == (200, b"{}")
    assert post(model, b"not json")[0] == 400
    assert not model.requests


def test_request_bodies_are_kept_as_numbered_files(tmp_path: Path) -> None:
    folder = tmp_path / "record"
    with AnthropicModel(Echo(), record_dir=folder) as model:
        post(model, request("one"))
        post(model, request("title", tools=[]))
    assert sorted(path.name for path in folder.iterdir()) == ["0001-main.json", "0002-side.json"]
    assert json.loads((folder / "0001-main.json").read_text(encoding="utf-8")) == request("one")


def test_stopping_ends_a_slow_answer_at_once() -> None:
    model = AnthropicModel(Echo()).start()
    model.script(Reply("slow", delay=3600))
    sender = threading.Thread(target=post, args=(model, request("go")))
    sender.start()
    model.wait_for(lambda recorded: True)
    model.stop()
    sender.join(timeout=20)
    assert not sender.is_alive()


def test_as_a_program_it_prints_its_address_and_ends_at_a_signal() -> None:
    argv = [sys.executable, "-m", "batonpass.sim.anthropic", "--settings", '{"start": 777}']
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, env=dict(os.environ)) as program:
        assert program.stdout
        url = program.stdout.readline().strip()
        connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=10)
        connection.request("POST", "/v1/messages", json.dumps(request("hello")))
        assert used(json.loads(connection.getresponse().read())) == 777
        connection.close()
        program.send_signal(signal.SIGTERM)
        assert program.wait(timeout=20) == 0


def test_as_a_program_it_refuses_wrong_settings_in_words() -> None:
    argv = [sys.executable, "-m", "batonpass.sim.anthropic", "--settings", '{"stat": 1}']
    done = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 2
    assert "no setting 'stat'" in done.stderr
