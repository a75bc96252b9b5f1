"""Aider's chat history as normalised events: markdown, in which only the marks at the beginning of lines count.

It dates the start of the program and nothing else, and rounds what it says of tokens.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from batonpass.disk import open_plain
from batonpass.transcripts.events import Event, Failed, Origin, Prompted, Said, Used
from batonpass.transcripts.tail import Batch

_BEGAN = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)")
_MODEL = re.compile(r"> (?:Main model|Model): (\S+)")
_FIGURE = r"([\d.,]+[kM]?)"
_TOKENS = re.compile(rf"> Tokens: {_FIGURE} sent,.*?{_FIGURE} received")
_FAILED = re.compile(r"> litellm\.(\w+): (.*)")
_KINDS = {
    "RateLimitError": "rate_limit",
    "ServiceUnavailableError": "overloaded",
    "InternalServerError": "overloaded",
    "AuthenticationError": "authentication",
    "PermissionDeniedError": "authentication",
    "ContextWindowExceededError": "too_long",
}
_LARGEST = 64 << 20  # bytes of a history that are looked at: the latest


@dataclass(slots=True)
class _Reader:
    at: float = 0.0
    model: str = ""
    asked: bool = False  # what stands before the first prompt is no answer, but a long command line
    prompt: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def read(self, text: str) -> Iterator[Event]:
        for line in text.split("\n"):
            if line.startswith("#### "):
                yield from self._end_of_answer()
                self.asked = True
                self.prompt.append(line[5:].rstrip())
                continue
            yield from self._end_of_prompt()
            if began := _BEGAN.match(line):
                self.at, self.asked = datetime.fromisoformat(began[1]).timestamp(), False
            elif line.startswith("> "):
                yield from self._remark(line)
            elif self.asked and (line.strip() or self.said):
                self.said.append(line)
        yield from self._end_of_prompt()
        yield from self._end_of_answer()

    def _remark(self, line: str) -> Iterator[Event]:
        """What the program says of itself."""
        if model := _MODEL.match(line):
            self.model = model[1]
        elif tokens := _TOKENS.match(line):
            yield from self._end_of_answer()
            received = _figure(tokens[2])
            yield Used(self.at, _figure(tokens[1]) + received, received, self.model, "")
        elif failed := _FAILED.match(line):
            yield Failed(self.at, _KINDS.get(failed[1], "other"), f"{failed[1]}: {failed[2].strip()}")

    def _end_of_prompt(self) -> Iterator[Event]:
        if self.prompt:
            yield Prompted(self.at, "\n".join(self.prompt), Origin.HUMAN)
            self.prompt = []

    def _end_of_answer(self) -> Iterator[Event]:
        text = "\n".join(self.said).strip()
        self.said = []
        if text:
            yield Said(self.at, text, "")


def _figure(text: str) -> int:
    """A number of tokens as it is shown.

    >>> _figure("25k"), _figure("1.2k"), _figure("40"), _figure("1,024")
    (25000, 1200, 40, 1024)
    """
    scale = {"k": 1_000, "M": 1_000_000}.get(text[-1], 1)
    try:
        return round(float(text.rstrip("kM").replace(",", "")) * scale)
    except ValueError:
        return 0


class History:
    """Satisfies `Record`: what is told once is not told again, unless the file became another one."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._told: tuple[Event, ...] = ()

    def read(self) -> Batch:
        try:
            with open_plain(self._path) as stream:
                stream.seek(max(0, stream.seek(0, 2) - _LARGEST))
                text = stream.read(_LARGEST).decode("utf-8", "replace")
        except OSError:
            return Batch()
        events = tuple(_Reader().read(text))
        known, self._told = self._told, events
        if events[: len(known)] == known:
            return Batch(events[len(known) :])
        return Batch(events, reset=True)
