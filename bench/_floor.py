"""The same steps by the barest possible script. No record, no check, no net.

It knows beforehand that a handoff is due, looks at nothing, and trusts that every key arrives. Nothing that
passes the baton in the same ways on the same agent can be much faster.
"""

import abc
import secrets
import time
from pathlib import Path

from _place import Place, wait

from batonpass.delivery import tag
from batonpass.handoff import prompts


class Floor(abc.ABC):
    """One live session, handed over again and again."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.drafts = place.project / "drafts"
        self.drafts.mkdir()
        self.pane = ""

    def start(self) -> None:
        """A conversation with its first turn done."""
        argv = self.launch()
        env = [f"{name}={value}" for name, value in {**self.place.env, **self.more_env()}.items()]
        self.pane = self.place.tmux(
            *("new-session", "-d", "-x", "200", "-y", "50", "-P", "-F", "#{pane_id}", "-c", str(self.place.project)),
            *("--", "env", "-i", *env, *argv),
        )
        self.begun()

    def round(self, prompt: str) -> dict[str, float]:
        """Hand over once; when each part was over, by the clock."""
        number = secrets.token_hex(4)
        draft = self.drafts / f"{number}.md"
        ask = prompts.ask(tag(number, "ask", 1), draft, percent=91.0, changed=["reader.py"])
        record = self.ask(prompt, ask)
        written = time.time()
        self.clear(draft.read_text(encoding="utf-8"))
        cleared = time.time()
        self.kick(prompts.kick(tag(number, "kick", 1), number, draft))
        answered = time.time()
        crossed = wait(lambda: self._crossing(record), "the answer that crosses the threshold in the record")
        return {"crossed": crossed, "written": written, "cleared": cleared, "answered": answered}

    def _crossing(self, record: Path) -> float | None:
        """When the turn before the ask was answered: the answer before the two of the handoff."""
        said = self.place.answered(record)
        writing = self.place.answered(record, "I write the handoff now")
        before = [at for at in said if writing and at < writing[-1]]
        return before[-1] if before else None

    @abc.abstractmethod
    def launch(self) -> list[str]:
        """The command of the agent."""

    def more_env(self) -> dict[str, str]:
        """What it needs beside the environment of the place, once it is known how it is launched."""
        return {}

    @abc.abstractmethod
    def begun(self) -> None:
        """Wait until the first turn is done."""

    @abc.abstractmethod
    def ask(self, prompt: str, ask: str) -> Path:
        """Say the prompt that crosses the threshold, have the draft written; gives the conversation's record."""

    @abc.abstractmethod
    def clear(self, handoff: str) -> None:
        """A new conversation that will know the handoff."""

    @abc.abstractmethod
    def kick(self, text: str) -> None:
        """Set the successor to work, and wait until its first turn is done."""

    @abc.abstractmethod
    def close(self) -> None:
        """Let go of what it held."""
