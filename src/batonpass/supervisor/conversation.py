"""One conversation of an agent, as its own record tells it. Kept small: what the cycle must know, no more."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeGuard

from batonpass.delivery import tags_in
from batonpass.transcripts.events import (
    Compacted,
    Event,
    Failed,
    Interrupted,
    Origin,
    Permitted,
    Prompted,
    Rewound,
    Said,
    ToolReturned,
    TurnEnded,
    Used,
)
from batonpass.transcripts.record import Record

_KEPT = 600  # events that are remembered; whole histories are read from the file when they are needed
Kept = Prompted | Said | TurnEnded | Interrupted | Failed


@dataclass(frozen=True, slots=True)
class News:
    """What a read brought: usage as far as it holds, tags that arrived, compactions, and notes on unreadable lines."""

    used: tuple[Used, ...] = ()
    tags: tuple[tuple[str, float], ...] = ()
    compacted: tuple[Compacted, ...] = ()
    unknown: bool = False  # what was known of the usage before does not hold any more
    permitted: Permitted | None = None  # the last word on it
    notes: tuple[str, ...] = ()
    any: bool = False


class Conversation:
    """Follows one transcript; `read` takes in what was appended since."""

    def __init__(self, agent_session: str, transcript: Path | None, record: Callable[[Path], Record]) -> None:
        self.agent_session = agent_session
        self._record = record
        self._followed: Record | None = None
        self.transcript: Path | None = None
        self.log: list[Kept] = []
        self.forgotten = 0  # events that the log has let go of, so that places in it can be compared
        self._anew = 0  # how many of them came before its record was written anew
        self.prompts = 0
        self.characters = 0  # of everything said and returned, for an estimate where no usage is told
        self.usage_told = False
        self.first_used: int | None = None  # tokens after its very first response
        if transcript is not None:
            self.follow(transcript)

    def follow(self, transcript: Path) -> None:
        """Read from this file, from its start, unless it is the one already followed."""
        if transcript != self.transcript:
            self.transcript = transcript
            self._followed = self._record(transcript)

    def read(self) -> News:
        if self._followed is None:
            return News()
        batch = self._followed.read()
        if batch.reset:
            self.forgotten += len(self.log)
            self.log.clear()
            self._anew = self.forgotten
            self.prompts = 0
            self.first_used = None
        return replace(
            self._take_in(batch.events),
            permitted=next((e for e in reversed(batch.events) if isinstance(e, Permitted)), None),
            notes=tuple(batch.notes),
            any=bool(batch.events) or batch.reset,
        )

    def _take_in(self, events: Sequence[Event]) -> News:
        rewound = max((n for n, e in enumerate(events) if isinstance(e, Rewound)), default=-1)
        tags: list[tuple[str, float]] = []
        for event in events:
            if isinstance(event, Prompted):
                tags += [(tag, event.at) for tag in tags_in(event.text)]
                self.prompts += 1
            if isinstance(event, Kept):
                self.log.append(event)
            if isinstance(event, Prompted | Said | ToolReturned):
                self.characters += len(event.text)
            elif isinstance(event, Used | Compacted | Rewound):
                self.usage_told = True
            if isinstance(event, Used) and self.first_used is None:
                self.first_used = event.used
        self.forgotten += max(0, len(self.log) - _KEPT)
        del self.log[:-_KEPT]
        return News(
            used=tuple(e for e in events[rewound + 1 :] if isinstance(e, Used)),
            tags=tuple(tags),
            compacted=tuple(e for e in events if isinstance(e, Compacted)),
            unknown=rewound >= 0,
        )

    @property
    def told(self) -> int:
        """How many events its record has, as it stands now: the same for a daemon that reads it anew."""
        return self.forgotten + len(self.log) - self._anew

    def since(self, told: int) -> list[Kept] | None:
        """What came behind that many events, as far as it is kept; None where the record was written anew since."""
        return None if told > self.told else self.log[max(0, told + self._anew - self.forgotten) :]

    def has_ended_a_turn_since(self, moment: float) -> bool:
        """Whether a turn was over after that moment, of those that are remembered."""
        return any(isinstance(event, TurnEnded | Interrupted | Failed) and event.at > moment for event in self.log)

    def has_answered_since(self, moment: float) -> bool:
        """Whether the agent said anything after that moment."""
        return any(isinstance(event, Said) and event.at > moment for event in self.log)

    def waits_since(self, moment: float) -> bool:
        """Whether it was there at that moment, and no person has said anything since."""
        there = any(event.at <= moment for event in self.log)
        return there and not any(_by_person(event) and event.at > moment for event in self.log)

    @property
    def failure(self) -> Failed | None:
        """The error that the last turn ended with; None when it ended otherwise, or another has begun since."""
        last = next((event for event in reversed(self.log) if not isinstance(event, TurnEnded)), None)
        return last if isinstance(last, Failed) else None

    def prompted(self, tag: str) -> int | None:
        """Where in the log the prompt with this tag stands; None when it has not arrived."""
        for index, event in enumerate(self.log):
            if isinstance(event, Prompted) and tag in event.text:
                return index
        return None

    def said_after(self, tag: str) -> list[str]:
        """The agent's texts in the turn that this prompt started; a turn that something else started ends it."""
        start = self.prompted(tag)
        if start is None:
            return []
        texts: list[str] = []
        for event in self.log[start + 1 :]:
            if _begins_turn(event):
                break
            if isinstance(event, Said):
                texts.append(event.text)
        return texts

    def prompted_after(self, index: int) -> bool:
        """Whether another turn has begun since this place in the log."""
        return any(_begins_turn(event) for event in self.log[index + 1 :])

    def last_said(self) -> str | None:
        """The agent's last text block."""
        return next((event.text for event in reversed(self.log) if isinstance(event, Said)), None)

    def human_after(self, tag: str) -> list[Prompted]:
        """What a person said after the prompt with this tag; Baton's own prompts are not a person's."""
        start = self.prompted(tag)
        if start is None:
            return []
        return [e for e in self.log[start + 1 :] if _by_person(e)]

    def ended_after(self, tag: str) -> bool:
        """Whether the record says that the turn of this prompt is over."""
        start = self.prompted(tag)
        if start is None:
            return False
        return any(isinstance(e, TurnEnded | Interrupted | Failed) for e in self.log[start + 1 :])


def _begins_turn(event: Kept) -> bool:
    return isinstance(event, Prompted) and event.origin is not Origin.HOOK


def _by_person(event: Kept) -> TypeGuard[Prompted]:
    return isinstance(event, Prompted) and event.origin is Origin.HUMAN and not tags_in(event.text)
