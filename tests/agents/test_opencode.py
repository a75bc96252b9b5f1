"""The opencode adapter: how it is started, what its port says, and how it is driven."""

import base64
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from batonpass.agents.base import Binding, ControlError, LaunchError, LaunchOrder, NotInstalled, Status
from batonpass.agents.opencode import OpenCode
from batonpass.agents.opencode.control import Control
from batonpass.agents.opencode.database import transcript
from batonpass.agents.opencode.launch import PASSWORD, PORT
from batonpass.agents.opencode.limits import Limits, from_files, told
from batonpass.agents.opencode.server import Server, ServerAway
from batonpass.agents.opencode.status import find, past, status
from batonpass.agents.opencode.word import Word
from batonpass.agents.wishes import Approval, Size, Wishes
from batonpass.clock import SystemClock
from batonpass.session import State
from batonpass.supervisor.watch import Watch
from tests.supervisor.fakes import a_session

FOLDER = Path(__file__).parents[1] / "fixtures" / "opencode"
PARENT, CHILD = "ses_e1f4baa07ffeTUGa4XlZDInDih", "ses_e1f4ba8f0ffehx1G4pske4x4iC"
OLD = "ses_e1f4befc6ffeLBFl8ZctIjkMGw"


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """An environment with a program that can be started, and the database of the fixtures."""
    program = tmp_path / "bin" / "opencode"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    data = tmp_path / ".local" / "share" / "opencode"
    data.mkdir(parents=True)
    shutil.copy(FOLDER / "opencode.db", data / "opencode.db")
    return {"HOME": str(tmp_path), "PATH": str(program.parent)}


def database(home: Mapping[str, str]) -> Path:
    return Path(home["HOME"]) / ".local" / "share" / "opencode" / "opencode.db"


def order(home: Mapping[str, str], *args: str, **more: Any) -> LaunchOrder:
    root = Path(home["HOME"])
    return LaunchOrder(
        session="s", folder=root, project=root / "project", args=args, env=home, draft_dir=root, hook=("h",),
        statusline=("l",), **more,
    )  # fmt: skip


# -- launch ------------------------------------------------------------------------------------------


def test_it_is_started_with_a_port_and_a_password_that_stands_on_no_command_line(home: dict[str, str]) -> None:
    before = sorted(Path(home["HOME"]).rglob("*"))
    launch = OpenCode().launch(order(home, "--auto", "--prompt", "go"))
    assert launch.argv[1:4] == ("--auto", "--prompt", "go")
    assert launch.argv[4:] == ("--port", launch.env[PORT])
    assert len(launch.env[PASSWORD]) >= 32
    assert not [word for word in launch.argv if launch.env[PASSWORD] in word]
    assert launch.env["PWD"] == str(Path(home["HOME"]) / "project")
    assert launch.notice is not None
    assert sorted(Path(home["HOME"]).rglob("*")) == before
    assert OpenCode().launch(order(home)).env[PASSWORD] != launch.env[PASSWORD]


def test_a_port_and_a_password_of_the_users_own_are_kept(home: dict[str, str]) -> None:
    launch = OpenCode().launch(order({**home, PASSWORD: "theirs"}, "--port=4100"))
    assert (launch.argv[1:], launch.env[PORT], launch.env[PASSWORD]) == (("--port=4100",), "4100", "theirs")
    assert OpenCode().launch(order({**home, PASSWORD: ""})).env[PASSWORD], "with none, anybody could get in"


def test_a_restart_repeats_the_options_but_not_the_choice_of_a_conversation(home: dict[str, str]) -> None:
    asked = order(home, "-m", "a/b", "-s", "ses_1", "--prompt", "go", "--auto", kick="[baton] on", model="c/d")
    argv = OpenCode().launch(asked).argv
    assert argv[1:4] == ("--auto", "--model", "c/d")
    assert argv[-1] == "--prompt=[baton] on"
    assert not {"ses_1", "go", "a/b"} & set(argv)
    back = OpenCode().launch(order(home, "-c", resume=OLD))
    assert (back.argv[-2:], back.agent_session) == (("--session", OLD), OLD)
    assert "-c" not in back.argv


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (("run", "hello"), "opencode run"),
        (("serve",), "opencode serve"),
        (("--mini",), "--mini"),
        (("/elsewhere",), "in that folder"),
        (("--port", "many"), "no port"),
    ],
)
def test_what_begins_no_session_that_could_be_watched_is_refused(
    home: dict[str, str], args: tuple[str, ...], why: str
) -> None:
    with pytest.raises(LaunchError, match=why):
        OpenCode().launch(order(home, *args))


def test_a_missing_program_is_told_with_what_to_do(home: dict[str, str]) -> None:
    with pytest.raises(NotInstalled, match="npm install -g opencode-ai"):
        OpenCode().launch(order({**home, "PATH": "/nowhere"}))
    with pytest.raises(NotInstalled, match="BATON_OPENCODE"):
        OpenCode().launch(order({**home, "BATON_OPENCODE": "/nowhere/opencode"}))


def test_marks_of_a_surrounding_session_are_left_behind(home: dict[str, str]) -> None:
    env = OpenCode().launch(order({**home, "OPENCODE": "1", "OPENCODE_PID": "7", "TMUX_PANE": "%1", PORT: "1"})).env
    assert not {"OPENCODE", "OPENCODE_PID", "TMUX_PANE"} & set(env)
    assert env[PORT] != "1"


