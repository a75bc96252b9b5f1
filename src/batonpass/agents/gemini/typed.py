"""What people typed into Gemini CLI, as it notes it beside the sessions of a project.

Every process notes under the conversation that it began with, also after a clear: so the notes tell which process
left its conversation, and when. A run without a screen notes nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from batonpass.disk import read_plain
from batonpass.untrusted import decode, stamp

NOTES = "logs.json"  # beside the folder of the sessions

_LIMIT = 64 << 20
_CLEARS = ("/clear", "/new")
_LEAVES = ("/resume", "/chat")  # another conversation may be chosen there, and which one is not noted


@dataclass(frozen=True, slots=True)
class Typed:
    """One line of a person, or of Baton, and under which conversation its process began."""

    session: str
    at: float
    text: str

    @property
    def clears(self) -> bool:
        return self.text.split()[:1] in ([word] for word in _CLEARS)

    @property
    def leaves(self) -> bool:
        return self.text.split()[:1] in ([word] for word in _LEAVES)


def typed(chats: Path) -> list[Typed]:
    """All that is noted for the sessions of this folder, oldest first; nothing where nothing can be read."""
    try:
        noted = decode(read_plain(chats.parent / NOTES, limit=_LIMIT))
    except (OSError, ValueError):
        return []
    return sorted(_each(noted), key=lambda line: line.at)


def _each(noted: object) -> Iterator[Typed]:
    for entry in noted if isinstance(noted, list) else ():
        match entry:
            case {"sessionId": str(session), "timestamp": str(at), "message": str(text)}:
                yield Typed(session, seconds(at), text)
            case _:
                pass


def seconds(stamped: object) -> float:
    """The moment that a stamp of the program's names; 0 where it names none."""
    try:
        return stamp(stamped)
    except ValueError:
        return 0.0
