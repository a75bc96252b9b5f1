"""What people wrote into a document that Baton keeps: told by comparison, and never lost."""

import re
from dataclasses import replace

from batonpass.handoff import fences
from batonpass.handoff.document import Handoff, Section

TITLE = "Added by hand"
_STRUCTURE = re.compile(r"^(?:#|---|\*\*[^*]+\*\*:|<!-- baton:|\|?[ |:-]*$)")
_MARK = re.compile(r"^(?:<{7}|\|{7}|={7}|>{7})(?: .*)?$")


def sides(text: str) -> tuple[str, str]:
    """The two whole texts that a file with git's conflict marks stands for; twice the same without a conflict."""
    ours: list[str] = []
    theirs: list[str] = []
    place = "both"
    for line in text.split("\n"):
        if _MARK.match(line):
            place = {"<": "ours", "|": "base", "=": "theirs", ">": "both"}[line[0]]
            continue
        if place in ("both", "ours"):
            ours.append(line)
        if place in ("both", "theirs"):
            theirs.append(line)
    return "\n".join(ours), "\n".join(theirs)


def added(text: str, base: str) -> list[str]:
    """The lines of a text that another one does not have, without headings and rules."""
    known = {_bare(line) for line in base.split("\n")}
    found = []
    for line, plain in fences.marked(text.split("\n")):
        if plain and not _STRUCTURE.match(line) and _bare(line) and _bare(line) not in known:
            found.append(line.strip())
    return found


def with_lines(document: Handoff, lines: list[str]) -> Handoff:
    """The document with these lines under a heading of their own, except those that stand in it already."""
    present = {_bare(line) for section in document.sections for line in section.body.split("\n")}
    fresh = [line for line in dict.fromkeys(lines) if _bare(line) not in present]
    if not fresh:
        return document
    listed = [line if re.match(r"^(?:[-*+]|\d{1,3}[.)])\s", line) else f"- {line}" for line in fresh]
    earlier = document.section(TITLE)
    body = "\n".join([earlier, *listed] if earlier else listed)
    others = tuple(section for section in document.sections if section.title != TITLE)
    return replace(document, sections=(*others, Section(TITLE, body)))


def _bare(line: str) -> str:
    """A line without its list mark, box and id, which every update gives anew."""
    return " ".join(re.sub(r"^\s*(?:[-*+]|\d{1,3}[.)])\s+(?:\[.\]\s+)?(?:\([CINP]\d+\)\s*)*", "", line).split())
