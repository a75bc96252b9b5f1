"""Codex behind its shared background server: whose conversation is whose, asked of a server that a test plays."""

import json
import os
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import sleep
from typing import Any

import pytest

from batonpass.agents import processes
from batonpass.agents.base import Binding, FrontUnknown
from batonpass.agents.codex import Codex
from batonpass.agents.codex.server import ServerAway, connected, control_socket
from batonpass.agents.codex.shared import Seen, Shared, Talk, foremost
from batonpass.agents.codex.turns import Turns
from batonpass.session import State

MINE, OTHER, LATER = (f"01a1ec6{n}-5ddf-7a70-863d-959abb2c0146" for n in (1, 2, 3))


class Played:
    """A server with conversations, each of which was brought up by the window at some port."""

    def __init__(self, home: Path, wire: Path) -> None:
        self.home = home
        self.threads: dict[str, dict[str, Any]] = {}
        self.asked: list[str] = []
        self.unlisted: set[str] = set()  # up, and not told of yet
        self.answers = threading.Event()
        self.answers.set()
        path = control_socket(home)
        path.parent.mkdir(parents=True)
        (home / "thread-writer-locks").mkdir()
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(wire))
        path.symlink_to(wire)  # as Codex does it, for a socket's own path must be short
        self._listener.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def bring_up(self, thread: str, port: int, at: float, **more: object) -> Path:
        """A conversation that somebody has in front now; gives its rollout, which is not there yet."""
        rollout = self.home / f"rollout-{thread}.jsonl"
        told = {"threadSource": "user", "parentThreadId": None, "path": str(rollout), **more}
        self.threads[thread] = {"thread": told, "origin": f"http://127.0.0.1:{port}"}
        self.lock(thread).touch()
        os.utime(self.lock(thread), (at, at))
        return rollout

    def lock(self, thread: str) -> Path:
        return self.home / "thread-writer-locks" / f"{thread}.lock"

    def _serve(self) -> None:
        while True:
            try:
                wire, _ = self._listener.accept()
            except OSError:
                return
            with wire, wire.makefile("rb") as heard:
                list(iter(heard.readline, b"\r\n"))
                wire.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n")
                while head := heard.read(2):
                    size = struct.unpack(">H", heard.read(2))[0] if head[1] & 127 == 126 else head[1] & 127
                    mask = heard.read(4)
                    asked = json.loads(bytes(byte ^ mask[n % 4] for n, byte in enumerate(heard.read(size))))
                    if "id" in asked:
                        self.answers.wait(30)
                        self.asked.append(asked["method"])
                        _send(wire, {"method": "configWarning", "params": {}})  # it speaks without being asked, too
                        _send(wire, {"id": asked["id"], **self._answer(asked["method"], asked["params"])})

    def _answer(self, method: str, params: dict[str, str]) -> dict[str, object]:
        thread = self.threads.get(params.get("threadId", ""))
        match method:
            case "initialize":
                return {"result": {}}
            case "thread/loaded/list":
                return {"result": {"data": [*(self.threads.keys() - self.unlisted)], "nextCursor": None}}
            case "thread/read" if thread:
                return {"result": {"thread": thread["thread"]}}
            case "mcpServerStatus/list" if thread:
                return {"result": {"data": [{"name": params["serverName"], "httpOrigin": thread["origin"]}]}}
            case _:
                return {"error": {"code": -32600, "message": "no such thing"}}

    def close(self) -> None:
        with suppress(OSError):  # it was closed already
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


def _send(wire: socket.socket, message: object) -> None:
    text = json.dumps(message).encode()
    half = len(text) // 2
    for first, part in ((0x01, text[:half]), (0x80, text[half:])):  # in two frames, as long ones come
        wire.sendall(bytes([first, 126]) + struct.pack(">H", len(part)) + part)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Played]:
    with tempfile.TemporaryDirectory(prefix="bt-", dir="/tmp") as short:
        played = Played(tmp_path / "codex", Path(short) / "s")
        yield played
        played.close()


