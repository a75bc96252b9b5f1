"""The handoff document: one model, whoever wrote the words."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    body: str


@dataclass(frozen=True, slots=True)
class Item:
    """A list item that was given an id at the seal: C constraint, I in progress, P pending, N next step."""

    id: str
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Handoff:
    number: int | None = None
    previous: str | None = None  # file name of the predecessor
    created: int | None = None
    session: str | None = None
    agent: str | None = None
    agent_session: str | None = None
    project: str | None = None
    epic: str | None = None
    branch: str | None = None
    used: int | None = None
    usable: int | None = None
    window: int | None = None
    percent: float | None = None
    reason: str | None = None
    title: str = "Context Handoff"
    headers: tuple[tuple[str, str], ...] = ()  # header fields that people added
    preamble: str = ""  # text between the header and the first section
    sections: tuple[Section, ...] = ()
    recorded: tuple[Section, ...] = ()  # the sub-sections of "Recorded by Baton"
    instructions: str = ""
    checksum: str | None = None

    def section(self, title: str) -> str | None:
        """The body of a section by its title; None when the document does not have it."""
        return next((s.body for s in self.sections if s.title.lower() == title.lower()), None)