def test_wishes_are_translated_both_ways() -> None:
    agent = OpenCode()
    assert agent.wishes(["--auto"], "anthropic/claude-opus-4-6", None) == Wishes(Size.LARGE, Approval.ALL)
    assert agent.wishes(["--agent", "plan", "-m", "x/gpt-5-mini"], None, None) == Wishes(Size.SMALL, Approval.PLAN)
    assert agent.arguments(Wishes(Size.LARGE, Approval.ALL), {"large": "a/b"}) == ("--model", "a/b", "--auto")
    assert agent.arguments(Wishes(Size.LARGE, Approval.EDITS), {}) == ()


# -- limits ------------------------------------------------------------------------------------------


def test_usable_is_what_leaves_room_for_an_answer() -> None:
    limits = told(json.loads((FOLDER / "config-providers.json").read_text(encoding="utf-8")))
    assert limits == {"scripted/scripted-1": Limits(200_000, 8_192)}
    assert limits["scripted/scripted-1"].usable({}) == 191_808
    assert Limits(200_000, 64_000).usable({}) == 168_000
    assert Limits(200_000, 0).usable({}) == 168_000
    assert Limits(400_000, 128_000, 272_000).usable({}) == 252_000
    assert Limits(200_000, 64_000).usable({"OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX": "10000"}) == 190_000


def test_without_a_port_the_window_is_what_the_configuration_says_and_else_a_guess(home: dict[str, str]) -> None:
    def setting(context: int) -> dict[str, object]:
        return {"provider": {"p": {"models": {"m": {"limit": {"context": context, "output": 1_000}}}}}}

    config = Path(home["HOME"]) / ".config" / "opencode" / "opencode.json"
    config.parent.mkdir(parents=True)
    config.write_text(json.dumps(setting(50_000)), encoding="utf-8")
    assert (OpenCode().window("p/m", home), OpenCode().usable(50_000, home, "p/m")) == (50_000, 49_000)
    over = {**home, "OPENCODE_CONFIG_CONTENT": json.dumps(setting(60_000))}
    assert from_files(over)["p/m"].context == 60_000
    assert (OpenCode().window("p/other", home), OpenCode().usable(200_000, home)) == (200_000, 168_000)
    config.write_text("// no JSON", encoding="utf-8")
    assert from_files(home) == {}
    config.with_suffix(".jsonc").write_text(f"{json.dumps(setting(32_000))} // mine", encoding="utf-8")
    assert from_files(home)["p/m"].context == 32_000
    (Path(home["HOME"]) / "opencode.json").write_text(json.dumps(setting(33_000)), encoding="utf-8")
    assert from_files({**home, "PWD": str(Path(home["HOME"]) / "project" / "src")})["p/m"].context == 33_000


# -- the port ----------------------------------------------------------------------------------------


