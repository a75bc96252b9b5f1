"""Items of the document with ids, so that a receipt can name them and a machine can count them."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from batonpass.handoff import fences, names
from batonpass.handoff.document import Handoff, Item, Section

NONE_KNOWN = "None known: the agent wrote nothing; see Recorded by Baton."

_KINDS = {names.CONTEXT: "C", names.NEXT_STEPS: "N"}
_PARTS = (("in progress", "I"), ("pending", "P"), ("to do", "P"), ("remaining", "P"))
_ENTRY = re.compile(r"^( ?(?:[-*+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?)((?:\([CINP]\d+\)\s*)*)(.*)$")
_IDS = re.compile(r"^\(([CINP]\d+)\)")
_NOTHING = re.compile(
    r"^[*_`]*(?:none|nothing|n/?a|not applicable|no|-+|–|—)(?: (?:else|known|open|further|more|yet))*"
    r"(?: (?:is|beyond))?(?: (?:pending|open|complete|in progress|the above))?(?: yet)?[.!*_`]*$",
    re.IGNORECASE,
)


def is_nothing(text: str) -> bool:
    """Whether a text says that there is nothing to say.

    >>> is_nothing("None."), is_nothing("None of the tests may use the network")
    (True, False)
    """
    bare = " ".join(_ENTRY.sub(r"\3", line).strip() for line in text.strip().split("\n"))
    return not bare or bare.startswith("None known:") or bool(_NOTHING.match(bare))


def with_ids(handoff: Handoff) -> Handoff:
    """The document with every constraint, open item and next step numbered; older ids are replaced."""
    counts: dict[str, int] = {}

    def number(kind: str) -> str:
        counts[kind] = counts.get(kind, 0) + 1
        return f"{kind}{counts[kind]}"

    return replace(handoff, sections=tuple(_numbered(section, number) for section in handoff.sections))


def items(handoff: Handoff) -> tuple[Item, ...]:
    """The items that have ids, in the order of the document."""
    found: list[Item] = []
    for section in handoff.sections:
        for line, kind in _entries(section):
            entry = _ENTRY.match(line) if kind else None
            known = _IDS.match(entry[2]) if entry else None
            if entry and known:
                found.append(Item(known[1], known[1][0], entry[3].strip()))
    return tuple(found)


def _numbered(section: Section, number: Callable[[str], str]) -> Section:
    kind = _KINDS.get(section.title)
    body = section.body
    if kind and not any(entry_kind for _, entry_kind in _entries(section)) and not is_nothing(body):
        section = Section(section.title, _listed(body))
    lines = []
    for line, line_kind in _entries(section):
        entry = _ENTRY.match(line) if line_kind else None
        if entry and line_kind and not is_nothing(entry[3]):
            line = f"{entry[1]}({number(line_kind)}) {entry[3]}"
        elif entry:
            line = f"{entry[1]}{entry[3]}"
        lines.append(line)
    return Section(section.title, "\n".join(lines))


def _entries(section: Section) -> Iterator[tuple[str, str | None]]:
    """Every line of a section with the kind of item that it begins, if it begins one that counts."""
    kind = _KINDS.get(section.title)
    progress = section.title == names.PROGRESS
    parted = progress and any(
        plain and line.startswith("###") for line, plain in fences.marked(section.body.split("\n"))
    )
    for line, plain in fences.marked(section.body.split("\n")):
        if parted and plain and line.startswith("###"):
            heading = line.lower()
            kind = next((found for part, found in _PARTS if part in heading), None)
        starts = plain and _ENTRY.match(line) is not None
        if progress and not parted:
            kind = "P" if re.match(r"^ ?[-*+]\s+\[ \]", line) else None
        yield line, kind if starts else None


def _listed(body: str) -> str:
    """Prose as a list: one item for each paragraph, so that it can be named."""
    lines: list[str] = []
    begins = True
    for line, plain in fences.marked(body.split("\n")):
        if plain and not line.strip():
            begins = True
        elif begins and plain:
            lines.append(f"- {line.strip()}")
            begins = False
        else:
            lines.append(f"  {line}" if plain else line)
            begins = False
    return "\n".join(lines)
