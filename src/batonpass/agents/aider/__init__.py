"""Aider, as far as Baton knows it: its chat history can be read, and it runs headless. Experimental.

It has no conversation ids, no hooks and one history file for each project: that file's path names the conversation.
"""

from collections.abc import Mapping
from pathlib import Path

from batonpass.agents.aider.history import History
from batonpass.agents.base import Past

FILE = ".aider.chat.history.md"


class Aider:
    """Satisfies `Readable`, over Aider 0.86."""

    name = "aider"

    def past(self, wanted: str, env: Mapping[str, str]) -> Past | None:
        """The history in that file, or in that folder."""
        path = Path(wanted)
        if path.is_dir():
            path = path / FILE
        if not path.is_absolute() or not path.is_file():
            return None
        return Past(str(path), path, path.parent)

    def record(self, transcript: Path) -> History:
        return History(transcript)

    def window(self, model: str | None, env: Mapping[str, str]) -> int | None:
        """Unknown: it depends on the provider behind a model, and the history does not tell."""
        return None

    def usable(self, window: int, env: Mapping[str, str], model: str | None = None) -> int:
        return window