class FakeServer(ThreadingHTTPServer):
    """A port that answers as opencode does. Events are sent as they are put in `stream`."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers: dict[str, object] = {
            "/session/status": {}, "/permission": [], "/question": [], "/session": {"id": "ses_new"},
            "/config/providers": {"providers": json.loads((FOLDER / "config-providers.json").read_bytes())},
        }  # fmt: skip
        self.asked: list[tuple[str, str, Any]] = []
        self.stream: list[dict[str, object]] = [{"type": "server.connected"}]
        self.stopped = threading.Event()
        self.loses = 0  # so many requests for events, which it never answers

    @property
    def env(self) -> dict[str, str]:
        return {PORT: str(self.server_address[1]), PASSWORD: "secret", "PWD": "/p"}


class _Handler(BaseHTTPRequestHandler):
    server: FakeServer

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def _answer(self) -> None:
        path = self.path.partition("?")[0]
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        self.server.asked.append((self.command, self.path, json.loads(body) if body else None))
        if self.headers["authorization"] != "Basic " + base64.b64encode(b"opencode:secret").decode():
            self.send_error(401)
        elif self.server.answers.get(path, True) is None:
            self.send_error(404)
        elif path == "/event" and self.server.loses > 0:
            self.server.loses -= 1
            self.server.stopped.wait(20)
        elif path == "/event":
            self._stream()
        else:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(self.server.answers.get(path, True)).encode())

    def _stream(self) -> None:
        self.send_response(200)
        self.end_headers()
        sent = 0
        while not self.server.stopped.wait(0.01):
            for event in self.server.stream[sent:]:
                self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
                sent += 1


@pytest.fixture
def port() -> Iterator[FakeServer]:
    server = FakeServer()
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield server
    server.stopped.set()
    server.shutdown()
    server.server_close()
    thread.join()


def wait(condition: Any) -> None:
    """Until a thread has come to it."""
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.005)


def server_of(port: FakeServer) -> Server:
    found = Server.of(port.env)
    assert found is not None
    return found


@pytest.fixture
def word(port: FakeServer, tmp_path: Path) -> Iterator[Word]:
    listening = Word(server_of(port), os.getpid(), tmp_path)
    listening.listen()
    wait(lambda: listening.answers)
    yield listening
    listening.close()


def test_who_listens_to_it_is_told_what_no_file_shows_and_of_no_word_besides(port: FakeServer, tmp_path: Path) -> None:
    told: list[str] = []
    listening = Word(server_of(port), os.getpid(), tmp_path, lambda: told.append(listening.front or ""))
    listening.listen()
    wait(lambda: listening.answers)
    port.stream += [
        created("ses_1", 10),
        {"type": "message.part.updated", "properties": {"sessionID": "ses_1"}},
        {"type": "tui.session.select", "properties": {"sessionID": "ses_2"}},
        {"type": "session.idle", "properties": {"sessionID": "ses_2"}},
    ]
    wait(lambda: len(told) == 3)
    assert told == ["", "ses_2", "ses_2"], "that it answers, what was selected, and the end of the turn"
    listening.close()


def created(identity: str, at: float, parent: str | None = None) -> dict[str, object]:
    info = {"id": identity, "time": {"created": at * 1000}, **({"parentID": parent} if parent else {})}
    return {"type": "session.created", "properties": {"sessionID": identity, "info": info}}


def prompted(session: str, at: float) -> dict[str, object]:
    info = {"id": "msg_1", "role": "user", "sessionID": session, "time": {"created": at * 1000}}
    return {"type": "message.updated", "properties": {"sessionID": session, "info": info}}


def test_a_password_is_needed_and_is_shown_nowhere(port: FakeServer) -> None:
    wrong = Server.of({**port.env, PASSWORD: "guessed"})
    assert wrong is not None
    with pytest.raises(ServerAway, match="401"):
        wrong.get("/session/status")
    assert server_of(port).get("/session/status") == {}
    assert "secret" not in repr(server_of(port))
    assert port.asked[-1][1] == "/session/status?directory=%2Fp"
    assert Server.of({}) is None


def test_a_port_that_nobody_listens_on_is_away(port: FakeServer) -> None:
    gone = Server(1, "/p", "")
    with pytest.raises(ServerAway, match="port 1"):
        gone.get("/session/status")
    with pytest.raises(ServerAway, match="port 1"):
        list(gone.events(1.0))


def test_the_conversation_in_front_is_the_last_that_was_begun_spoken_in_or_selected(word: Word) -> None:
    word.hear(created("ses_1", 10))
    assert word.front == "ses_1"
    word.hear(created("ses_2", 20))
    word.hear(created("ses_sub", 21, parent="ses_2"))
    word.hear(prompted("ses_sub", 22))
    assert word.front == "ses_2"
    word.hear(prompted("ses_1", 9))  # an old message is told again when its summary is made
    assert word.front == "ses_2"
    word.hear(prompted("ses_1", 30))
    assert word.front == "ses_1"
    word.hear({"type": "tui.session.select", "properties": {"sessionID": "ses_2"}})
    assert word.front == "ses_2"
    word.hear({"type": "session.deleted", "properties": {"info": {"id": "ses_2"}}})
    assert word.front is None


def test_events_reach_the_word_as_they_come(word: Word, port: FakeServer) -> None:
    assert word.limits == {"scripted/scripted-1": Limits(200_000, 8_192)}
    port.stream.append({"type": "session.status", "properties": {"sessionID": "ses_1", "status": {"type": "busy"}}})
    wait(lambda: word.busy("ses_1"))
    port.stream.append({"type": "session.idle", "properties": {"sessionID": "ses_1"}})
    wait(lambda: word.busy("ses_1") is False)


NEXT = 1_794_800_000.0


def retrying(session: str, words: str, next: float = NEXT) -> dict[str, object]:
    status = {"type": "retry", "attempt": 1, "message": words, "next": next * 1000}
    return {"type": "session.status", "properties": {"sessionID": session, "status": status}}


def part(session: str, kind: str) -> dict[str, object]:
    return {"type": "message.part.updated", "properties": {"sessionID": session, "part": {"type": kind}}}


@pytest.mark.parametrize(
    ("words", "kind"), [("Rate limit reached", "rate_limit"), ("Provider is overloaded", "overloaded")]
)
def test_a_request_that_it_will_make_again_is_told_with_its_words_and_the_time_until_an_answer_begins(
    home: dict[str, str], word: Word, words: str, kind: str
) -> None:
    word.hear(created(OLD, 10))
    word.hear(retrying(OLD, words))
    told = status(binding(home, None), word)
    assert told.state is State.BUSY
    assert told.tries_again is not None
    assert (told.tries_again.failed.kind, told.tries_again.failed.text, told.tries_again.at) == (kind, words, NEXT)
    word.hear(retrying(OLD, words))
    assert status(binding(home, None), word) == told, "the same one again is no news"
    word.hear({"type": "session.status", "properties": {"sessionID": OLD, "status": {"type": "busy"}}})
    word.hear(part(OLD, "text"))  # of a prompt that a person sends meanwhile
    assert status(binding(home, None), word) == told, "that it tries is no answer"
    word.hear(retrying(OLD, words, NEXT + 60))
    again = status(binding(home, None), word).tries_again
    assert again is not None
    assert again.at == NEXT + 60
    word.hear(part(OLD, "step-start"))
    served = status(binding(home, None), word)
    assert (served.state, served.tries_again) == (State.BUSY, None)


def test_a_request_that_is_given_up_or_interrupted_is_tried_again_no_more(word: Word) -> None:
    word.hear(retrying("ses_1", "Rate limit reached"))
    assert word.tries_again("ses_1") is not None
    word.hear({"type": "session.status", "properties": {"sessionID": "ses_1", "status": {"type": "idle"}}})
    assert (word.tries_again("ses_1"), word.busy("ses_1")) == (None, False)


def test_an_answer_that_names_its_conversation_only_in_its_part_is_one(word: Word) -> None:
    word.hear(retrying("ses_1", "Rate limit reached"))
    older = {"part": {"type": "step-start", "sessionID": "ses_1", "id": "prt_1"}}
    word.hear({"type": "message.part.updated", "properties": older})
    assert word.tries_again("ses_1") is None


def test_a_conversation_that_is_deleted_waits_for_nobody(word: Word) -> None:
    word.hear(created("ses_1", 10))
    word.hear(created("ses_sub", 20, parent="ses_1"))
    word.hear(retrying("ses_sub", "Rate limit reached"))
    word.hear({"type": "session.deleted", "properties": {"info": {"id": "ses_sub"}}})
    assert word.tries_again("ses_sub") is None
    assert (word.tries_again("ses_1"), word.busy("ses_sub")) == (None, False)


def test_a_sub_agent_that_is_not_served_holds_up_the_conversation_that_it_works_for(word: Word) -> None:
    word.hear(created("ses_1", 10))
    word.hear(created("ses_sub", 20, parent="ses_1"))
    word.hear(retrying("ses_sub", "Rate limit reached"))
    assert word.tries_again("ses_1") is not None
    assert word.tries_again("ses_2") is None


def busy(session: str) -> dict[str, object]:
    return {"type": "session.status", "properties": {"sessionID": session, "status": {"type": "busy"}}}


def test_a_sub_agent_that_is_not_served_holds_up_nobody_while_another_one_works(word: Word) -> None:
    word.hear(created("ses_1", 10))
    word.hear(busy("ses_1"))
    for sub in ("ses_a", "ses_b"):
        word.hear(created(sub, 20, parent="ses_1"))
        word.hear(busy(sub))
    word.hear(retrying("ses_b", "Rate limit reached"))
    assert word.tries_again("ses_1") is None
    word.hear(retrying("ses_a", "Too many", NEXT - 60))
    again = word.tries_again("ses_1")
    assert again is not None
    assert (again.failed.text, again.at) == ("Too many", NEXT - 60), "the work goes on with the first to be served"
    word.hear(part("ses_a", "step-start"))
    assert word.tries_again("ses_1") is None
    word.hear({"type": "session.idle", "properties": {"sessionID": "ses_a"}})
    again = word.tries_again("ses_1")
    assert again is not None
    assert again.at == NEXT, "nobody else is left at work"


def test_an_answer_that_begins_after_a_wait_wakes_whoever_listens(word: Word, port: FakeServer) -> None:
    woken = threading.Event()
    word.hear(retrying("ses_1", "Rate limit reached"))
    word._told = woken.set
    port.stream.append(part("ses_1", "step-start"))
    wait(woken.is_set)
    assert word.tries_again("ses_1") is None


def test_what_was_said_before_anybody_listened_is_asked_for(port: FakeServer, tmp_path: Path) -> None:
    port.answers["/session/status"] = {
        "ses_sub": {"type": "busy"}, "ses_1": {"type": "retry", "message": "Too many", "next": NEXT * 1000},
    }  # fmt: skip
    port.answers["/session/ses_sub"] = {"id": "ses_sub", "parentID": "ses_1"}
    port.answers["/session/ses_1"] = {"id": "ses_1"}
    asked = {"id": "per_1", "sessionID": "ses_sub", "permission": "bash", "patterns": ["rm *"]}
    port.answers["/permission"] = [asked]
    word = Word(server_of(port), os.getpid(), tmp_path)
    assert (word.busy("ses_1"), word.front) == (None, None)
    word.listen()
    wait(lambda: word.answers)
    assert (word.busy("ses_1"), word.front) == (True, "ses_1")
    again = word.tries_again("ses_1")
    assert again is not None
    assert (again.failed.text, again.at) == ("Too many", NEXT)
    assert word.asks("ses_1") == "asks for permission: bash rm *"
    word.hear({"type": "permission.replied", "properties": {"sessionID": "ses_sub", "requestID": "per_1"}})
    assert word.asks("ses_1") is None
    word.close()


# -- a first turn that nobody heard ------------------------------------------------------------------

READ = "Begin with the reader."


@contextmanager
def started_with(home: Mapping[str, str], *words: str, port: int = 1) -> Iterator[int]:
    """A process that looks like an opencode with these words on its command line."""
    program = Path(home["PATH"]) / "opencode"
    program.write_text("#!/bin/sh\nread line\n", encoding="utf-8")
    command = [str(program), *words, "--port", str(port)]
    env = {**os.environ, PORT: str(port), **home}
    with subprocess.Popen(command, stdin=subprocess.PIPE, env=env) as process:
        wait(lambda: b"opencode" in Path(f"/proc/{process.pid}/cmdline").read_bytes())
        yield process.pid
        process.communicate(b"\n", timeout=20)


def begins(home: Mapping[str, str], talk: str, words: str, at: float, parent: str | None = None) -> None:
    """A conversation whose first turn is over when somebody looks."""
    begin_talk(home, talk, at)
    said: list[tuple[str, list[dict[str, object]]]] = [
        ("user", [{"type": "text", "text": f"{words}\n"}, {"type": "text", "text": "a reminder", "synthetic": True}]),
        ("assistant", [{"type": "text", "text": "I read it."}]),
    ]
    with sqlite3.connect(database(home)) as connection:
        connection.execute("update session set parent_id = ? where id = ?", (parent, talk))
        for n, (role, parts) in enumerate(said):
            message, when = f"msg_{talk}_{n}", (at + n) * 1000
            data = {"role": role, "time": {"created": when, "completed": when}, "finish": "stop"}
            row = (message, talk, when, when, json.dumps(data))
            connection.execute("insert into message values (?, ?, ?, ?, ?)", row)
            for k, part in enumerate(parts):
                piece = (f"prt_{talk}_{n}_{k}", message, talk, when, when, json.dumps(part))
                connection.execute("insert into part values (?, ?, ?, ?, ?, ?)", piece)


def said_by(home: Mapping[str, str], word: Word, pid: int) -> str | None:
    """Which conversation the process has, where none was known before."""
    return status(binding(home, None, pid), word).agent_session


def test_a_first_turn_that_was_over_before_anybody_listened_is_known_by_the_prompt_of_the_process(
    home: dict[str, str], word: Word
) -> None:
    now = time.time()
    begins(home, "ses_before", READ, now - 600)
    begins(home, "ses_mine", READ, now + 1)
    begins(home, "ses_sub", READ, now + 1, parent="ses_mine")
    begins(home, "ses_neighbours", "Begin with the writer.", now + 1)
    with started_with(home, f"--prompt={READ}") as pid:
        assert said_by(home, word, pid) == "ses_mine"
        assert status(binding(home, OLD, pid), word).agent_session == "ses_mine", "its predecessor has the other one"
        begin_talk(home, "ses_used", now + 2)
        assert status(binding(home, "ses_used", pid), word).agent_session == "ses_used", "what it has goes on to hold"
        word.hear(created("ses_next", now + 5))
        assert said_by(home, word, pid) == "ses_next"


def test_a_session_whose_first_turn_nobody_heard_is_followed(
    home: dict[str, str], port: FakeServer, tmp_path: Path
) -> None:
    begins(home, "ses_mine", READ, time.time() + 1)
    number = port.server_address[1]
    with started_with({**home, **port.env}, "--prompt", READ, port=number) as pid:
        session = replace(a_session(tmp_path), agent="opencode", pid=pid, agent_session=None)
        watch = Watch(session, agent := OpenCode(), tmp_path, {**home, **port.env}, SystemClock())
        wait(lambda: agent.answers(watch.binding))
        watch.refresh()
        assert watch.follow_word()
        assert watch.session.agent_session == "ses_mine"
        assert watch.session.transcript == transcript(database(home), "ses_mine")
        watch.read()
        assert watch.conversation.last_said() == "I read it."


def test_of_two_first_turns_with_the_same_words_neither_is_taken(home: dict[str, str], word: Word) -> None:
    for talk in ("ses_1", "ses_2"):
        begins(home, talk, READ, time.time() + 1)
    with started_with(home, f"--prompt={READ}") as pid:
        assert status(binding(home, None, pid), word) == Status(State.IDLE)


def test_a_first_turn_is_not_taken_while_a_neighbour_may_have_begun_it_with_the_same_words(
    home: dict[str, str], word: Word
) -> None:
    with started_with(home, "--prompt", READ) as pid:
        begins(home, "ses_1", READ, time.time() + 1)
        with started_with(home, f"--prompt={READ}", "-m", "a/b"):
            assert said_by(home, word, pid) is None
        assert said_by(home, word, pid) == "ses_1"


def test_of_one_that_a_person_started_nobody_knows_where_they_are_by_now(home: dict[str, str], word: Word) -> None:
    begins(home, "ses_1", READ, time.time() + 1)
    with started_with({**home, PORT: ""}, "--prompt", READ) as pid:
        assert said_by(home, word, pid) is None


@pytest.mark.parametrize("chosen", [["--session", "ses_0"], ["-c"], ["--continue"], ["-s=ses_0", "--fork"]])
def test_who_goes_on_with_an_earlier_conversation_begins_none_with_its_prompt(
    home: dict[str, str], word: Word, chosen: list[str]
) -> None:
    begins(home, "ses_neighbours", READ, time.time() + 1)
    with started_with(home, *chosen, "--prompt", READ) as pid:
        assert said_by(home, word, pid) is None


def test_a_port_that_is_asked_while_it_starts_is_given_longer_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("batonpass.agents.opencode.word._AGAIN_SECONDS", 0.001)
    tried: list[float] = []

    class Deaf(Server):
        def events(self, within: float) -> Iterator[dict[str, object]]:
            tried.append(within)
            raise ServerAway("it does not answer")

    deaf = Word(Deaf(1, "/p", ""), os.getpid(), tmp_path)
    deaf.listen()
    wait(lambda: len(tried) > 4)
    deaf.close()
    assert tried[:5] == [0.25, 0.5, 1.0, 2.0, 2.0]


def test_a_request_that_was_lost_while_it_started_is_made_again(port: FakeServer, tmp_path: Path) -> None:
    port.loses = 2
    word = Word(server_of(port), os.getpid(), tmp_path)
    word.listen()
    wait(lambda: word.answers)
    assert [path.partition("?")[0] for _, path, _ in port.asked][:3] == ["/event"] * 3
    word.close()


def test_a_wait_goes_on_while_the_port_is_silent_until_the_record_shows_an_answer(
    home: dict[str, str], tmp_path: Path
) -> None:
    away = Word(Server(1, "/p", ""), os.getpid(), tmp_path)
    away.hear(created(OLD, 10))
    open_a_turn(home, OLD, time.time())
    away.hear(retrying(OLD, "Rate limit reached"))
    told = status(binding(home, OLD), away)
    assert told.state is State.BUSY
    assert told.tries_again is not None
    assert told.tries_again.at == NEXT
    open_a_turn(home, OLD, time.time() + 1)
    served = status(binding(home, OLD), away)
    assert (served.state, served.tries_again) == (State.BUSY, None)


def test_who_listens_anew_finds_the_same_wait_with_its_first_date_and_it_is_never_away(
    word: Word, port: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    word.hear(created("ses_1", 10))
    word.hear(retrying("ses_1", "Too many"))
    first = word.tries_again("ses_1")
    assert first is not None
    retry = {"type": "retry", "message": "Too many", "next": NEXT * 1000}
    port.answers["/session/status"] = {"ses_2": {"type": "busy"}, "ses_1": retry}
    seen: list[object] = []

    def is_users(conversation: str) -> bool:
        seen.append(word.tries_again("ses_1"))  # as another thread may at any moment
        return True

    monkeypatch.setattr(word, "_is_users", is_users)
    word._catch_up()
    assert [*seen, word.tries_again("ses_1")] == [first] * 3
    port.answers["/session/status"] = {}
    word._catch_up()
    assert word.tries_again("ses_1") is None


def test_of_every_sub_agent_that_is_at_work_it_is_asked_for_whom(port: FakeServer, tmp_path: Path) -> None:
    retry = {"type": "retry", "message": "Too many", "next": NEXT * 1000}
    port.answers["/session/status"] = {"ses_1": {"type": "busy"}, "ses_sub": retry}
    port.answers["/session/ses_1"] = {"id": "ses_1"}
    port.answers["/session/ses_sub"] = {"id": "ses_sub", "parentID": "ses_1"}
    word = Word(server_of(port), os.getpid(), tmp_path)
    word.listen()
    wait(lambda: word.answers)
    assert word.front == "ses_1"
    assert word.tries_again("ses_1") is not None
    word.close()


def edit(path: str, *patterns: str, permission: str = "edit") -> dict[str, object]:
    about = {"id": "per_9", "sessionID": "ses_1", "permission": permission, "patterns": list(patterns)}
    return {"type": "permission.asked", "properties": {**about, "metadata": {"filepath": path}}}


def test_writing_the_draft_is_allowed_and_nothing_else(word: Word, port: FakeServer, tmp_path: Path) -> None:
    drafts = tmp_path / "p" / ".baton" / "drafts" / "s"
    drafts.mkdir(parents=True)
    mine = f"{drafts}/c-1.md"

    def replies() -> list[tuple[str, str, Any]]:
        return [call for call in port.asked if "/reply" in call[1]]

    word.hear(edit(mine, "c-1.md"))
    assert replies() == []  # nothing was asked for
    (tmp_path / "permit.json").write_text(json.dumps({"folder": str(drafts)}), encoding="utf-8")
    word.hear(edit(f"{tmp_path}/p/main.py", "main.py"))
    word.hear(edit(f"{drafts}/../../../main.py", "main.py"))
    word.hear(edit(mine, "c-1.md", "main.py"))
    word.hear(edit(f"{mine}, {tmp_path}/p/main.py", "main.py, c-1.md"))
    word.hear(edit(mine, "c-1.md", permission="bash"))
    assert replies() == []
    assert word.asks("ses_1") is not None
    word.hear(edit(mine, ".baton/drafts/s/c-1.md"))
    ((_, path, body),) = replies()
    assert (path.partition("?")[0], body) == ("/permission/per_9/reply", {"reply": "once"})


# -- state -------------------------------------------------------------------------------------------


def binding(home: Mapping[str, str], talk: str | None, pid: int | None = None) -> Binding:
    return Binding(pid or os.getpid(), talk, None, Path(home["HOME"]), home)


def open_a_turn(home: Mapping[str, str], session: str, at: float) -> None:
    data = json.dumps({"role": "user", "time": {"created": at * 1000}})
    with sqlite3.connect(database(home)) as connection:
        row = ("msg_zz", session, at * 1000, at * 1000, data)
        connection.execute("insert or replace into message values (?, ?, ?, ?, ?)", row)


def test_state_is_the_ports_word_where_it_answers(home: dict[str, str], word: Word) -> None:
    assert status(binding(home, None), word).state is State.IDLE
    word.hear(created(OLD, 10))
    idle = status(binding(home, None), word)
    assert (idle.state, idle.agent_session) == (State.IDLE, OLD)
    word.hear({"type": "session.status", "properties": {"sessionID": OLD, "status": {"type": "busy"}}})
    assert status(binding(home, None), word).state is State.BUSY
    word.hear(edit("/p/main.py", "main.py") | {"properties": {"id": "q", "sessionID": OLD, "permission": "bash"}})
    waiting = status(binding(home, None), word)
    assert (waiting.state, waiting.waiting_for) == (State.WAITING, "asks for permission: bash")


def test_without_a_port_the_record_tells(home: dict[str, str]) -> None:
    assert status(binding(home, None), None).state is State.UNKNOWN
    assert status(binding(home, OLD), None).state is State.IDLE
    open_a_turn(home, OLD, time.time())
    assert status(binding(home, OLD), None).state is State.BUSY
    open_a_turn(home, OLD, 1_794_771_300.0)
    assert status(binding(home, OLD), None).state is State.IDLE, "cut off with an earlier process"


def begin_talk(home: Mapping[str, str], identity: str, at: float) -> None:
    """A conversation in the folder in which this test runs."""
    with sqlite3.connect(database(home)) as connection:
        connection.execute("create temp table one as select * from session where id = ?", (OLD,))
        row = (identity, os.getcwd(), at * 1000, at * 1000)
        connection.execute("update one set id = ?, directory = ?, time_created = ?, time_updated = ?", row)
        connection.execute("insert into session select * from one")


def test_one_whose_port_does_not_answer_yet_is_not_guessed_at(home: dict[str, str], tmp_path: Path) -> None:
    begin_talk(home, "ses_of_another", time.time())
    silent = Word(Server(1, "/p", ""), os.getpid(), tmp_path)
    assert status(binding(home, OLD), silent).agent_session == OLD
    assert status(binding(home, OLD), None).agent_session == OLD, "before it was first looked at"


def test_one_whose_port_stays_silent_is_told_and_followed_by_its_record(
    home: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("batonpass.agents.opencode.word._AGAIN_SECONDS", 0.01)
    agent, bound = OpenCode(), binding({**home, PORT: "1"}, OLD)
    assert agent.answers(bound) is None, "it may just be slow"
    monkeypatch.setattr("batonpass.agents.opencode.word._PATIENCE_SECONDS", 0.0)
    assert (agent.answers(bound), agent.control(bound)) == (False, None)
    assert agent.answers(binding(home, OLD)) is None, "it was given no port"
    begin_talk(home, "ses_of_another", time.time())
    assert agent.status(bound).agent_session == status(binding(home, OLD), None).agent_session


def test_without_a_port_the_conversation_of_another_process_is_never_taken_for_this_ones(
    home: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys.modules[status.__module__], "_LOOK_SECONDS", 1e-9)  # look afresh each time
    assert status(binding(home, OLD), None).agent_session == OLD
    program = Path(home["PATH"]) / "opencode"
    program.write_text("#!/bin/sh\nread line\n", encoding="utf-8")
    with subprocess.Popen([program, "run", "hello"], stdin=subprocess.PIPE) as other:
        wait(lambda: b"opencode" in Path(f"/proc/{other.pid}/cmdline").read_bytes())
        begin_talk(home, "ses_run", time.time())
        assert status(binding(home, OLD), None).agent_session == OLD, "while it runs"
        other.communicate(b"\n", timeout=20)
    assert status(binding(home, OLD), None).agent_session == OLD, "when it is gone"
    begin_talk(home, "ses_mine", time.time())
    assert status(binding(home, OLD), None).agent_session == "ses_mine"


def test_a_turn_that_ended_with_a_refused_tool_is_over_though_nothing_says_so(home: dict[str, str]) -> None:
    def answered(at: float) -> None:
        times = {"created": at * 1000, "completed": at * 1000}
        data = json.dumps({"role": "assistant", "time": times, "finish": "tool-calls"})
        with sqlite3.connect(database(home)) as connection:
            row = ("msg_zz", OLD, at * 1000, at * 1000, data)
            connection.execute("insert or replace into message values (?, ?, ?, ?, ?)", row)

    answered(time.time())
    assert status(binding(home, OLD), None).state is State.BUSY, "the next answer is due at once"
    answered(time.time() + 60)
    assert status(binding(home, OLD), None).state is State.IDLE


def test_listening_goes_on_after_a_word_that_nobody_foresaw(
    word: Word, port: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = threading.Event()

    def hear(event: Mapping[str, object]) -> None:
        heard.set()
        raise OverflowError("no such number")

    monkeypatch.setattr(word, "hear", hear)
    port.stream.append({"type": "session.idle", "properties": {}})
    wait(heard.is_set)
    wait(lambda: len([call for call in port.asked if call[1].startswith("/event")]) > 1)


def test_a_prompt_that_was_taken_back_before_its_answer_is_no_turn(home: dict[str, str], word: Word) -> None:
    word.hear(created(OLD, 10))
    open_a_turn(home, OLD, time.time())
    assert status(binding(home, OLD), word).state is State.BUSY, "the record is ahead of the port for a moment"
    open_a_turn(home, OLD, time.time() + 60)  # long ago or ahead: clocks are set
    assert status(binding(home, OLD), word).state is State.IDLE


def test_a_process_that_is_gone_is_dead_and_no_process_is_unknown(home: dict[str, str]) -> None:
    assert status(binding(home, OLD, pid=2**22 + 1), None).state is State.DEAD
    assert status(Binding(None, OLD, None, Path("/"), home), None).state is State.UNKNOWN


def test_a_conversation_of_the_past_is_found_by_its_id_or_its_transcript(home: dict[str, str]) -> None:
    found = past(PARENT, home)
    assert found is not None
    path = transcript(database(home), PARENT)
    assert (found.agent_session, found.transcript, found.folder) == (PARENT, path, Path("/home/dev/project"))
    assert past(str(path), {}) == found
    assert past(CHILD, home) is None, "a sub-agent's"
    assert past("ses_unknown", home) is None
    assert past("../../etc/passwd", home) is None


def test_a_neighbour_in_the_same_folder_does_not_hold_a_conversation_that_it_was_not_started_with(
    home: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    program = Path(home["PATH"]) / "opencode"
    program.write_text("#!/bin/sh\nread line\n", encoding="utf-8")
    monkeypatch.chdir(folder)
    begin_talk(home, "ses_mine", time.time() + 60)

    def beside(*words: str, env: Mapping[str, str]) -> tuple[int | None, int | None]:
        with subprocess.Popen([program, *words], cwd=folder, stdin=subprocess.PIPE, env={**os.environ, **env}) as other:
            wait(lambda: b"opencode" in Path(f"/proc/{other.pid}/cmdline").read_bytes())
            found = past("ses_mine", home)
            assert found is not None
            who = {other.pid: 1, None: None}
            seen = who.get(found.pid, found.pid), who.get(found.perhaps, found.perhaps)
            other.communicate(b"\n", timeout=20)
            return seen

    assert beside("--session", "ses_mine", env={}) == (1, None)
    assert beside("--session", "ses_other", env={}) == (None, None)
    assert beside("--port", "4100", env={PORT: "4100"}) == (None, None), "its own watch knows what it has"
    assert beside(env={}) == (None, 1), "of one that cannot be asked nobody can tell"


def test_it_has_a_conversation_once_its_port_answers_and_finds_it(home: dict[str, str], port: FakeServer) -> None:
    agent = OpenCode()
    port.answers["/session/ses_unknown"] = None
    known, unknown = (binding({**home, **port.env}, one) for one in (OLD, "ses_unknown"))
    wait(lambda: agent.holds(known))
    assert agent.status(unknown).state is State.IDLE, "as its record would have it"
    assert not agent.holds(unknown)
    wait(lambda: [path for _, path, _ in port.asked if "ses_unknown" in path] and not agent._word._looked_for)  # type: ignore[union-attr]
    assert not agent.holds(unknown)
    assert not OpenCode().holds(binding(home, OLD)), "without a port it says nothing"
    assert agent._word is not None
    agent._word.close()


def test_whoever_wants_to_know_what_it_has_does_not_wait_for_its_port(
    home: dict[str, str], port: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent, known, slow = OpenCode(), binding({**home, **port.env}, OLD), threading.Event()
    asking: list[threading.Thread] = []
    get = Server.get

    def slowly(server: Server, path: str) -> object:
        if path.endswith(OLD):
            asking.append(threading.current_thread())
            slow.wait(20)
        return get(server, path)

    monkeypatch.setattr(Server, "get", slowly)
    agent.status(known)
    assert agent._word is not None
    wait(lambda: agent.answers(known))
    assert not agent.holds(known)
    wait(lambda: asking)
    assert not agent.holds(known), "not as long as it has not said so"
    assert [one is threading.current_thread() for one in asking] == [False], "and it is asked once at a time"
    slow.set()
    wait(lambda: agent.holds(known))
    agent._word.close()


def test_a_process_that_is_no_opencode_is_not_found() -> None:
    assert find(os.getpid(), None) is None


# -- control -----------------------------------------------------------------------------------------


@pytest.fixture
def control(word: Word, home: dict[str, str]) -> Control:
    return Control(word, database(home))


async def test_a_prompt_goes_with_the_model_and_mode_of_its_conversation(control: Control, port: FakeServer) -> None:
    await control.submit(OLD, "write it down")
    method, path, body = port.asked[-1]
    assert (method, path.partition("?")[0]) == ("POST", f"/session/{OLD}/prompt_async")
    assert body == {
        "parts": [{"type": "text", "text": "write it down"}], "agent": "build",
        "model": {"providerID": "scripted", "modelID": "scripted-1"},
    }  # fmt: skip


async def test_a_fresh_conversation_is_like_the_one_before_and_is_brought_to_the_front(
    control: Control, port: FakeServer, word: Word
) -> None:
    assert await control.fresh(OLD) == "ses_new"
    made, shown = port.asked[-2:]
    assert made[2] == {"agent": "build", "model": {"providerID": "scripted", "id": "scripted-1"}}
    assert (shown[1].partition("?")[0], shown[2]) == ("/tui/select-session", {"sessionID": "ses_new"})
    assert word.front == "ses_new"
    await control.back(OLD)
    assert word.front == OLD


async def test_a_port_that_refuses_is_an_error_that_says_so(control: Control, port: FakeServer) -> None:
    port.answers["/session"] = {"id": "../x"}
    with pytest.raises(ControlError, match="without an id"):
        await control.fresh(OLD)
    closed = Control(Word(Server(1, "/p", ""), os.getpid(), Path("/")), Path("/nowhere"))
    with pytest.raises(ControlError, match="port 1"):
        await closed.submit(OLD, "x")


def test_there_is_an_interface_only_while_the_port_answers(home: dict[str, str], port: FakeServer) -> None:
    agent = OpenCode()
    assert agent.control(binding(home, OLD)) is None
    bound = binding({**home, **port.env}, OLD)
    agent.status(bound)
    wait(lambda: agent.control(bound) is not None)
    assert agent.window("scripted/scripted-1", home) == 200_000
    assert agent.usable(200_000, home, "scripted/scripted-1") == 191_808
    (used, *_) = [e for e in agent.record(transcript(database(home), OLD)).read().events if hasattr(e, "window")]
    assert used.window == 200_000
    assert agent._word is not None
    agent._word.close()


def test_one_that_is_closed_listens_no_more(port: FakeServer, tmp_path: Path) -> None:
    word = Word(server_of(port), os.getpid(), tmp_path)
    word.listen()
    wait(lambda: word.answers)
    word.close()
    port.stream.append({"type": "server.heartbeat"})
    wait(lambda: not word.answers)
