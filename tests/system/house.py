"""Baton as its users have it: a daemon of its own, agents in a tmux server of its own, everything in one folder."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from batonpass.home import socket_path
from batonpass.sim import chaos
from batonpass.sim.tmux_server import run_tmux
from tests import nursery
from tests.gone import gone
from tests.system.session import Session as Session

T = TypeVar("T")

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 120.0  # only something broken is waited for this long
_LOOK = 0.05
FULL = 145_000  # of the 167,000 usable tokens: above the handoff rung, below the forcing one


class Refused(Exception):
    """The daemon said no, with this sentence."""


class House:
    """One user's Baton. `call` asks the daemon, `baton` runs a command, the rest is what users do and see."""

    def __init__(self, folder: Path, tmux: str, env: Mapping[str, str] | None = None) -> None:
        self.folder, self.tmux, self.home = folder, tmux, folder / "home"
        self.projects = folder / "projects"
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "PYTHONPATH": str(ROOT / "src"),
            "BATON_HOME": str(self.home),
            "BATON_TMUX": tmux,
            **(env or {}),
        }
        self.by_name = False  # for tests that look at processes: each daemon starts anew and is no fork
        self._processes: list[nursery.Child | subprocess.Popen[bytes]] = []

    # -- the daemon --------------------------------------------------------------------------------

    def start(self) -> "House":
        """Start the daemon and return when it answers."""
        self.launch()
        self.wait("the daemon answers", self.answers)
        return self

    def launch(self, crash_at: str | None = None) -> "nursery.Child | subprocess.Popen[bytes]":
        """Start a daemon, without waiting for it: one that is to crash may do so before it answers."""
        self.home.mkdir(parents=True, exist_ok=True)
        (self.home / "run" / "chaos").unlink(missing_ok=True)
        env = {**self.env, **({chaos.ENV: crash_at} if crash_at else {})}
        process = nursery.start(("daemon", "run"), env, Path.cwd(), self.folder / "daemon.out", by_name=self.by_name)
        self._processes = [*(one for one in self._processes if one.poll() is None), process]
        return process

    def answers_or_ended(self, process: "nursery.Child | subprocess.Popen[bytes]") -> bool:
        """Wait for one of the two; True when it answers. Hooks do not start another one when it is killed."""
        self.wait("the daemon answers or crashes", lambda: process.poll() is not None or self.answers())
        (self.home / "run" / "stopped").touch()
        return process.poll() is None

    def answers(self) -> bool:
        try:
            return bool(self.call("ping"))
        except OSError:
            return False

    def kill_daemon(self, *, stay_away: bool = False) -> None:
        """End the daemon as a crash would. Hooks start another one, unless it is to stay away."""
        if stay_away:
            (self.home / "run" / "stopped").touch()
        pid = self.daemon_pid()
        if pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            assert gone(pid, PATIENCE)  # with all its threads, which may listen for longer than the first
            self.wait("the daemon is gone", lambda: self.daemon_pid() is None)

    def daemon_pid(self) -> int | None:
        """The process that holds the state directory, if it is a daemon of this house."""
        return nursery.holder(self.home, self._processes)

    def close(self) -> None:
        """End the daemon for good; the tmux server and its agents end with their fixture."""
        (self.home / "run").mkdir(parents=True, exist_ok=True)
        (self.home / "run" / "daemon.argv").unlink(missing_ok=True)  # a hook that is on its way starts no other one
        self.kill_daemon(stay_away=True)
        for process in self._processes:
            process.wait()

    def call(self, op: str, **fields: object) -> Any:
        """The daemon's answer; OSError while no daemon listens."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(PATIENCE)
            connection.connect(socket_path(str(self.home)))
            connection.sendall(json.dumps({"op": op, **fields}).encode() + b"\n")
            with connection.makefile("rb") as lines:
                line = lines.readline()
        if not line:
            raise ConnectionResetError("the daemon went away")
        answer = json.loads(line)
        if not answer["ok"]:
            raise Refused(answer["error"])
        return answer["result"]

    def baton(self, *words: str, cwd: Path | None = None, code: int = 0) -> str:
        """What a command prints; it must end with that exit code."""
        env = {**self.env, "COLUMNS": "160"}
        done = nursery.run(words, env, cwd or self.folder, self.folder / "said", PATIENCE)
        assert done.returncode == code, f"baton {' '.join(words)}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    def configure(self, text: str, project: Path | None = None) -> None:
        path = project / ".baton" / "config.yaml" if project else self.home / "config.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    # -- sessions ----------------------------------------------------------------------------------

    def project(self, name: str = "shop") -> Path:
        """A project under git with one file that is changed and not committed."""
        folder = self.projects / name
        folder.mkdir(parents=True)
        (folder / "reader.py").write_text("torn = None\n", encoding="utf-8")
        (folder / ".gitignore").write_text("tmp/\n.baton/\n.bmad/\n", encoding="utf-8")
        git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@example.org"]
        for words in (["init", "-q", "-b", "torn-lines"], ["add", "-A"], ["commit", "-qm", "first"]):
            subprocess.run([*git, *words], check=True, capture_output=True, env=self.env)
        (folder / "reader.py").write_text("torn = b''\n", encoding="utf-8")
        return folder

    def run(
        self, name: str = "shop", *, project: Path | None = None, brain: Mapping[str, object] | None = None,
        faults: Sequence[Mapping[str, object]] = (), args: Sequence[str] = (),
    ) -> "Session":  # fmt: skip
        """Start a scripted agent; by default its first turn takes it over the handoff rung."""
        folder = project or self.project(name)
        settings = {"start": 20_000, "step": 1_000, "jumps": {"1": FULL}, **(brain or {})}
        session = Session(self, name, folder, self.folder / f"{name}.faults.json")
        session.misbehave(*faults)
        words = ["--brain", json.dumps(settings), "--faults", str(session.faults), "--permission-mode", "accept"]
        started = self.call(
            "run", agent="scripted", args=[*words, *args], cwd=str(folder), env=self.env, name=name, width=120,
            height=40,
        )  # fmt: skip
        session.adopt(started)
        return session

    def status(self, session: str) -> dict[str, Any]:
        (record,) = self.call("status", session=session)["sessions"]
        return dict(record)

    def cycles(self, session: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.call("cycles_list", session=session)
        return found

    def notices(self) -> list[str]:
        return [note["text"] for note in self.call("status", all=True)["notifications"]]

    def wait(self, what: str, seen: Callable[[], T | None], seconds: float = PATIENCE) -> T:
        """What `seen` gives as soon as it gives something; a daemon that is away is waited for as well."""
        deadline = time.monotonic() + seconds
        while True:
            with contextlib.suppress(OSError):
                if found := seen():
                    return found
            assert time.monotonic() < deadline, f"{what}: this did not come\n{self.story()}"
            time.sleep(_LOOK)

    def story(self) -> str:
        """What there is to know after a failure."""
        logs = [*self.home.glob("logs/*.log"), *self.folder.glob("daemon.out")]
        told = [f"{path.name}: {path.read_text(encoding='utf-8')[-3000:]}" for path in logs]
        with contextlib.suppress(OSError, Refused):
            told.append(json.dumps(self.call("cycles_list"), indent=1)[-4000:])
        panes = run_tmux(self.tmux, "list-panes", "-a", "-F", "#{pane_id}").split()
        told += [run_tmux(self.tmux, "capture-pane", "-p", "-t", pane).strip()[-1500:] for pane in panes]
        return "\n----\n".join(told)
