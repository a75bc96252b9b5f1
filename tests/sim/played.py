"""The scripted agent in a pseudo-terminal, played like a user would play it."""

import contextlib
import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 30.0  # only a broken agent is waited for this long
# Makes the pseudo-terminal the one that controls the agent, so that it hears of a new size or a hang-up.
_IN_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""
HOOKS = ("session_start", "session_end", "prompt", "stop", "stop_failed", "tool", "permission", "compact")


def lines(path: Path) -> list[dict[str, Any]]:
    """The JSON objects in a file; a last line that is being written does not count."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1] if line]


class Played:
    """Keys go in, and what the agent leaves on disk and on the screen comes out."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.project = folder / "project"
        self.faults_file = folder / "faults.json"
        self.screen = ""
        self.status: int | None = None
        for needed in (self.home, self.project):
            needed.mkdir(parents=True, exist_ok=True)

    def start(
        self,
        *args: str,
        replies: Sequence[Mapping[str, Any]] = (),
        settings: dict[str, Any] | None = None,
        faults: Sequence[dict[str, Any]] = (),
    ) -> "Played":
        self.fault(*faults)
        notes = json.dumps({"replies": list(replies), "notes": str(self.folder / "asked.jsonl")})
        given = self.folder / "settings.json"
        given.write_text(json.dumps(settings or self.settings()), encoding="utf-8")
        argv = [sys.executable, "-m", "batonpass.sim.agent", f"--home={self.home}", f"--settings={given}"]
        argv += [f"--brain=tests.sim.recited:Recited {notes}", f"--faults={self.faults_file}", *args]
        self.terminal, end = pty.openpty()
        self.resize(100, 30)
        self._process = subprocess.Popen(
            [sys.executable, "-c", _IN_TERMINAL, *argv],
            cwd=self.project,
            env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}", "TERM": "xterm-256color"},
            stdin=end,
            stdout=end,
            stderr=end,
            start_new_session=True,
        )
        self.pid = self._process.pid
        os.close(end)
        return self

    def settings(self, **answers: dict[str, Any]) -> dict[str, Any]:
        """Every hook logs its payload; `answers` lie ready for the first call of the hook of that name."""
        script = '{ cat; echo; } >>"$1"; mv "$2" "$2.taken" 2>/dev/null && cat "$2.taken"; true'
        hooks = {}
        for name in HOOKS:
            answer = self.folder / f"{name}.answer"
            if name in answers:
                answer.write_text(json.dumps(answers[name]), encoding="utf-8")
            hooks[name] = ["/bin/sh", "-c", script, "hook", str(self.folder / "hooks.jsonl"), str(answer)]
        return {"hooks": hooks, "allow": [str(self.project / "drafts")]}

    def fault(self, *faults: dict[str, Any]) -> None:
        self.faults_file.write_text(json.dumps(faults), encoding="utf-8")

    def type(self, text: str) -> None:
        os.write(self.terminal, text.encode())

    def paste(self, text: str) -> None:
        self.type(f"\x1b[200~{text}\x1b[201~")

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def until(self, seen: Callable[[], object], what: str) -> None:
        """Read the terminal until something is seen; every output of the agent is a reason to look again."""
        deadline = time.monotonic() + PATIENCE
        while not seen():
            assert time.monotonic() < deadline, f"{what} did not come; the screen says:\n{self.screen[-2000:]}"
            if self.status is None and select.select([self.terminal], [], [], 0.05)[0]:
                self._read()

    def until_state(self, status: str) -> None:
        self.until(lambda: self.state().get("status") == status, f"state {status}")

    def until_event(self, event: str, count: int = 1) -> list[dict[str, Any]]:
        self.until(lambda: len(self.events(event)) >= count, f"event {event} no. {count}")
        return self.events(event)

    def until_end(self) -> int:
        self.until(lambda: self.status is not None, "the end")
        assert self.status is not None
        return self.status

    def until_shown(self, text: str) -> None:
        self.until(lambda: text in self.screen, repr(text))

    def state(self) -> dict[str, Any]:
        try:
            found: dict[str, Any] = json.loads(self.state_file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        return found

    @property
    def state_file(self) -> Path:
        return self.home / "state" / f"{self.pid}.json"

    def transcript(self, session: str) -> list[dict[str, Any]]:
        return lines(self.home / "transcripts" / f"{session}.jsonl")

    def events(self, event: str | None = None) -> list[dict[str, Any]]:
        """Lines of all transcripts of this home, oldest first."""
        found = [line for path in (self.home / "transcripts").glob("*.jsonl") for line in lines(path)]
        found.sort(key=lambda line: float(line["at"]))
        return [line for line in found if event in (None, line["event"])]

    def hooks(self, name: str | None = None) -> list[dict[str, Any]]:
        return [line for line in lines(self.folder / "hooks.jsonl") if name in (None, line["hook"])]

    def asked(self) -> list[dict[str, Any]]:
        return lines(self.folder / "asked.jsonl")

    def close(self) -> None:
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            self.until_end()
        os.close(self.terminal)

    def _read(self) -> None:
        try:
            data = os.read(self.terminal, 65536)
        except OSError:
            data = b""
        self.screen += data.decode("utf-8", "replace")
        if not data:
            self.status = self._process.wait()


@contextlib.contextmanager
def played(folder: Path) -> Iterator[Played]:
    agent = Played(folder)
    try:
        yield agent
    finally:
        if hasattr(agent, "pid"):
            agent.close()
