"""The play: an agent is set to work in a real pane until its baton is passed. Looks five times a second."""

import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Protocol

from batonpass.cli.client import Refused, call
from batonpass.cli.records import CycleRow, SessionRow
from batonpass.sim.demo_scene import Point, Scene
from batonpass.sim.demo_stage import CannotPlay, Stage
from batonpass.sim.worker import WorkerSettings

# Three responses a turn, 14.7 % of the usable window: the fifth turn ends just above the handoff's rung.
WORK = WorkerSettings(
    start=28_000,
    step=8_200,
    steps=2,
    command='echo "step {n} is done" | tee -a NOTES.md',
    delay=0.5,
    chunks=5,
    chunk_delay=0.08,
)
PROMPTS = (
    "Make the transcript reader survive torn lines.",
    "Now the tests for it, please.",
    "And the same for a file that shrinks.",
    "Measure it on a million lines.",
    "Good. Tidy the names and document the cursor.",
    "Go on.",
    "Go on.",
    "Go on.",
)
_ARGUMENTS = {
    "scripted": ["--brain", "", "--permission-mode", "accept"],
    "claude": ["--model", "claude-sonnet-4-6", "--permission-mode", "acceptEdits", "--allowedTools=Bash"],
}
# What is going on in a step, for the caption.
_MEANWHILE = {
    "prepare": "The handoff's rung is reached. Baton gathers facts: git, transcript, todos, commands.",
    "safe_point": "Baton waits for a moment in which it disturbs nothing.",
    "ask": "Baton asks for the handoff, where it can through the agent's own stop hook, in the same turn.",
    "await": "The agent writes its handoff, to the one path that it may write without asking.",
    "check": "Baton compares the document with what a machine can know.",
    "seal": "Redacted, numbered, checksummed: the handoff is on disk before anything is cleared.",
    "pass": "/clear: the old conversation ends, a new one begins with the handoff as its context.",
    "prime": "One tagged prompt sets the successor to work.",
    "verify": "The successor states what it took over. A machine compares it with the handoff.",
    "close": "The receipt is accepted. The baton is passed.",
}
_LOOK = 0.2
_START_WITHIN = 60.0
_TURN_WITHIN = 60.0
_PASS_WITHIN = 180.0


class Show(Protocol):
    """Where the play is shown."""

    def show(self, scene: Scene) -> None: ...


