"""Answers laid out for hooks in a session's private folder; taken or withdrawn, never both."""

import json
import os
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path

from batonpass.agents.base import Agent
from batonpass.disk import write_private
from batonpass.home import prime_file


class Offers:
    """The small files that a session's hooks answer from, also while no daemon runs."""

    def __init__(self, folder: Path, agent: Agent) -> None:
        self.folder = folder
        self._agent = agent

    def ask(self, agent_session: str, text: str) -> None:
        """Lay out a prompt for the stop hook of this conversation."""
        self._lay(f"ask.{agent_session}", self._agent.render_ask(text))

    def asked(self, agent_session: str) -> bool:
        """Whether the stop hook took the prompt."""
        return (self.folder / f"ask.{agent_session}.taken").exists()

    def ask_pending(self, agent_session: str) -> bool:
        """Whether a prompt lies ready and nobody took it yet."""
        return (self.folder / f"ask.{agent_session}").exists()

    def withdraw_ask(self, agent_session: str) -> bool:
        """Take the prompt back; False when the hook was faster, so it must not be given by another channel."""
        with suppress(FileNotFoundError):
            os.rename(self.folder / f"ask.{agent_session}", self.folder / "withdrawn")
            return True
        return not self.asked(agent_session)

    def forget_ask(self, agent_session: str) -> None:
        """Drop what is left of an earlier ask, before a new one is laid out."""
        self._drop(f"ask.{agent_session}.taken")

    def note(self, agent_session: str, text: str) -> None:
        """Lay out a remark that rides on the user's next prompt. Nothing hangs on it."""
        with suppress(OSError):
            self._drop(f"note.{agent_session}.taken")
            self._lay(f"note.{agent_session}", self._agent.render_note(text))

    def brief(self, agent_session: str, parts: Sequence[str]) -> None:
        """Lay out the handoff to stand beside the first prompt of this conversation, once."""
        if not (self.folder / f"brief.{agent_session}.taken").exists():
            self._lay(f"brief.{agent_session}", self._agent.render_note("\n\n".join(parts)))

    def prime(self, sources: Sequence[str], parts: Sequence[str]) -> None:
        """Lay out the handoff for conversations that begin in one of these ways."""
        laid = {prime_file(source, number): part for source in sources for number, part in enumerate(parts, start=1)}
        for name, part in laid.items():
            self._lay(name, self._agent.render_prime(part))
        # Afterwards: a conversation that begins at this very moment must find one.
        self._unprime(sources, keep=laid)

    def primed(self, source: str) -> bool:
        """Whether a handoff lies ready for conversations that begin in this way."""
        return (self.folder / prime_file(source, 1)).exists()

    def unprime(self, sources: Sequence[str]) -> None:
        self._unprime(sources, keep=())

    def _unprime(self, sources: Sequence[str], keep: Collection[str]) -> None:
        for path in self.folder.glob("prime.*"):
            if path.name.split(".")[1] in sources and path.name not in keep:
                self._drop(path.name)

    def permit(self, folder: Path) -> None:
        """Let the permission hook allow writing below this folder, and nothing else."""
        rule = {
            "folder": os.path.realpath(folder),
            "tools": list(self._agent.permit_tools),
            "path_at": list(self._agent.permit_path_at),
            "patches": self._agent.permit_patches,
            "stdout": self._agent.render_permit(),
        }
        self._lay("permit.json", json.dumps(rule))

    def forbid(self) -> None:
        self._drop("permit.json")

    def line(self, text: str) -> None:
        """What the status line shows from now on. Nothing hangs on it: on a full disk handoffs still begin."""
        with suppress(OSError):
            self._lay("line", text)

    def clear(self) -> None:
        """Take back everything, at the end of a cycle."""
        self.forbid()
        for path in self.folder.glob("prime.*"):
            self._drop(path.name)
        for path in (*self.folder.glob("ask.*"), *self.folder.glob("brief.*")):
            self._drop(path.name)

    def _lay(self, name: str, content: str) -> None:
        # Whole or not at all, but not synced: an answer that goes with the power has nobody left to ask for it.
        write_private(self.folder / name, content, durable=False)

    def _drop(self, name: str) -> None:
        with suppress(FileNotFoundError):
            os.unlink(self.folder / name)
