"""Baton's side of the race: its daemon and one live session, started as a user does."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

from _common import end
from _place import Failed, Place, arguments, wait

from batonpass.home import socket_path
from batonpass.store import CycleRecord, CycleState, Store, default_url, open_store

_LOOK_SECONDS = 0.2
# The guards against storms would rightly stop a session that hands over every few seconds.
_CONFIG = "breaker_per_hour: 100000\ncooldown_minutes: 0\nnotify:\n  desktop: false\n"


class Ours:
    """One live session under Baton, handed over again and again."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._home = place.root / "home"
        self._home.mkdir(mode=0o700)
        (self._home / "config.yaml").write_text(_CONFIG, encoding="utf-8")
        self._env = {**place.env, "BATON_HOME": str(self._home), "BATON_TMUX": place.socket}
        self._session = self._pane = ""
        self._store: Store | None = None
        self._daemon: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """A conversation with its first turn done."""
        self._start_daemon()
        argv = [sys.executable, "-m", "batonpass._entry", "run", self._place.agent, "--detach", "--json", "--"]
        done = subprocess.run(
            [*argv, *arguments(self._place.agent)],
            cwd=self._place.project, env=self._env, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        if done.returncode:
            raise Failed(f"baton run said: {done.stderr or done.stdout}")
        started = json.loads(done.stdout)
        self._session, self._pane = started["session"], started["pane"]
        self._store = open_store(default_url(self._home))
        self._rest()

    def _start_daemon(self) -> None:
        """By ourselves, because a command's patience is short for a machine that is busy with other things."""
        argv = [sys.executable, "-m", "batonpass._entry", "daemon", "run"]
        with open(self._place.root / "daemon.log", "wb") as log:
            self._daemon = subprocess.Popen(argv, env=self._env, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait(lambda: os.path.exists(socket_path(str(self._home))), "a daemon that answers", 60)

    def round(self, prompt: str) -> dict[str, float]:
        """Hand over once; when each part was over, by the records."""
        assert self._store is not None
        before = len(self._store.cycles(session=self._session, limit=1000))
        transcript = Path(self._status()["transcript"])
        self._place.say(self._pane, prompt)
        try:
            # The times are the records': a look more often would only take the machine away from who is measured.
            cycle = wait(lambda: self._ended(before), "the end of the cycle", every=_LOOK_SECONDS)
        except Failed as failure:
            raise Failed(f"{failure}\n{self._story()}") from None
        if cycle.state is not CycleState.DONE:
            raise Failed(f"The cycle ended as {cycle.state}: {cycle.note}\n{self._story()}")
        times = self._times(cycle, transcript)
        self._rest()
        return times

    def close(self) -> None:
        if self._store is not None:
            self._store.close()
        if self._daemon is not None:
            (self._home / "run" / "stopped").touch()  # or the hooks of a dying agent would start it again
            end(self._daemon.pid)
            self._daemon.wait()

    def _times(self, cycle: CycleRecord, transcript: Path) -> dict[str, float]:
        assert self._store is not None
        ended = {step.step: step.ended or 0.0 for step in self._store.steps(cycle.id)}
        began = self._store.events(session=self._session, name="SESSION_STARTED", limit=5)
        said = self._place.answered(transcript)
        writing = self._place.answered(transcript, "I write the handoff now")
        times = {
            "crossed": max(at for at in said if at < writing[-1]),
            "written": ended["await"],
            "cleared": max(event.at for event in began),
            "answered": ended["verify"],
            "opened": cycle.started,
            "closed": cycle.ended or 0.0,
        }
        steps = self._store.steps(cycle.id)
        return times | {f"step {step.step}": (step.ended or 0.0) - step.started for step in steps}

    def _ended(self, before: int) -> CycleRecord | None:
        assert self._store is not None
        cycles = self._store.cycles(session=self._session, limit=1000)
        if len(cycles) <= before:
            self._place.send_again(self._pane)
        if len(cycles) <= before or not cycles[-1].ended:
            return None
        return cycles[-1] if all(step.ended for step in self._store.steps(cycles[-1].id)) else None

    def _story(self) -> str:
        """What helps to see why a cycle did not end well."""
        assert self._store is not None
        lines = []
        for cycle in self._store.cycles(session=self._session, limit=2):
            lines.append(f"cycle {cycle.id} {cycle.state}: {cycle.cause}")
            lines += [f"  {step.step} {step.attempt} {step.state}: {step.note}" for step in self._store.steps(cycle.id)]
        log = (self._home / "logs" / "baton.log").read_text(encoding="utf-8")
        return "\n".join([*lines, self._place.tmux("capture-pane", "-p", "-t", self._pane), log[-1500:]])

    def _status(self) -> dict[str, Any]:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(30)
            connection.connect(socket_path(str(self._home)))
            connection.sendall(b'{"op": "status", "all": true}\n')
            with connection.makefile("rb") as answer:
                sessions = json.loads(answer.readline())["result"]["sessions"]
        return next((dict(s) for s in sessions if s["session"] == self._session), {})

    def _rest(self) -> None:
        """Wait until the agent is idle, its usage is known and no cycle is under way."""

        def rests() -> bool:
            status = self._status()
            return status.get("state") == "idle" and status.get("used") is not None and not status.get("cycle")

        wait(rests, "a session at rest")
