import os
import stat
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from batonpass.cli import client
from batonpass.cli.client import NotRunning, Refused, call
from batonpass.home import socket_path
from tests.cli.fake_daemon import FakeDaemon, Refuse

# A daemon in one file: binds, answers each ping with its own pid, and ends when asked to stop.
DAEMON = """
import json, os, socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
while True:
    connection, _ = listener.accept()
    with connection, connection.makefile("rb") as lines:
        line = lines.readline()
        if line:
            connection.sendall(json.dumps({"ok": True, "result": os.getpid()}).encode() + b"\\n")
            if json.loads(line)["op"] == "stop":
                sys.exit()
"""


@pytest.fixture
def start_by(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, home: Path) -> Iterator[Callable[[str], None]]:
    """Say which Python program stands in for the daemon that a command starts."""

    def program(source: str) -> None:
        script = tmp_path / "daemon.py"
        script.write_text(textwrap.dedent(source), encoding="utf-8")
        path = socket_path(str(home))
        monkeypatch.setattr(client, "daemon_argv", lambda: [sys.executable, "-I", str(script), path])

    yield program
    for process in client._started:
        process.wait(20)
    client._started.clear()


def test_a_call_gives_the_daemons_result(daemon: FakeDaemon) -> None:
    daemon.answers["ping"] = {"pid": 1}
    assert call("ping", extra="ü") == {"pid": 1}
    assert daemon.requests == [{"op": "ping", "extra": "ü"}]


def test_an_answer_of_many_packets_arrives_whole(daemon: FakeDaemon) -> None:
    daemon.answers["handoffs_show"] = {"text": "line\n" * 500_000}
    assert call("handoffs_show") == {"text": "line\n" * 500_000}


def test_a_refusal_keeps_the_daemons_sentence_and_exit_code(daemon: FakeDaemon) -> None:
    daemon.answers["handoff"] = Refuse("There is no session here.", 3)
    with pytest.raises(Refused) as refusal:
        call("handoff")
    assert (refusal.value.message, refusal.value.code) == ("There is no session here.", 3)


@pytest.mark.parametrize("answer", [b"", b"{\n", b"[]\n", b'{"ok": true}\n'])
def test_an_answer_that_is_none_is_told(daemon: FakeDaemon, answer: bytes) -> None:
    daemon.answers["ping"] = answer
    with pytest.raises(Refused, match="answer to 'ping' was cut off") as refusal:
        call("ping")
    assert refusal.value.code == 1


def test_a_daemon_that_does_not_answer_in_time_is_told(daemon: FakeDaemon) -> None:
    given_up = threading.Event()
    daemon.answers["status"] = lambda request: given_up.wait(30)
    with pytest.raises(Refused, match=r"did not answer 'status' within 0\.05 s and may still be at it"):
        call("status", within=0.05)
    given_up.set()


def test_without_a_daemon_nothing_is_started_when_that_is_not_wanted(home: Path) -> None:
    with pytest.raises(NotRunning) as refusal:
        call("ping", start=False)
    assert refusal.value.code == 3
    assert list(home.iterdir()) == []


def test_a_daemon_is_started_once_and_outlives_the_call(start_by: Callable[[str], None], home: Path) -> None:
    (home / "run").mkdir()
    start_by(DAEMON)
    first = call("ping")
    assert call("ping") == first
    assert os.getsid(first) == first, "it has its own session, so that closing the terminal does not end it"
    log = home / "logs" / "daemon.log"
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    call("stop")


def test_a_stale_socket_does_not_keep_a_daemon_from_being_started(start_by: Callable[[str], None], home: Path) -> None:
    stale = FakeDaemon(home)
    stale.close()
    Path(socket_path(str(home))).touch()
    start_by("import os, sys\nos.unlink(sys.argv[1])" + DAEMON)
    assert isinstance(call("ping"), int)
    call("stop")


def test_a_daemon_that_cannot_start_is_told_with_its_last_words(
    start_by: Callable[[str], None], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "_RACE_GRACE", 0.0)
    start_by("import sys; print('warming up'); sys.exit('the database is locked')")
    with pytest.raises(Refused) as refusal:
        call("ping")
    assert refusal.value.message == (
        "The Baton daemon could not be started: it ended with code 1, saying “the database is locked”; "
        f"its log is {home}/logs/daemon.log."
    )


def test_the_words_of_an_earlier_daemon_are_not_taken_for_this_ones(
    start_by: Callable[[str], None], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "_RACE_GRACE", 0.0)
    (home / "logs").mkdir()
    (home / "logs" / "daemon.log").write_text("words of an earlier daemon\n", encoding="utf-8")
    start_by("raise SystemExit(7)")
    with pytest.raises(Refused, match="it ended with code 7; its log is"):
        call("ping")


def test_a_daemon_that_hangs_at_its_start_is_told(
    start_by: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "START_WITHIN", 0.3)
    start_by("import sys; sys.stdin = open(0); import signal; signal.alarm(20); signal.pause()")
    with pytest.raises(Refused, match=r"could not be started: it does not answer after 0\.3 s; its log is"):
        call("ping")
    client._started[-1].kill()


def test_a_state_folder_that_cannot_be_made_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("BATON_HOME", str(tmp_path / "file" / "home"))
    with pytest.raises(Refused, match="set BATON_HOME to another one"):
        call("ping")


def test_of_several_commands_at_once_only_one_starts_the_daemon(start_by: Callable[[str], None]) -> None:
    start_by(DAEMON)
    with ThreadPoolExecutor(5) as commands:
        pids = list(commands.map(lambda _: call("ping"), range(5)))
    assert len(client._started) == 1
    assert pids == [client._started[0].pid] * 5
    call("stop")


def test_a_daemon_that_lost_the_race_leaves_the_field_to_the_one_that_won(
    start_by: Callable[[str], None],
) -> None:
    start_by("import os, sys\nif os.fork():\n    sys.exit('another daemon holds the lock')\n" + DAEMON)
    assert call("ping") != client._started[0].pid
    assert client._started[0].wait(20) == 1
    call("stop")
