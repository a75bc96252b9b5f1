"""A place of its own for whole cycles: project, home, tmux server and scripted model, all ended by their ids."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from _common import ROOT, SOURCE, end, environment

from batonpass import agents
from batonpass.agents.base import Agent
from batonpass.sim import rehearsal
from batonpass.sim.tmux_server import server_pid, start_server
from batonpass.transcripts.events import Said

Found = TypeVar("Found")

PASTE_SECONDS = 0.15  # an Enter sooner after a paste is sometimes swallowed
NAMES = {"claude": "Claude Code", "codex": "Codex", "gemini": "Gemini CLI", "opencode": "opencode"}  # the real ones
_MODELS = {"claude": "anthropic", "codex": "openai_responses", "gemini": "gemini_api", "opencode": "openai_chat"}
_ENVIRONMENTS = {
    "claude": rehearsal.claude_environment,
    "codex": rehearsal.codex_environment,
    "gemini": rehearsal.gemini_environment,
    "opencode": rehearsal.opencode_environment,
}
_OPTIONS = {
    "claude": ("--model", "claude-sonnet-4-6", "--permission-mode", "acceptEdits", "--"),
    "codex": ("-a", "never", "-s", "danger-full-access", "--"),
    "gemini": ("--yolo", "-m", "gemini-2.5-pro", "-i"),
    "opencode": ("--prompt",),
}
_USABLE = {"claude": 167_000, "scripted": 167_000, "codex": 244_800, "gemini": 524_288, "opencode": 191_808}
_RECORDS = {"codex": "rollout-*.jsonl", "gemini": "session-*.jsonl"}
_BEGIN = "Begin with the work."
_LOOK_SECONDS = 0.01
_SEND_AGAIN_SECONDS = 4.0


class Failed(SystemExit):
    """The benchmark cannot go on; one sentence says why."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where one side of the race plays: nothing of it is shared with the other but the model."""

    agent: str
    root: Path
    project: Path
    socket: str
    env: Mapping[str, str]
    sent: dict[str, float] = field(default_factory=dict)  # when the last Enter went to a pane

    @property
    def adapter(self) -> Agent:
        return agents.get(self.agent)

    def tmux(self, *words: str) -> str:
        argv = ["tmux", "-u", "-S", self.socket, "-f", os.devnull, *words]
        done = subprocess.run(argv, env=environment(), capture_output=True, text=True, timeout=60, check=False)
        if done.returncode:
            raise Failed(f"tmux {words[0]} said: {done.stderr.strip()}")
        return done.stdout.strip()

    def progress(self, number: int) -> None:
        """Do what the agent's work would have done; handoffs of a project that stays as it is are rightly stopped."""
        for name in ("reader.py", f"step_{number % 3}.py"):
            (self.project / name).write_text(f"STEP = {number}\n", encoding="utf-8")

    def say(self, pane: str, text: str) -> None:
        """Type a prompt as the barest script would: paste, the shortest safe wait, Enter."""
        self.tmux("set-buffer", "-b", "say", "--", text, ";", "paste-buffer", "-p", "-d", "-b", "say", "-t", pane)
        time.sleep(max(PASTE_SECONDS, self.adapter.paste_seconds))
        self.tmux("send-keys", "-t", pane, "Enter")
        self.sent[pane] = time.monotonic()

    def send_again(self, pane: str) -> None:
        """A busy machine may have swallowed the Enter; in an empty box another one does nothing."""
        if time.monotonic() - self.sent.get(pane, 0.0) > _SEND_AGAIN_SECONDS:
            self.tmux("send-keys", "-t", pane, "Enter")
            self.sent[pane] = time.monotonic()

    def transcript(self) -> Path | None:
        """The record that grew last; one session lives here, so it is that session's."""
        found = (self.root / "user").rglob(_RECORDS.get(self.agent, "????????-????-????-????-????????????.jsonl"))
        return max(found, key=lambda path: path.stat().st_mtime_ns, default=None)

    def answered(self, transcript: Path, text: str | None = None) -> list[float]:
        """When the agent said what, by its own record."""
        said = [event for event in self.adapter.record(transcript).read().events if isinstance(event, Said)]
        return [event.at for event in said if text is None or text in event.text]