class Play:
    """One performance. `transcripts` and `scene` are what it leaves for the proofs."""

    def __init__(self, stage: Stage, agent: str, show: Show) -> None:
        self.stage = stage
        self.transcripts: dict[str, str] = {}  # by the agent's session id
        self.typed: list[str] = []
        self.scene = Scene(agent, 0.0, "The curtain rises.", "", None, None, ())
        self._show = show
        self._began = time.monotonic()
        self._session = self._pane = ""
        self._climb: list[Point] = []
        self._used: tuple[str | None, int | None] = (None, None)

    def perform(self, *, width: int, height: int) -> None:
        """From the start of the agent to the end of its successor's first turn. Raises CannotPlay, Refused."""
        self._start(width, height)
        for number, prompt in enumerate(PROMPTS, 1):
            self._type(prompt)
            used = self._used
            self._until(
                lambda used=used: self._began_to_pass() or (self._used != used and self._idle()),  # type: ignore[misc]
                f"turn {number}",
                _TURN_WITHIN,
            )
            if self._began_to_pass():
                break
        else:
            raise CannotPlay("The agent climbed the whole ladder and no handoff began, which must not happen.")
        self._until(self._passed, "the cycle", _PASS_WITHIN)
        self._until(self._at_rest, "the successor's turn", _TURN_WITHIN, "The successor works on, by itself.")

    def _start(self, width: int, height: int) -> None:
        arguments = [word or _json(WORK) for word in _ARGUMENTS[self.stage.agent]]
        self._look(f"Daemon and agent are starting, with all that is theirs in {self.stage.root}.")
        started: dict[str, Any] = call(
            "run",
            within=_START_WITHIN,
            agent=self.stage.agent,
            args=arguments,
            cwd=str(self.stage.project),
            env=dict(os.environ),
            name="ledger",
            width=width,
            height=height,
        )
        self._session, self._pane = started["session"], started["pane"]
        self._until(self._idle, "the agent's start", _START_WITHIN)

    def _type(self, prompt: str) -> None:
        """Type as a person would: the text, a look whether it is there, Enter."""
        self.stage.tmux("send-keys", "-t", self._pane, "-l", prompt)
        self.typed.append(prompt)
        caption = f"Prompt {len(self.typed)}, typed by the demo: “{prompt}”"
        self._until(lambda: prompt in self._plain(), "the typing of a prompt", _TURN_WITHIN, caption)
        self.stage.tmux("send-keys", "-t", self._pane, "Enter")

    def _plain(self) -> str:
        return self.stage.tmux("capture-pane", "-p", "-J", "-t", self._pane)

    def _until(self, condition: Callable[[], bool], what: str, within: float, caption: str | None = None) -> None:
        deadline = time.monotonic() + within
        self._look(caption)
        while not condition():
            if time.monotonic() > deadline:
                raise CannotPlay(
                    f"Nothing came of {what} within {within:g} s ({self._standing()}); "
                    "run it with --keep and read the logs in the folder that it names."
                )
            time.sleep(_LOOK)
            self._look(caption)

    def _standing(self) -> str:
        row, cycle = self.scene.session, self.scene.cycle
        session = f"the session is {row['state']} at {row['percent']} %" if row else "no session"
        return f"{session}, its cycle is {cycle['state']}" if cycle else f"{session}, no cycle"

    def _look(self, caption: str | None = None) -> None:
        """Ask the daemon and the pane how things stand, and show it."""
        row, cycle, screen = self._row(), self._cycle(), ""
        if row is not None:
            self._note(row)
            screen = self.stage.tmux("capture-pane", "-e", "-p", "-t", self._pane)
        self.scene = Scene(
            agent=self.scene.agent,
            seconds=time.monotonic() - self._began,
            caption=caption or self._meanwhile(cycle) or self.scene.caption,
            screen=screen,
            session=row,
            cycle=cycle,
            climb=tuple(self._climb),
        )
        self._show.show(self.scene)

    def _meanwhile(self, cycle: CycleRow | None) -> str | None:
        return _MEANWHILE.get(cycle["steps"][-1]["step"]) if cycle and cycle["steps"] else None

    def _row(self) -> SessionRow | None:
        if not self._session:
            return None
        rows: list[SessionRow] = call("status", start=False)["sessions"]
        found = next((row for row in rows if row["session"] == self._session), None)
        if found is None or found["state"] in ("dead", "ended"):
            raise CannotPlay("The agent ended by itself; run it with --keep and read the logs in the folder it names.")
        return found

    def _cycle(self) -> CycleRow | None:
        if not self._session:
            return None
        try:
            cycle: CycleRow = call("cycles_show", start=False)
        except Refused as refusal:
            if refusal.code != 3:
                raise
            return None
        return cycle

    def _note(self, row: SessionRow) -> None:
        used = (row["agent_session"], row["used"])
        if used != self._used:
            self._used = used
            if row["percent"] is not None:
                self._climb.append(Point(row["percent"], row["agent_session"] or ""))
        transcript: Any = row.get("transcript")
        if row["agent_session"] and transcript:
            self.transcripts[row["agent_session"]] = transcript

    def _idle(self) -> bool:
        return self.scene.session is not None and self.scene.session["state"] == "idle"

    def _at_rest(self) -> bool:
        return self._idle() and self._used[1] is not None

    def _began_to_pass(self) -> bool:
        return self.scene.cycle is not None

    def _passed(self) -> bool:
        return self.scene.cycle is not None and self.scene.cycle["state"] != "running"


def _json(settings: WorkerSettings) -> str:
    return json.dumps({**asdict(settings), "faults": sorted(settings.faults), "jumps": dict(settings.jumps)})
