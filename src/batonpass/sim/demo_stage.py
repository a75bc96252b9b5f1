"""The demo's private place: its own folder, home, project, tmux server and model. Nothing of the user's."""

import contextlib
import fcntl
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import batonpass
from batonpass.cli.client import Refused, call
from batonpass.sim.anthropic import AnthropicModel
from batonpass.sim.rehearsal import claude_environment, private_environment
from batonpass.sim.tmux_server import run_tmux, server_pid, start_server
from batonpass.sim.worker import Worker, WorkerSettings

_GRACE = 5.0  # seconds in which a process may end in order
_READER = '''"""Reads transcripts."""


def lines(path):
    return open(path).read().split("\\n")
'''


@dataclass(frozen=True, slots=True)
class Stage:
    """Where the demo plays."""

    agent: str
    root: Path
    project: Path
    socket: str
    model: AnthropicModel | None  # for a real agent

    def tmux(self, *words: str) -> str:
        """What one tmux command says, on the demo's own server."""
        return run_tmux(self.socket, *words)


class CannotPlay(Exception):
    """The demo cannot begin or go on; one sentence says why."""


@contextlib.contextmanager
def stage(agent: str, settings: WorkerSettings, *, keep: bool) -> Iterator[Stage]:
    """A place of its own, with this process's environment moved into it; all of it ends with the context.

    With `keep` the folder stays. Processes never do.
    """
    program = _claude(os.environ) if agent == "claude" else None
    # Not in $TMPDIR: the path of a socket must be short.
    root = Path(tempfile.mkdtemp(prefix="baton-demo-", dir="/tmp"))
    model = None
    try:
        project = _project(root / "ledger")
        socket = str(root / "tmux")
        if program is None:
            env = private_environment(root / "user")
        else:
            model = AnthropicModel(Worker(settings), record_dir=root / "requests").start()
            env = {**claude_environment(root / "user", project, model.url), "BATON_CLAUDE": program}
        env |= {"BATON_HOME": str(root / "home"), "BATON_TMUX": socket, "COLORTERM": "truecolor"}
        with _only(env):
            start_server(socket)
            run_tmux(socket, "set-option", "-g", "default-terminal", "screen-256color")
            try:
                yield Stage(agent, root, project, socket, model)
            finally:
                _clear_away(root, socket)
    finally:
        if model is not None:
            model.stop()
        if not keep:
            _remove(root)


def _claude(env: Mapping[str, str]) -> str:
    """The Claude Code to play with: the one that is named, the newest of scripts/agents, the user's own."""
    named = env.get("BATON_CLAUDE")
    ours = (Path(batonpass.__file__).parents[2] / ".agents").glob("claude-*/node_modules/.bin/claude")
    found = sorted(ours, key=lambda path: [int(part) for part in re.findall(r"\d+", path.parts[-4])])
    program = named or next(iter(map(str, reversed(found))), None) or shutil.which("claude")
    if program is None or shutil.which(program) is None:
        what = f"BATON_CLAUDE names {named}, which is no program" if named else "No Claude Code was found"
        raise CannotPlay(
            f"{what}: install one privately with scripts/agents, or set BATON_CLAUDE; nothing was started."
        )
    return program


def _project(folder: Path) -> Path:
    """A small git repository in which work is under way: one commit, one changed file."""
    reader = folder / "src" / "reader.py"
    reader.parent.mkdir(parents=True)
    (folder / "README.md").write_text("# Ledger\n", encoding="utf-8")
    reader.write_text(_READER, encoding="utf-8")
    who = ("-c", "user.name=Demo", "-c", "user.email=demo@example.invalid", "-c", "commit.gpgsign=false")
    for words in (("init", "-q", "-b", "main"), ("add", "."), (*who, "commit", "-q", "-m", "Begin")):
        subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, timeout=30)
    reader.write_text(_READER.replace("lines", "whole_lines"), encoding="utf-8")
    return folder


@contextlib.contextmanager
def _only(env: Mapping[str, str]) -> Iterator[None]:
    """Exactly this environment, for this process and all that it starts."""
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update(env)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _clear_away(root: Path, socket: str) -> None:
    """End the daemon, the agents and the tmux server, each by its process id."""
    panes = [int(word) for word in run_tmux(socket, "list-panes", "-a", "-F", "#{pane_pid}").split()]
    with contextlib.suppress(Refused):
        # Asked, and first: hooks of an ending agent start a daemon that has merely died.
        call("stop", start=False, within=_GRACE)
    lock = root / "home" / "run" / "lock"
    _wait(lambda: _holder(lock) is None)
    server = server_pid(socket)
    rest = [pid for pid in (_holder(lock), *panes, server) if pid is not None]
    for number in (signal.SIGTERM, signal.SIGKILL):
        for pid in filter(_lives, rest):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        _wait(lambda: not any(map(_lives, rest)))


def _holder(lock: Path) -> int | None:
    """The daemon that holds the lock; the file alone would name one that is long gone."""
    try:
        with lock.open(encoding="utf-8") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return int(file.read())
    except (OSError, ValueError):
        pass
    return None


def _wait(condition: Callable[[], bool]) -> None:
    """Return when it is so, or when the time of grace is over."""
    deadline = time.monotonic() + _GRACE
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)


def _lives(pid: int) -> bool:
    """Whether the process runs; one that only waits to be buried does not."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[0]
    except ProcessLookupError:
        return False
    except (OSError, IndexError):
        return True  # no such record on this system
    return state != "Z"


def _remove(root: Path) -> None:
    """Remove the folder; what an ending process writes late is removed as well."""

    def gone() -> bool:
        shutil.rmtree(root, ignore_errors=True)
        return not root.exists()

    _wait(gone)
