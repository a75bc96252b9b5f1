"""Attacks on the doors of the daemon: requests, hooks, the spool, and what tmux says."""

import asyncio
import atexit
import json
import logging
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from _fuzz_records import CLAUDE_HOOKS, CLAUDE_STATUS, SCRIPTED_HOOKS, SCRIPTED_STATUS
from _fuzz_values import Target, broken, encoded, mangled, texts, values
from hypothesis import strategies as st

from batonpass import _hook, agents
from batonpass.serve.api import Api
from batonpass.serve.operations import Operations
from batonpass.session import Kind, Session
from batonpass.supervisor.daemon import Daemon
from batonpass.supervisor.offers import Offers
from batonpass.supervisor.spool import Spool
from batonpass.supervisor.watch import Watch
from batonpass.terminals.control import Connection
from batonpass.untrusted import decode

_IDS = {"claude": "0000c1a0", "scripted": "00005c12"}
# What these would start or end is real; everything else must stand any request.
_LEFT_OUT = {"run", "adopt", "continue", "stop"}


class _Door:
    """A daemon with one session of each agent, as it stands behind its socket, and nothing running."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.folder = Path(tempfile.mkdtemp(prefix="baton-fuzz-"))
        atexit.register(shutil.rmtree, self.folder, ignore_errors=True)
        self.project = self.folder / "project"
        self.project.mkdir()
        env = {"HOME": str(self.folder), "BATON_TMUX": str(self.folder / "none")}
        self.daemon = Daemon(self.folder / "home", env)
        logging.getLogger("batonpass").setLevel(logging.CRITICAL)
        operations = Operations(self.daemon)
        table = {name: act for name, act in operations.table().items() if name not in _LEFT_OUT}
        self.api = Api(self.folder / "socket", table)
        self.operations = operations
        self.names = sorted(table)
        for agent, session in _IDS.items():
            self._add(agent, session)

    def _add(self, agent: str, session: str) -> None:
        record = Session(
            id=session,
            name=agent,
            agent=agent,
            kind=Kind.INTERACTIVE,
            project=self.project,
            host=self.daemon.host,
            pane=None,
            pid=os.getpid(),
            agent_session="s1",
            transcript=None,
            model=None,
            permission_mode=None,
            ladder=None,
            chain=0,
            adopted=False,
            created=self.daemon.clock.now(),
        )
        folder = self.daemon.launcher.folder(session)
        folder.mkdir(parents=True, mode=0o700)
        self.daemon.supervisor.add(
            Watch(record, agents.get(agent), folder, {"HOME": str(self.folder)}, self.daemon.clock)
        )

    def answer(self, line: bytes) -> dict[str, Any]:
        """The reply, which must be one that a caller can read, and no accident."""
        reply = self.loop.run_until_complete(self.api.answer(line))
        json.dumps(reply).encode("ascii")
        assert reply["ok"] or not str(reply["error"]).partition(" ")[2].startswith("failed: "), reply["error"]
        return reply


@cache
def _door() -> _Door:
    return _Door()


def _hooks(agent: str) -> Any:
    def check(given: tuple[Any, str, Any]) -> None:
        payload, role, at = given
        door, session = _door(), _IDS[agent]
        before = {path for path in door.folder.rglob("*") if "home/sessions/" not in str(path)}
        door.answer(encoded({"op": "hook", "session": session, "role": role, "at": at, "payload": payload}))
        grown = {path for path in door.folder.rglob("*") if "home/sessions/" not in str(path)} - before
        assert not {path for path in grown if path.suffix not in (".log", ".db-wal", ".db-shm")}, grown
        watch = door.daemon.supervisor.watch(session)
        assert watch is not None
        talk = watch.conversation.agent_session
        sound = _STATUS[agent](talk)
        door.answer(encoded({"op": "hook", "session": session, "role": "statusline", "at": 1.9e9, "payload": sound}))
        assert watch.reading is not None, "after bad input good input is not taken any more"
        assert watch.reading.window == 200_000

    return check


_STATUS: dict[str, Any] = {
    "scripted": lambda talk: {"session": talk, "window": 200_000, "used": 10_000},
    "claude": lambda talk: {
        "session_id": talk,
        "context_window": {"context_window_size": 200_000, "current_usage": {"input_tokens": 10_000}},
    },
}
_roles = st.sampled_from(["event", "ask", "prime", "note", "permit", "compact", "statusline"]) | texts


def _request(given: tuple[int, dict[str, Any], bool, bytes]) -> None:
    number, fields, known, junk = given
    door = _door()
    name = door.names[number % len(door.names)]
    door.answer(encoded({**fields, "op": name if known else fields.get("op")}))
    door.answer(junk)


_fields = st.dictionaries(
    st.sampled_from(
        ["session", "cwd", "project", "all", "file", "number", "id", "cycle", "why", "payload", "op", "pane"]
    ),
    values | st.sampled_from([*_IDS.values(), "claude", "../../../etc/passwd", "/dev/zero", "/"]),
)
_junk = st.binary(max_size=300) | broken(values.map(encoded))


def _spool(lines: list[bytes]) -> None:
    """Reports around broken lines are all heard, once and in order."""
    door = _door()
    spool = door.folder / "home" / "spool" / "hooks.jsonl"
    with spool.open("wb") as file:
        for number, line in enumerate(lines):
            file.write(b"\n" + line.replace(b"\n", b" ") + b"\n" + encoded({"number": number}) + b"\n")
    heard: list[object] = []

    async def take(report: Any) -> None:
        if report.keys() == {"number"}:
            heard.append(report["number"])
        else:
            await door.operations.hook(report)

    replayer = Spool(door.folder / "home", door.daemon.store)
    door.loop.run_until_complete(replayer.replay(take))
    assert heard == list(range(len(lines)))


def _report(given: tuple[bytes, str, str]) -> None:
    """What the hook process makes of a payload is one line, and speaks for its own session only."""
    payload, role, pane = given
    os.environ["TMUX_PANE"] = pane.replace("\0", "").encode("utf-8", "replace").decode("utf-8")
    line = _hook._line("0a1b2c3d", role, payload)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    try:
        request = decode(line)
    except ValueError:
        return
    assert isinstance(request, dict)
    assert (request["op"], request["session"]) == ("hook", "0a1b2c3d")


def _permit(payload: Any) -> None:
    """Only a path below the draft folder is ever allowed."""
    door = _door()
    drafts = door.project / ".baton" / "drafts" / "x"
    folder = door.folder / "home" / "sessions" / _IDS["claude"]
    Offers(folder, agents.get("claude")).permit(drafts)
    if not _hook._permit(str(folder), encoded(payload)):
        return
    wanted = os.path.realpath(os.path.join(payload.get("cwd") or "/", payload["tool_input"]["file_path"]))
    assert wanted.startswith(f"{os.path.realpath(drafts)}/")


_REQUEST: list[Any] = [
    {
        "hook_event_name": "PermissionRequest",
        "session_id": "s1",
        "cwd": "/",
        "tool_name": "Write",
        "tool_input": {"file_path": path, "content": "x"},
    }
    for path in ("/tmp/x", "../x", "/", "/tmp/project/.baton/drafts/x/../../../y")
]


class _Client:
    """A tmux client that says what it is told to, and ends."""

    def __init__(self, said: bytes) -> None:
        self.stdin = None
        self.stdout, self.stderr = asyncio.StreamReader(limit=1 << 16), asyncio.StreamReader()
        self.stdout.feed_data(said)
        self.stdout.feed_eof()
        self.stderr.feed_eof()

    def kill(self) -> None:
        return

    async def wait(self) -> int:
        return 0

    async def communicate(self) -> tuple[bytes, bytes]:
        return b"", b""


def _control(lines: list[bytes]) -> None:
    async def read() -> bool:
        connection = Connection(_Client(b"\n".join(lines)), lambda: None)  # type: ignore[arg-type]
        await connection.ended()
        return connection.closed and connection._reader.exception() is None

    assert _door().loop.run_until_complete(read())


_said = st.sampled_from(
    [
        b"%begin 1 2 1",
        b"%end 1 2 1",
        b"%error 1 2 1",
        b"%begin",
        b"%end",
        b"%exit",
        b"%subscription-changed x",
        b"%output %1 a",
        b"%begin 1 2 0",
        b"%end 1 2 0",
        b"%sessions-changed",
        b"\xff\xfe",
        b"x" * 70_000,
    ]
)

TARGETS = (
    Target("hook, claude", st.tuples(mangled(CLAUDE_HOOKS + CLAUDE_STATUS), _roles, values), _hooks("claude")),
    Target("hook, scripted", st.tuples(mangled(SCRIPTED_HOOKS + SCRIPTED_STATUS), _roles, values), _hooks("scripted")),
    Target("socket request", st.tuples(st.integers(0, 99), _fields, st.booleans(), _junk), _request),
    Target("spool", st.lists(_junk, max_size=6), _spool),
    Target("hook report", st.tuples(_junk, texts, texts), _report),
    Target("permission", mangled(_REQUEST), _permit),
    Target("tmux control mode", st.lists(_said | st.binary(max_size=80), max_size=20), _control),
)
