"""Qwen Code, as far as Baton knows it: its conversations can be read, and it runs headless. Experimental."""

from collections.abc import Mapping
from pathlib import Path

from batonpass.agents.base import Past
from batonpass.agents.qwen import record
from batonpass.transcripts.tail import Tail
from batonpass.transcripts.whole import first_entry
from batonpass.untrusted import identifier

_COMPRESSES_AT = 0.7  # of the window, where nobody has set another share


class Qwen:
    """Satisfies `Readable`, over Qwen Code 0.15."""

    name = "qwen"

    def past(self, wanted: str, env: Mapping[str, str]) -> Past | None:
        """The conversation of that id, or in that file."""
        path: Path | None = Path(wanted)
        if not wanted.endswith(".jsonl"):
            home = Path(env.get("HOME") or Path.home()) / ".qwen"
            path = next(home.glob(f"projects/*/chats/{identifier(wanted)}.jsonl"), None)
        entry = first_entry(path) if path is not None else {}
        session, folder = identifier(entry.get("sessionId")), entry.get("cwd")
        if path is None or session is None or not isinstance(folder, str) or not folder.startswith("/"):
            return None
        return Past(session, path, Path(folder))

    def record(self, transcript: Path) -> Tail:
        return Tail(transcript, record.parse)

    def window(self, model: str | None, env: Mapping[str, str]) -> int | None:
        """Unknown: it depends on the provider behind a model, and the record does not tell."""
        return None

    def usable(self, window: int, env: Mapping[str, str], model: str | None = None) -> int:
        return int(window * _COMPRESSES_AT)