def wait(look: Callable[[], Found | None], what: str, seconds: float = 60.0, every: float = _LOOK_SECONDS) -> Found:
    """The first answer that is neither None nor False."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = look()
        if found is not None and found is not False:
            return found
        time.sleep(every)
    raise Failed(f"In {seconds:g} s never {what}; nothing was measured.")


def program(agent: str) -> str | None:
    """The newest version of an agent that scripts/agents installed, or the one on the PATH."""
    chosen = os.environ.get(f"BATON_{agent.upper()}")
    if chosen:
        return chosen
    found = sorted((ROOT / ".agents").glob(f"{agent}-*/node_modules/.bin/{agent}"))
    return str(found[-1]) if found else shutil.which(agent)


def worker(agent: str) -> str:
    """Settings with which a turn is one response, and every second one of a conversation crosses the threshold."""
    step = _USABLE[agent] * 91 // 100 - 40_000
    return json.dumps({"start": 40_000, "step": step, "handoff_step": 1_000, "tool": "none"})


def arguments(agent: str) -> list[str]:
    """What the agent is started with, up to its first prompt."""
    return [*_OPTIONS.get(agent, (f"--brain={worker(agent)}", "--")), _BEGIN]


@contextlib.contextmanager
def model(agent: str) -> Iterator[str]:
    """The scripted model in a process of its own, so that nobody shares an interpreter with it; its address."""
    argv = [sys.executable, "-m", f"batonpass.sim.{_MODELS[agent]}", "--settings", worker(agent)]
    process = subprocess.Popen(argv, env=environment(PYTHONPATH=str(SOURCE)), stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        end(process.pid)
        process.wait()
        if process.stdout:
            process.stdout.close()


@contextlib.contextmanager
def place(agent: str, url: str | None) -> Iterator[Place]:
    """A fresh folder with a project, a home and a tmux server; what runs there ends with it."""
    root = Path(tempfile.mkdtemp(prefix="bc-", dir="/tmp"))
    project = _project(root / "project")
    quiet = environment(TERM="tmux-256color", PYTHONPATH=str(SOURCE))
    if url is None:
        env = rehearsal.private_environment(root / "user", env=quiet) | {"BATON_SCRIPTED_HOME": str(root / "user")}
    else:
        env = _ENVIRONMENTS[agent](root / "user", project, url, env=quiet)
        env |= {f"BATON_{agent.upper()}": program(agent) or agent}
    here = Place(agent, root, project, str(root / "tmux"), env)
    start_server(here.socket)
    try:
        yield here
    finally:
        _clear_away(here)


def _clear_away(here: Place) -> None:
    with contextlib.suppress(OSError, ValueError):
        end(int((here.root / "home" / "run" / "lock").read_text(encoding="utf-8")))
    pids: list[int] = []
    with contextlib.suppress(Failed):
        pids = [int(pid) for pid in here.tmux("list-panes", "-a", "-F", "#{pane_pid}").split()]
    server = server_pid(here.socket)
    for pid in (*pids, *([server] if server else [])):
        end(pid)
    for _ in range(20):  # children that outlive their parents by a moment may still write
        shutil.rmtree(here.root, ignore_errors=True)
        if not here.root.exists():
            return
        time.sleep(0.1)


def _project(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "reader.py").write_text("def lines(path):\n    return open(path)\n", encoding="utf-8")
    who = ("-c", "user.name=Bench", "-c", "user.email=bench@example.invalid")
    for args in (("init", "-q", "-b", "main"), ("add", "."), (*who, "commit", "-q", "-m", "Begin")):
        subprocess.run(["git", *args], cwd=folder, check=True, timeout=20)
    (folder / "reader.py").write_text("def lines(path):\n    return list(open(path))\n", encoding="utf-8")
    return folder
