"""One agent in its pane, as its user and a test see it."""

import json
import os
import signal
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from batonpass.agents import get
from batonpass.delivery import tags_in
from batonpass.handoff.layouts import FilesLayout
from batonpass.sim.tmux_server import run_tmux
from batonpass.transcripts.events import Event, Prompted, Said

if TYPE_CHECKING:
    from tests.system.house import House

_ENDED = frozenset({"done", "pending", "postponed", "unverified", "failed"})


def _lives(pid: int) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return False


def _over(cycle: Mapping[str, Any]) -> bool:
    """Whether a cycle has ended and the record of its last step is complete."""
    return cycle["state"] in _ENDED and all(step["state"] != "running" for step in cycle["steps"])


class Session:
    """One agent in its pane, and what it and Baton left on disk."""

    def __init__(self, house: "House", name: str, project: Path, faults: Path) -> None:
        self.house, self.name, self.project, self.faults = house, name, project, faults
        self.id = self.pane = self.first = ""

    def adopt(self, started: Mapping[str, Any]) -> None:
        self.id, self.pane, self.first = started["session"], started["pane"], started["agent_session"]

    def misbehave(self, *faults: Mapping[str, object]) -> None:
        """From its next turn on the agent has these faults and no others."""
        self.faults.write_text(json.dumps(faults), encoding="utf-8")

    # -- what a user does --------------------------------------------------------------------------

    def keys(self, text: str) -> None:
        run_tmux(self.house.tmux, "send-keys", "-t", self.pane, "-l", text)

    def press(self, *keys: str) -> None:
        run_tmux(self.house.tmux, "send-keys", "-t", self.pane, *keys)

    def say(self, text: str) -> None:
        """Type a prompt and send it, once the agent is there to hear it."""
        self.until_shown("❯")
        self.keys(text)
        self.until_shown(text[-20:])
        self.press("Enter")

    def screen(self) -> str:
        return run_tmux(self.house.tmux, "capture-pane", "-p", "-t", self.pane)

    def until_shown(self, text: str) -> None:
        self.house.wait(f"the screen shows {text!r}", lambda: text in self.screen())

    # -- rehearsals --------------------------------------------------------------------------------

    @property
    def folder(self) -> Path:
        """What Baton keeps for this session alone."""
        return self.house.home / "sessions" / self.id

    def hold(self, *steps: str) -> None:
        """Let the cycle stand still at the beginning of these steps, until `go_on`."""
        for step in steps:
            (self.folder / f"hold.{step}").touch()

    def until_held(self, step: str) -> None:
        """Wait until the cycle stands at the beginning of a step."""
        self.house.wait(f"{self.name} is held at {step}", (self.folder / f"held.{step}").exists)

    def go_on(self, step: str) -> None:
        (self.folder / f"hold.{step}").unlink()

    def kill(self) -> None:
        """End the agent as the kernel would, and wait until it is gone."""
        pid = self.status["pid"]
        assert isinstance(pid, int)
        os.kill(pid, signal.SIGKILL)
        self.house.wait(f"{self.name} is gone", lambda: not _lives(pid))

    # -- what can be seen --------------------------------------------------------------------------

    @property
    def status(self) -> dict[str, Any]:
        return self.house.status(self.id)

    def in_front(self) -> str:
        """The conversation that the agent itself says is in front, whatever Baton has heard of it."""
        pid = self.status["pid"]
        told = (self.house.home / "scripted" / "state" / f"{pid}.json").read_text(encoding="utf-8")
        return str(json.loads(told)["session"])

    def until_state(self, state: str) -> dict[str, Any]:
        def seen() -> dict[str, Any] | None:
            status = self.status
            return status if status["state"] == state else None

        return self.house.wait(f"{self.name} is {state}", seen)

    def until_step(self, *steps: str) -> str:
        """Wait until the cycle is in one of these steps; its id."""

        def seen() -> str | None:
            cycle = self.status["cycle"]
            return str(cycle["id"]) if cycle and cycle["step"] in steps else None

        return self.house.wait(f"{self.name} is in step {steps}", seen)

    def until_looked(self, step: str) -> None:
        """Wait until the cycle has been in a step for so long that it has looked several times."""

        def seen() -> bool:
            cycle = self.status["cycle"]
            return bool(cycle and cycle["step"] == step and time.time() - cycle["since"] > 1.5)

        self.house.wait(f"{self.name} has been in {step} for a while", seen)

    def until_asked(self) -> None:
        """Wait until the request for the document lies ready for the stop hook."""
        folder = self.house.home / "sessions" / self.id
        self.house.wait("the request lies ready", lambda: list(folder.glob("ask.*")))

    def cycle(self, number: int = 1) -> dict[str, Any]:
        """The cycle of that number, once it has ended."""

        def ended() -> dict[str, Any] | None:
            found = [cycle for cycle in self.house.cycles(self.id) if _over(cycle)]
            return found[number - 1] if len(found) >= number else None

        return self.house.wait(f"cycle {number} of {self.name} has ended", ended)

    def events(self, *kinds: type[Event]) -> list[Event]:
        """What all transcripts of the session's conversations say, oldest first."""
        parse, found = get("scripted").reader(), []
        for path in (self.house.home / "scripted" / "transcripts").glob("*.jsonl"):
            lines = path.read_bytes().splitlines()
            if lines and json.loads(lines[0]).get("cwd") == str(self.project):
                found += [event for line in lines for event in parse(line)]
        return sorted((e for e in found if not kinds or isinstance(e, kinds)), key=lambda event: event.at)

    def prompts(self) -> list[str]:
        return [event.text for event in self.events(Prompted) if isinstance(event, Prompted)]

    def tags(self) -> Counter[str]:
        """How often each of Baton's prompts arrived."""
        return Counter(tag for text in self.prompts() for tag in tags_in(text)[:1])

    def arrived(self) -> list[str]:
        """The kinds of Baton's prompts that arrived, in order; one that arrived twice is here twice."""
        return [tag.split()[2] for text in self.prompts() for tag in tags_in(text)[:1]]

    def began(self) -> dict[str, float]:
        """When each of the session's conversations began, by the agent's own record; oldest first."""
        found: dict[str, float] = {}
        for path in (self.house.home / "scripted" / "transcripts").glob("*.jsonl"):
            lines = path.read_bytes().splitlines()
            if lines and (first := json.loads(lines[0])).get("cwd") == str(self.project):
                found[first["session"]] = first["at"]
        return dict(sorted(found.items(), key=lambda begun: begun[1]))

    def sealed(self) -> list[Path]:
        """The files of the sealed handoffs, oldest first."""
        return FilesLayout(self.project).list()

    def documents(self) -> list[str]:
        """The sealed handoffs, oldest first."""
        # Two may fall into one second: their names tell the order, but not by the alphabet.
        return [file.read_text(encoding="utf-8") for file in self.sealed()]

    def told(self) -> list[str]:
        """What hooks put into the session's contexts."""
        found: list[str] = []
        for path in (self.house.home / "scripted" / "transcripts").glob("*.jsonl"):
            lines = [json.loads(line) for line in path.read_bytes().splitlines()]
            if lines and lines[0].get("cwd") == str(self.project):
                found += [str(line.get("text")) for line in lines if line["event"] == "context"]
        return found

    def said(self) -> list[str]:
        """What the agent said in all its conversations."""
        return [event.text for event in self.events(Said) if isinstance(event, Said)]
