"""Copilot CLI, as far as Baton knows it: its conversations can be read, and it runs headless. Experimental."""

from collections.abc import Mapping
from pathlib import Path

from batonpass.agents.base import Past
from batonpass.agents.copilot import record
from batonpass.transcripts.tail import Tail
from batonpass.transcripts.whole import first_entry
from batonpass.untrusted import identifier


class Copilot:
    """Satisfies `Readable`, over Copilot CLI 1.0."""

    name = "copilot"

    def past(self, wanted: str, env: Mapping[str, str]) -> Past | None:
        """The conversation of that id, or in that file."""
        home = Path(env.get("COPILOT_HOME") or Path(env.get("HOME") or Path.home()) / ".copilot")
        path = Path(wanted) if wanted.endswith(".jsonl") else home / "session-state" / wanted / "events.jsonl"
        if not wanted.endswith(".jsonl") and identifier(wanted) is None:
            return None
        began = first_entry(path).get("data")
        facts = began if isinstance(began, dict) else {}
        context = facts.get("context")
        session, folder = identifier(facts.get("sessionId")), context.get("cwd") if isinstance(context, dict) else None
        if session is None or not isinstance(folder, str) or not folder.startswith("/"):
            return None
        return Past(session, path, Path(folder))

    def record(self, transcript: Path) -> Tail:
        return Tail(transcript, record.parse)

    def window(self, model: str | None, env: Mapping[str, str]) -> int | None:
        """Unknown until an answer has told it."""
        return None

    def usable(self, window: int, env: Mapping[str, str], model: str | None = None) -> int:
        return window