@pytest.fixture
def window(server: Played, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The port on which this process, which plays the window, offers its tools."""
    monkeypatch.setattr(processes, "environment", lambda pid: {"CODEX_HOME": str(server.home)})
    with socket.create_server(("127.0.0.1", 0)) as tools, (server.home / "state_5.sqlite").open("wb"):
        yield tools.getsockname()[1]


@contextmanager
def another_window(server: Played) -> Iterator[tuple[int, int]]:
    """A process that plays the window, so that this one is only the server; gives it with its port."""
    script = (
        "import os, socket; s = socket.create_server(('127.0.0.1', 0)); "
        "d = open(os.environ['CODEX_HOME'] + '/state_5.sqlite', 'wb'); print(s.getsockname()[1], flush=True); input()"
    )
    env = {**os.environ, "CODEX_HOME": str(server.home)}
    words = [sys.executable, "-c", script]
    with subprocess.Popen(words, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        yield child.pid, int(child.stdout.readline())
        child.communicate(b"\n")


def bound(thread: str | None = None, rollout: Path | None = None) -> Binding:
    return Binding(os.getpid(), thread, rollout, Path())


def spoken(rollout: Path, *turns: tuple[str, str]) -> Path:
    """A rollout with these beginnings and ends of turns, each with its minute, long ago."""
    moments = ((kind, f"1970-01-01T00:{at}:00Z") for kind, at in turns)
    lines = (json.dumps({"timestamp": at, "payload": {"type": kind}}) + "\n" for kind, at in moments)
    rollout.write_text("".join(lines), encoding="utf-8")
    return rollout


def test_a_process_is_known_by_the_ports_that_it_listens_on(window: int) -> None:
    assert window in processes.listening(os.getpid())
    assert window not in processes.listening(os.getppid())


def test_of_two_windows_each_has_the_conversation_that_it_brought_up(server: Played, window: int) -> None:
    server.bring_up(MINE, window, at=100)
    server.bring_up(OTHER, window + 1, at=200)
    status = Codex().status(bound())
    assert (status.state, status.agent_session) == (State.IDLE, MINE)


def test_a_clear_is_followed_and_so_is_the_way_back_to_an_older_conversation(server: Played, window: int) -> None:
    agent = Codex()
    server.bring_up(MINE, window, at=100)
    assert agent.status(bound()).agent_session == MINE
    server.bring_up(LATER, window, at=200)
    assert agent.status(bound(MINE)).agent_session == LATER
    server.bring_up(MINE, window, at=300)
    assert agent.status(bound(LATER)).agent_session == MINE


def test_a_server_that_runs_below_the_window_which_started_it_is_not_that_windows_own(
    server: Played, window: int, tmp_path: Path
) -> None:
    server.bring_up(MINE, window, at=100)
    server.bring_up(OTHER, window + 1, at=200)
    locks = server.home / "thread-writer-locks"
    script = f"exec 3<'{locks}/{MINE}.lock' 4<'{locks}/{OTHER}.lock'; echo; read end\n"
    (tmp_path / "app-server").write_text(script, encoding="utf-8")
    words = ["sh", "app-server"]
    with subprocess.Popen(words, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()  # it holds both by now
        assert Codex().status(bound()).agent_session == MINE
        child.communicate(b"\n")


def test_sub_agents_are_nobodys_conversation(server: Played, window: int) -> None:
    server.bring_up(MINE, window, at=100)
    server.bring_up(OTHER, window, at=200, threadSource="subagent", parentThreadId=MINE)
    assert Codex().status(bound()).agent_session == MINE


def test_the_server_is_asked_only_when_a_conversation_was_brought_up_since(server: Played, window: int) -> None:
    agent = Codex()
    server.bring_up(MINE, window, at=100)
    agent.status(bound())
    before = len(server.asked)
    agent.status(bound())
    assert len(server.asked) == before
    server.bring_up(LATER, window, at=200)
    agent.status(bound())
    assert len(server.asked) > before


def test_a_turn_in_the_shared_server_is_told_by_the_rollout(server: Played, window: int) -> None:
    rollout = server.bring_up(MINE, window, at=100)
    line = '{"timestamp": "2099-01-01T00:00:00Z", "payload": {"type": "task_started"}}\n'
    rollout.write_text(line, encoding="utf-8")
    assert Codex().status(bound()).state is State.BUSY


def test_a_window_that_shows_nothing_of_its_own_is_refused_with_what_to_do(server: Played, window: int) -> None:
    server.bring_up(OTHER, window + 1, at=100)
    with pytest.raises(FrontUnknown, match="send it a prompt, or type /clear"):
        Codex().find(os.getpid())
    server.bring_up(MINE, window, at=200)
    found = Codex().find(os.getpid())
    assert found is not None
    assert (found.agent_session, found.transcript) == (MINE, None)


def test_a_process_that_listens_and_is_no_codex_is_not_taken_for_one(server: Played) -> None:
    with socket.create_server(("127.0.0.1", 0)):
        assert Codex().find(os.getpid()) is None


def test_a_window_is_looked_for_at_the_server_of_its_own_codex_home(server: Played) -> None:
    with another_window(server) as (pid, port):
        server.bring_up(MINE, port, at=100)
        elsewhere = Binding(pid, None, None, Path(), env={"CODEX_HOME": "/nowhere"})
        assert Codex().status(elsewhere).agent_session == MINE
        found = Codex().find(pid)
    assert found is not None
    assert found.env["CODEX_HOME"] == str(server.home)


def test_whether_it_rests_is_unknown_while_nobody_tells_which_conversation_is_in_front(
    server: Played, window: int
) -> None:
    rollout = spoken(server.bring_up(MINE, window, at=100), ("task_started", "00"), ("task_complete", "05"))
    assert Codex().status(bound(MINE, rollout)).state is State.IDLE
    spoken(server.bring_up(OTHER, window, at=200), ("task_started", "01"), ("task_complete", "02"))
    said = Codex().status(bound(MINE, rollout))
    assert (said.state, said.agent_session) == (State.UNKNOWN, None)


def test_a_server_that_is_gone_leaves_what_is_in_front_unknown(server: Played, window: int) -> None:
    agent = Codex()
    rollout = spoken(server.bring_up(MINE, window, at=100), ("task_started", "00"), ("task_complete", "01"))
    assert agent.status(bound(MINE, rollout)).agent_session == MINE
    server.close()
    server.bring_up(LATER, window, at=200)
    assert agent.status(bound(MINE, rollout)).state is State.UNKNOWN
    with pytest.raises(ServerAway), connected(control_socket(server.home)):
        pass
    assert Shared().front(os.getpid(), Turns()) is None


def test_an_answer_that_is_late_keeps_nobody_waiting_and_counts_when_it_comes(server: Played, window: int) -> None:
    agent = Codex()
    rollout = spoken(server.bring_up(MINE, window, at=100), ("task_started", "00"), ("task_complete", "01"))
    assert agent.status(bound(MINE, rollout)).agent_session == MINE
    server.answers.clear()
    server.bring_up(LATER, window, at=200)
    assert agent.status(bound(MINE, rollout)).state is State.UNKNOWN
    server.answers.set()
    while (said := agent.status(bound(MINE, rollout))).state is State.UNKNOWN:
        sleep(0.01)
    assert said.agent_session == LATER


def test_a_conversation_that_the_server_holds_and_has_not_listed_yet_may_be_the_one_in_front(server: Played) -> None:
    agent = Codex()
    with another_window(server) as (pid, port):
        rollout = spoken(server.bring_up(MINE, port, at=100), ("task_started", "00"), ("task_complete", "01"))
        binding = Binding(pid, MINE, rollout, Path())
        server.unlisted.add(LATER)
        server.bring_up(LATER, port, at=200)
        assert agent.status(binding).agent_session == MINE  # another Codex holds that one, for all that is known
        os.utime(server.lock(LATER), (300, 300))
        with server.lock(LATER).open("rb"):
            assert agent.status(binding).state is State.UNKNOWN
            server.unlisted.clear()
            while (said := agent.status(binding)).state is State.UNKNOWN:
                sleep(0.01)
    assert said.agent_session == LATER


def test_a_server_that_never_answers_is_not_waited_for_again_and_again(
    server: Played, window: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("batonpass.agents.codex.server._SECONDS", 0.05)
    server.bring_up(MINE, window, at=100)
    control = control_socket(server.home)
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(f"{os.readlink(control)}2")
        silent.listen()
        silent.setblocking(False)
        control.unlink()
        control.symlink_to(silent.getsockname())
        agent = Codex()
        agent.status(bound())
        silent.accept()[0].close()
        agent.status(bound())
        with pytest.raises(BlockingIOError):  # nobody came a second time
            silent.accept()


# -- which one is in front, decided ------------------------------------------------------------------


def seen(name: str, brought_up: float, began: float | None = None, ended: float | None = None) -> Seen:
    return Seen(Talk(name, 1, Path(name), 1), brought_up, began, ended)


@pytest.mark.parametrize(
    ("several", "front"),
    [
        ([], None),
        ([seen("a", 1)], "a"),
        ([seen("a", 1, 2, 3), seen("b", 4)], "b"),  # a clear after a turn
        ([seen("a", 1, 5, 6), seen("b", 4)], "a"),  # somebody went back and spoke
        ([seen("a", 1, 2, 6), seen("b", 4, 4.1, 5)], None),  # begun while the other was at work
        ([seen("a", 1, 2, None), seen("b", 4)], None),
        ([seen("a", 1, 7, 8), seen("b", 4, 4.1, 5)], "a"),
    ],
)
def test_the_one_where_its_user_was_last_is_in_front_unless_two_were_at_work(
    several: list[Seen], front: str | None
) -> None:
    talk = foremost(several)
    assert (talk.id if talk else None) == front
