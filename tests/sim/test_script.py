"""A scripted model's replies from a file."""

import contextlib
import http.client
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import get_args

import pytest

from batonpass.sim import script
from batonpass.sim.agent_faults import KINDS
from batonpass.sim.brain import Reply, ToolUse
from batonpass.sim.model_wire import Kind
from batonpass.sim.worker import FAULTS, WorkerSettings

TOOLS = [{"name": f"tool{n}"} for n in range(8)]  # as many as only a conversation that a user sees has


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "replies.json"


@contextlib.contextmanager
def program(path: Path, *entries: object) -> Iterator[str]:
    """Where the model listens as a program with these entries; it has ended well when this ends."""
    path.write_text(json.dumps(entries), encoding="utf-8")
    argv = [sys.executable, "-m", "batonpass.sim.anthropic", "--script", str(path)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, env=dict(os.environ)) as running:
        assert running.stdout
        try:
            yield running.stdout.readline().strip().removeprefix("http://")
        finally:
            running.send_signal(signal.SIGTERM)
        assert running.wait(timeout=20) == 0


def reached(address: str) -> socket.socket:
    host, port = address.split(":")
    return socket.create_connection((host, int(port)), timeout=20)


def body(*said: str, **more: object) -> str:
    """A request after what was said, by turns, by the user and the model."""
    roles = ("user", "assistant") * len(said)
    messages = [{"role": role, "content": text} for role, text in zip(roles, said, strict=False)]
    return json.dumps({"model": "m", "tools": TOOLS, "messages": messages, **more})


def post(address: str, text: str) -> tuple[http.client.HTTPResponse, str]:
    """An answer, and its text; raises what a client would when the connection is cut."""
    connection = http.client.HTTPConnection(address, timeout=20)
    try:
        connection.request("POST", "/v1/messages", text)
        response = connection.getresponse()
        return response, response.read().decode()
    finally:
        connection.close()


def says(address: str, *said: str, **more: object) -> str:
    """What the model says, or in which words it refuses."""
    answer = json.loads(post(address, body(*said, **more))[1])
    return str(answer["error"]["message"] if "error" in answer else answer["content"][0]["text"])


def test_an_entry_has_all_that_a_reply_has(path: Path) -> None:
    tool = {"name": "write", "arguments": {"path": "a.md", "content": "x"}}
    slow = {"text": "I write.", "tools": [tool], "used": 9, "output": 3, "delay": 1, "chunks": 2, "chunk_delay": 0.5}
    which = {"match": "^begin", "turn": 2, "times": 3, "kind": "sub"}
    path.write_text(json.dumps([{**slow, **which}, {"error": "rate_limit", "retry_after": 2}]), encoding="utf-8")
    first, second = script.read(path)
    write = ToolUse("write", {"path": "a.md", "content": "x"})
    assert first.reply == Reply("I write.", (write,), used=9, output=3, delay=1, chunks=2, chunk_delay=0.5)
    assert (first.match, first.turn, first.times, first.kind) == ("^begin", 2, 3, Kind.SUB)
    assert second.reply == Reply(error="rate_limit", retry_after=2)
    assert (second.match, second.turn, second.times, second.kind) == (None, None, 1, Kind.MAIN)


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ('[{"text": "a"}, {"eror": "server"}]', "entry 2, eror: unknown key (did you mean 'error'?)"),
        ('[{"error": "rate-limit"}]', "entry 1, error: must be one of rate_limit, overloaded, "),
        ('[{"error": "rate-limit"}]', ", cut_mid, not 'rate-limit' (did you mean 'rate_limit'?)"),
        ('[{"kind": "side-talk"}]', "entry 1, kind: must be one of main, side, sub, compact, not 'side-talk'"),
        ('[{"turn": 0}]', "entry 1, turn: must be at least 1, not 0"),
        ('[{"used": "many"}]', "entry 1, used: must be a whole number, not 'many'"),
        ('[{"match": "("}]', "entry 1, match: must be a regular expression ("),
        ('[{"tools": [{"nam": "x"}]}]', "entry 1, tools.0.name: this key is missing"),
        ('[{"tools": [{"name": "x", "args": {}}]}]', "entry 1, tools.0.args: unknown key (did you mean 'arguments'?)"),
        ('[{"tools": [{"name": "shell"}]}]', "entry 1, tools.0: shell needs the argument 'command', a text"),
        ('[{"retry_after": 2}]', "entry 1: retry_after is sent with an error only"),
        ('[{"error": "cut_mid", "text": "all of it"}]', "entry 1: cut_mid cuts after the first piece of a text"),
        ('["text"]', "entry 1: must have keys of its own, not 'text'"),
        ('{"text": "a"}', "a script must be a list of replies"),
        ('[{"text": "a",}]', "this is not JSON ("),
    ],
)
def test_a_mistake_is_told_with_its_place_and_what_was_meant(path: Path, written: str, told: str) -> None:
    path.write_text(written, encoding="utf-8")
    with pytest.raises(ValueError, match=r"nothing was started\.$") as error:
        script.read(path)
    assert str(error.value).startswith(f"{path}: ")
    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_a_mistake_keeps_the_program_from_starting(path: Path) -> None:
    argv = [sys.executable, "-m", "batonpass.sim.anthropic", "--script", str(path)]
    missing = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False)
    assert (missing.returncode, missing.stdout) == (2, "")
    assert missing.stderr == f"The script {path} cannot be read (No such file or directory); nothing was started.\n"
    path.write_text('[{"tekst": "a"}]', encoding="utf-8")
    wrong = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr == f"{path}: entry 1, tekst: unknown key (did you mean 'text'?); nothing was started.\n"


