"""A whole Baton of a test's own: daemon, tmux server and state apart from everything else."""

import json
import os
import select
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import batonpass
from batonpass import agents
from batonpass.agents.base import BoxState
from batonpass.agents.processes import with_descendants
from batonpass.home import socket_path
from batonpass.sim.tmux_server import server_pid
from batonpass.store import CycleRecord, EventRecord, Store, default_url, open_store
from batonpass.terminals.base import Screen
from tests import nursery
from tests.gone import gone

Found = TypeVar("Found")
Status = dict[str, Any]

_LOOK_SECONDS, _SELDOM_SECONDS = 0.05, 0.3  # each look costs the daemon work: the longer it takes, the fewer of them
_SLOW_SECONDS = 300.0  # half a minute of work to start, beside others
_HEARD_SECONDS = 5.0  # by then an Enter has done something, or never will
_WAIT_SECONDS = 180.0  # generous: a loaded machine is slow, and a test that hangs still ends by its own limit


class Baton:
    """Runs `baton` as its user does, and looks at what came of it. `root` must have a short path: sockets do."""

    def __init__(self, root: Path, project: Path, env: Mapping[str, str]) -> None:
        self._root, self.home, self.project = root, root / "home", project
        self._tmux = root / "tmux.sock"
        # The same Baton as in this test, whether it is installed or not.
        own = {"BATON_HOME": self.home, "BATON_TMUX": self._tmux, "PYTHONPATH": Path(batonpass.__file__).parents[1]}
        self.env = {**env, **{name: str(path) for name, path in own.items()}}
        self.session = ""
        self._pane = ""
        self._store: Store | None = None
        self._born: nursery.Child | subprocess.Popen[bytes] | None = None

    # -- commands ------------------------------------------------------------------------------------

    def command(self, *args: str, within: float = 180) -> str:
        """What one `baton` command prints; fails with its own words."""
        self._start_daemon()
        done = nursery.run(args, self.env, self.project, self._root / "said", within)
        assert done.returncode == 0, f"baton {args[0]} ended with {done.returncode}: {done.stderr or done.stdout}"
        return done.stdout

    def _start_daemon(self) -> None:
        """As the first command would, but quicker; later ones start another only where this one has gone."""
        if self._born is None:
            logs = self.home / "logs"
            logs.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._born = nursery.start(("daemon", "run"), self.env, "/", logs / "daemon.log")
            path = socket_path(str(self.home))
            self.until(lambda: os.path.exists(path) or self._daemon_ended(), "a daemon that answers")

    def _daemon_ended(self) -> bool:
        return self._born is not None and self._born.poll() is not None

    def configure(self, text: str) -> None:
        """The user's configuration, in YAML."""
        self.home.mkdir(mode=0o700, exist_ok=True)
        (self.home / "config.yaml").write_text(text, encoding="utf-8")

    def run(self, *options: str, prompt: str | None = None, model: str = "claude-sonnet-4-6", tools: str = "Bash",
            mode: str = "acceptEdits") -> Status:  # fmt: skip
        """Start Claude Code under supervision, with a first prompt if one is given, and wait until it answers."""
        allowed = [f"--allowedTools={tools}"] if tools else []
        args = ["--model", model, "--permission-mode", mode, *allowed, *options, *(["--", prompt] if prompt else [])]
        self.start_claude(*args)
        return self.wait_for(lambda status: status["state"] in ("idle", "busy", "waiting"))

    def start_claude(self, *args: str) -> None:
        """Start Claude Code under supervision with these arguments."""
        started = json.loads(self.command("run", "claude", "--detach", "--json", "--", *args))
        self.follow(started)

    def run_codex(self, *options: str, prompt: str | None = None) -> Status:
        """Start Codex under supervision, with a first prompt if one is given, and wait until it answers."""
        self.start_codex("-a", "never", "-s", "danger-full-access", *options, *(["--", prompt] if prompt else []))
        return self.wait_for(lambda status: status["state"] in ("idle", "busy", "waiting"))

    def start_codex(self, *args: str) -> None:
        """Start Codex under supervision with these arguments."""
        started = json.loads(self.command("run", "codex", "--detach", "--json", "--", *args))
        self.follow(started)

    def run_gemini(self, *options: str, prompt: str | None = None) -> Status:
        """Start Gemini CLI under supervision, with a first prompt if one is given, and wait until it answers."""
        self.start_gemini("--yolo", "-m", "gemini-2.5-pro", *options, *(["-i", prompt] if prompt else []))
        return self.wait_for(lambda status: status["state"] in ("idle", "busy", "waiting"))

    def start_gemini(self, *args: str) -> None:
        """Start Gemini CLI under supervision with these arguments."""
        started = json.loads(self.command("run", "gemini", "--detach", "--json", "--", *args))
        self.follow(started)

    def run_opencode(self, *options: str, prompt: str | None = None) -> Status:
        """Start opencode under supervision, with a first prompt if one is given, and wait until it answers."""
        args = [*options, *(["--prompt", prompt] if prompt else [])]
        started = json.loads(self.command("run", "opencode", "--detach", "--json", "--", *args))
        self.follow(started)
        return self.wait_for(lambda status: status["state"] in ("idle", "busy", "waiting"), _SLOW_SECONDS)

    def open_pane(self, argv: list[str]) -> str:
        """Start a program beside Baton, as a person would, in a pane of the same tmux server; gives the pane."""
        command = ["env", "-i", *(f"{name}={value}" for name, value in self.env.items()), "TERM=tmux-256color", *argv]
        size = ("-x", "160", "-y", "50")
        made = self._run_tmux("new-session", "-d", *size, "-P", "-F", "#{pane_id}", "-c", str(self.project), *command)
        self._pane = made.strip()
        return self._pane

    def follow(self, started: Status) -> None:
        """Look from now on at the session that a command began."""
        self.session, self._pane = started["session"], started["pane"]

    def adopt(self, pane: str) -> None:
        """Have Baton take over what runs in a pane."""
        self.follow(json.loads(self.command("adopt", pane, "--json")))

    def close_pane(self) -> None:
        """Take the session's terminal away."""
        self._run_tmux("kill-pane", "-t", self._pane)

    def call(self, op: str, **fields: object) -> Any:
        """An answer of the daemon, asked directly: quicker than a command."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(60)
            connection.connect(socket_path(str(self.home)))
            connection.sendall(json.dumps({"op": op, **fields}).encode() + b"\n")
            with connection.makefile("rb") as answer:
                reply = json.loads(answer.readline())
        assert reply["ok"], reply
        return reply["result"]

    # -- looking -------------------------------------------------------------------------------------

    @property
    def store(self) -> Store:
        self._store = self._store or open_store(default_url(self.home))
        return self._store

    def status(self) -> Status:
        (record,) = self.call("status", session=self.session)["sessions"]
        return dict(record)

    def cycles(self) -> list[CycleRecord]:
        return self.store.cycles(session=self.session)

    def events(self, name: str) -> list[EventRecord]:
        return self.store.events(session=self.session, name=name)

    def told(self) -> list[str]:
        """Every notification of the session."""
        return [str(event.data["text"]) for event in self.events("NOTIFICATION")]

    def screen(self) -> str:
        return self._run_tmux("capture-pane", "-p", "-t", self._pane)

    def until(self, look: Callable[[], Found | None], what: str, timeout: float = _WAIT_SECONDS) -> Found:
        """The first answer of `look` that is something; fails with all that is known when none comes."""
        began = time.monotonic()
        while True:
            found = look()
            if found:
                return found
            waited = time.monotonic() - began
            if waited >= timeout:
                raise AssertionError(f"In {timeout:g} s never {what}.\n{self.story()}")
            time.sleep(min(_LOOK_SECONDS + waited / 10, _SELDOM_SECONDS))

    def wait_for(self, predicate: Callable[[Status], object], timeout: float = _WAIT_SECONDS) -> Status:
        """The session's status once it fits."""

        def look() -> Status | None:
            status = self.status()
            return status if predicate(status) else None

        return self.until(look, "the status that was waited for", timeout)

    def cycle(self, number: int = 1, timeout: float = _WAIT_SECONDS) -> CycleRecord:
        """The session's n-th cycle, once it has ended."""

        def look() -> CycleRecord | None:
            cycles = self.cycles()
            return cycles[number - 1] if len(cycles) >= number and cycles[number - 1].ended else None

        return self.until(look, f"the end of cycle {number}", timeout)

    def step(self, step: str, state: str = "running", timeout: float = _WAIT_SECONDS) -> None:
        """Wait until the latest cycle has this step in this state."""

        def look() -> bool:
            cycles = self.cycles()
            steps = self.store.steps(cycles[-1].id) if cycles else []
            return any(s.step == step and s.state == state for s in steps)

        self.until(look, f"step {step} in state {state}", timeout)

    def rest(self) -> Status:
        """The status once the conversation has been answered, no cycle is under way and the agent is idle."""
        return self.wait_for(lambda s: s["state"] == "idle" and not s["cycle"] and s["used"] is not None)

    def story(self) -> str:
        """All that helps to see why something did not happen."""
        lines = [json.dumps(self.status(), indent=1), *self.told()]
        for cycle in self.cycles():
            lines.append(f"cycle {cycle.id} {cycle.state}: {cycle.cause}")
            lines += [f"  {s.step} {s.attempt} {s.state}: {s.note}" for s in self.store.steps(cycle.id)]
        log = self.home / "logs" / "baton.log"
        return "\n".join([*lines, self.screen(), log.read_text(encoding="utf-8")[-2000:]])

    # -- the user's hands ----------------------------------------------------------------------------

    def type(self, text: str) -> None:
        """Type text and leave it in the box, once the screen shows it."""
        self._run_tmux("send-keys", "-t", self._pane, "-l", text)
        self.until(lambda: text[:40] in self.screen(), f"{text!r} on the screen")

    def press(self, key: str) -> None:
        self._run_tmux("send-keys", "-t", self._pane, key)

    def enter(self, command: str, done: Callable[[], object], what: str, *, shown: str = "") -> None:
        """Type a command of the agent's own, and enter it until it is done: an Enter may only choose from its menu.

        `shown` is what the program puts beside the command once it has understood it: before that an Enter may be lost.
        """
        self.type(command)
        self.until(lambda: shown in self.screen(), f"{shown!r} on the screen")
        self.press("Enter")
        pressed = time.monotonic()

        def entered() -> bool:
            nonlocal pressed
            if done():
                return True
            if time.monotonic() - pressed > _HEARD_SECONDS:
                with suppress(RuntimeError):  # its pane may be gone by now
                    if command in self.screen():
                        self.press("Enter")
                pressed = time.monotonic()
            return False

        self.until(entered, what)

    def say(self, text: str) -> None:
        """Type a prompt and send it. An Enter may be lost, or taken for a new line right behind the last key."""
        self.type(text)
        self.press("Enter")
        pressed = time.monotonic()

        def sent() -> bool:
            nonlocal pressed
            if not self._is_in_box(text):
                return True
            if time.monotonic() - pressed > _HEARD_SECONDS:
                self.press("Enter")
                pressed = time.monotonic()
            return False

        self.until(sent, f"{text!r} was sent")

    def _is_in_box(self, text: str) -> bool:
        """Whether the text still waits to be sent, as far as the session's agent shows it."""
        session = self.store.session(self.session) if self.session else None
        if session is None or session.pane is None or session.pane.id != self._pane:
            return False
        with suppress(RuntimeError):  # its pane is gone
            told = self._run_tmux("display-message", "-p", "-t", self._pane, "#{pane_dead} #{cursor_x} #{cursor_y}")
            dead, x, y = map(int, told.split())
            rows = self._run_tmux("capture-pane", "-e", "-p", "-t", self._pane).splitlines()
            box = agents.get(session.agent).box(Screen(tuple(rows), x, y))
            return not dead and box.state is BoxState.TEXT and text[:40] in box.text
        return False

    def _run_tmux(self, *args: str) -> str:
        argv = ["tmux", "-S", str(self._tmux), *args]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
        if done.returncode:
            raise RuntimeError(f"tmux {args[0]} said: {done.stderr.strip()}")
        return done.stdout

    def terminal_pid(self) -> int:
        """The tmux server's process."""
        pid = server_pid(str(self._tmux))
        assert pid is not None
        return pid

    def reboot(self) -> None:
        """Everything ends at once, as at a reboot: the daemon, tmux and every agent in it. The next command goes on."""
        (self.home / "run" / "stopped").touch()
        panes = self._run_tmux("list-panes", "-aF", "#{pane_pid}").split()
        below = [one for pid in map(int, panes) for one in with_descendants(pid)]
        ended = (*self._daemon(), self.terminal_pid(), *below)
        for pid in ended:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        # With all their threads: a daemon whose first is gone may still listen, and cut off whoever reaches it.
        assert all(gone(pid, _WAIT_SECONDS) for pid in ended)

    # -- the end -------------------------------------------------------------------------------------

    def close(self) -> None:
        """End agents, tmux server and daemon by their ids, and wait until they are gone."""
        if self._store:
            self._store.close()
        with suppress(FileNotFoundError):
            (self.home / "run" / "stopped").touch()  # or the last hooks of the agents start another daemon
        with suppress(RuntimeError):  # the server never ran, or ended with its last pane
            pids = self._run_tmux("list-panes", "-aF", "#{pid} #{pane_pid}").split()
            # Children first: a launcher may wait for them and hear no signal itself.
            whole = [one for pid in map(int, pids) for one in with_descendants(pid)]
            for pid in reversed(list(dict.fromkeys(whole))):
                _end(pid)
        for pid in self._daemon():
            _end(pid)
        for pid in self._daemon():
            _end(pid)  # one that a hook had started a moment before

    def _daemon(self) -> list[int]:
        pid = nursery.holder(self.home, [self._born] if self._born else [])
        return [] if pid is None else [pid]


def _end(pid: int) -> None:
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        for number, patience in ((signal.SIGTERM, 3.0), (signal.SIGKILL, 3.0)):
            signal.pidfd_send_signal(descriptor, number)
            if select.select([descriptor], [], [], patience)[0]:
                return
    except ProcessLookupError:
        return
    finally:
        os.close(descriptor)
