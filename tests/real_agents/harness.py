"""What the tests with real agents hold in their hands: a private tmux, and a bell that hooks ring."""

import json
import os
import select
import shlex
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from batonpass.sim.brain import Asked, Reply
from batonpass.sim.model_wire import Kind
from batonpass.sim.scripted_model import ScriptedModel


class PrivateTmux:
    """A tmux server of its own. `folder` must have a short path: sockets do."""

    def __init__(self, folder: Path) -> None:
        self.socket = "baton-test"
        self.folder = folder

    def run(self, *args: str, env: Mapping[str, str] = os.environ) -> str:
        """One tmux command, its output; raises with tmux's own words when it fails."""
        full = {**env, "TMUX_TMPDIR": str(self.folder)}
        full.pop("TMUX", None)
        argv = ["tmux", "-L", self.socket, "-f", os.devnull, *args]
        done = subprocess.run(argv, env=full, capture_output=True, text=True, timeout=60, check=False)
        if done.returncode:
            raise RuntimeError(f"tmux {args[0]} said: {done.stderr.strip()}")
        return done.stdout

    def open(self, argv: Sequence[str], cwd: Path, env: Mapping[str, str]) -> str:
        """A new pane that runs argv with exactly this environment; gives the pane's id."""
        command = ["env", "-i", *(f"{name}={value}" for name, value in env.items()), *argv]
        command[2:2] = [] if "TERM" in env else ["TERM=tmux-256color"]
        size = ("-x", "160", "-y", "50")
        made = self.run("new-session", "-d", *size, "-P", "-F", "#{pane_id}", "-c", str(cwd), "--", *command)
        return made.strip()

    def screen(self, pane: str) -> str:
        return self.run("capture-pane", "-p", "-t", pane)

    def close(self) -> None:
        """End the server and what ran in it, by their ids, and wait until they are gone."""
        try:
            pids = self.run("list-panes", "-a", "-F", "#{pid} #{pane_pid}").split()
        except RuntimeError:
            return  # it never ran, or ended with its last pane
        server, panes = int(pids[0]), {int(pid) for pid in pids[1::2]}
        watched = {pid: os.pidfd_open(pid) for pid in (server, *panes)} if hasattr(os, "pidfd_open") else {}
        os.kill(server, signal.SIGTERM)
        for pid, descriptor in watched.items():
            if not select.select([descriptor], [], [], 5.0)[0]:
                os.kill(pid, signal.SIGKILL)
            os.close(descriptor)


class Bell:
    """A pipe that hooks write to, so that tests wait for what happens and not for time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        os.mkfifo(path)
        # Read and write, so that it never reads as closed between two rings.
        self._pipe = os.open(path, os.O_RDWR)
        self._heard = ""

    def ring(self, word: str) -> str:
        """The shell command that rings with this word."""
        return f"echo {shlex.quote(word)} > {shlex.quote(str(self.path))}"

    def wait(self, word: str, timeout: float = 120.0) -> None:
        """Return when the word was rung; each ring counts once."""
        while f"{word}\n" not in self._heard:
            if not select.select([self._pipe], [], [], timeout)[0]:
                raise TimeoutError(f"Nobody rang {word!r} in {timeout:g} s; heard only {self._heard.split()}.")
            self._heard += os.read(self._pipe, 4096).decode()
        self._heard = self._heard.replace(f"{word}\n", "", 1)

    def close(self) -> None:
        os.close(self._pipe)

    def settings(self, **more: object) -> str:
        """Claude's settings as JSON: the end of a turn rings `stop`."""
        stop = {"hooks": [{"type": "command", "command": self.ring("stop")}]}
        return json.dumps({"hooks": {"Stop": [stop], **more}})


class Gate:
    """Holds the model's answer to the next prompt of a kind that matches, until it is opened.

    The answer is the one given here, or the brain's.
    """

    def __init__(
        self, model: ScriptedModel, match: str | None = None, *, kind: Kind = Kind.MAIN, reply: Reply | None = None
    ) -> None:
        self._model, self._reply = model, reply
        self._opened = threading.Event()
        self.reached = threading.Event()
        model.script(self._answer, match=match, kind=kind)

    def open(self) -> None:
        self._opened.set()

    def _answer(self, asked: Asked) -> Reply:
        self.reached.set()
        while not self._opened.wait(0.1) and not self._model.stopping.is_set():
            continue  # a test that failed stops its model and never opens
        return self._reply or self._model.brain.reply(asked)
