"""A transcript, whatever its agent keeps it in: a file of lines, or one conversation of many in a database."""

from pathlib import Path
from typing import Protocol

from batonpass.transcripts.tail import Batch


class Record(Protocol):
    """One conversation as its agent writes it down, followed."""

    def read(self) -> Batch:
        """Every event since the last look; an empty batch as long as there is nothing to read. Never raises."""
        ...


def is_there(transcript: Path) -> bool:
    """Whether a transcript can be read. In a file of many, a conversation is named below that file's path."""
    return transcript.is_file() or transcript.parent.is_file()
