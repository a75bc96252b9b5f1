"""The handoff document: one model, whoever wrote the words.

A `Handoff` is always in normal form: standard names, one section of a name, bodies trimmed and with their
fences closed. That is what makes markdown a lossless way to keep it.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from batonpass.handoff import fences, names

# The fields of the header, in the order in which they are written.
FIELDS = (
    "Created", "Handoff", "Previous Instance", "Session", "Agent", "Context Usage", "Window", "Project",
    "Current Epic", "Branch", "Reason",
)  # fmt: skip
_FIELD_NAMES = frozenset(name.lower() for name in FIELDS)


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    body: str

    def __post_init__(self) -> None:
        title = " ".join(self.title.split())
        if not title:
            raise ValueError("A section needs a title.")
        object.__setattr__(self, "title", title)
        object.__setattr__(self, "body", normal_body(self.body))


@dataclass(frozen=True, slots=True)
class Item:
    """A list item that was given an id at the seal: C constraint, I in progress, P pending, N next step."""

    id: str
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Handoff:
    """The document. What the header does not say is None, never zero or an empty text."""

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

    def __post_init__(self) -> None:
        settle = object.__setattr__
        for name in ("previous", "session", "agent", "agent_session", "project", "epic", "branch", "reason"):
            settle(self, name, _line(getattr(self, name)))
        settle(self, "title", _line(self.title) or "Context Handoff")
        settle(self, "percent", None if self.percent is None else round(self.percent, 1))
        settle(self, "headers", tuple(_header(name, value) for name, value in self.headers))
        settle(self, "preamble", _normal_preamble(self.preamble))
        sections, instructions = _gathered(self.sections)
        settle(self, "sections", sections)
        settle(self, "instructions", normal_body(_joined(self.instructions, *instructions)))

    def section(self, title: str) -> str | None:
        """The body of a section by its title; None when the document does not have it."""
        return next((s.body for s in self.sections if s.title.lower() == title.lower()), None)


def normal_body(text: str) -> str:
    """A body without blank lines or rules at its ends, its fences closed."""
    lines = fences.closed(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    while lines and (not lines[-1].strip() or lines[-1].strip() == "---"):
        lines.pop()
    first = next((n for n, line in enumerate(lines) if line.strip()), 0)
    return "\n".join(lines[first:])


def _normal_preamble(text: str) -> str:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    kept = [line for line, plain in fences.marked(lines) if not (plain and line.strip() == "---")]
    return normal_body("\n".join(kept))


def _line(text: str | None) -> str | None:
    """One line without the back-quotes that people put around names; None for nothing."""
    if text is None:
        return None
    line = " ".join(text.split())
    while len(line) > 1 and line[0] == line[-1] == "`":
        line = line[1:-1].strip()
    return line if line.strip("` ") else None


def _header(name: str, value: str) -> tuple[str, str]:
    name = " ".join(name.replace("*", " ").replace(":", " ").split())
    if not name or name.lower() in _FIELD_NAMES:
        raise ValueError(f"{name!r} is a field of the document itself, or nothing.")
    return name, " ".join(value.split())


def _gathered(sections: Iterable[Section]) -> tuple[tuple[Section, ...], list[str]]:
    """Sections under their standard names, those of one name joined; instructions apart."""
    bodies: dict[str, list[str]] = {}
    titles: dict[str, str] = {}
    instructions: list[str] = []
    for section in sections:
        title, part = names.canonical(section.title)
        if title == names.RECORDED:
            raise ValueError("What Baton recorded belongs in `recorded`, not in a section.")
        if title == names.INSTRUCTIONS:
            instructions.append(section.body)
            continue
        body = _joined(f"### {part}", section.body) if part else section.body
        titles.setdefault(title.lower(), title)
        bodies.setdefault(title.lower(), []).append(body)
    joined = tuple(Section(title, _joined(*bodies[key])) for key, title in titles.items())
    return joined, instructions


def _joined(*texts: str) -> str:
    return "\n\n".join(text for text in texts if text)