def test_replies_come_in_order_to_the_requests_that_they_are_for_and_the_worker_answers_the_rest(path: Path) -> None:
    entries = [
        {"turn": 2, "text": "for the second turn"},
        {"match": "read", "text": "for the reader", "times": 2},
        {"kind": "side", "text": "a title"},
        {"text": "first"},
        {"text": "second"},
    ]
    with program(path, *entries) as address:
        assert says(address, "title?", tools=[]) == "a title"
        assert [says(address, "begin") for _ in range(2)] == ["first", "second"]
        assert says(address, "begin", "first", "and now?") == "for the second turn"
        assert [says(address, "please read") for _ in range(2)] == ["for the reader"] * 2
        assert says(address, "please read").startswith("On it: please read\nStep 1")


def test_errors_and_cuts_come_as_they_do_from_a_real_model(path: Path) -> None:
    entries = [
        {"match": "refuse", "error": "rate_limit", "retry_after": 7},
        {"match": "refuse", "error": "too_long", "used": 250_000},
        {"match": "silent", "error": "cut_before"},
        {"match": "within", "error": "cut_mid", "text": "one two", "chunks": 2},
    ]
    with program(path, *entries) as address:
        refused, _ = post(address, body("refuse this"))
        assert (refused.status, refused.headers["retry-after"]) == (429, "7")
        assert says(address, "refuse this") == "prompt is too long: 250000 tokens > 200000 maximum"
        with pytest.raises(http.client.RemoteDisconnected):
            post(address, body("be silent"))
        with pytest.raises(http.client.IncompleteRead) as cut:
            post(address, body("cut within", stream=True))
        assert b"one " in cut.value.partial
        assert b"two" not in cut.value.partial
        assert says(address, "be silent").startswith("On it")


def test_a_slow_stream_brings_its_pieces_one_by_one(path: Path) -> None:
    slow = {"match": "slowly", "text": "one two", "chunks": 2, "chunk_delay": 3600}
    with program(path, slow) as address, reached(address) as connection:
        text = body("go slowly", stream=True).encode()
        connection.sendall(b"POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s" % (len(text), text))
        heard = b""
        while b'"one "' not in heard:
            heard += connection.recv(65536)
        assert says(address, "are you there?").startswith("On it")  # meanwhile
        assert not select.select([connection], [], [], 0)[0], "the next piece is not due yet"
        assert b"two" not in heard


def test_the_guide_names_every_key_and_error_and_its_script_can_be_played(path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "guide" / "rehearsing.md").read_text(encoding="utf-8")
    played = next(block for block in re.findall(r"```json\n(.*?)```", page, re.DOTALL) if '"match"' in block)
    path.write_text(played, encoding="utf-8")
    assert script.read(path)
    for word in (*script.Entry.model_fields, *get_args(script.Error), *Kind, *KINDS, *FAULTS):
        assert f"`{word}`" in page, word
    for field in fields(WorkerSettings):
        assert f"`{field.name}`" in page, field.name
