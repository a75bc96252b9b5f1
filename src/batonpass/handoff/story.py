"""The chain as a story: which handoffs there were, and what was done between each."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from batonpass.disk import read_document
from batonpass.facts.wording import says
from batonpass.handoff import names, record
from batonpass.handoff.document import Handoff
from batonpass.handoff.items import is_nothing, items
from batonpass.handoff.layouts.base import Layout
from batonpass.handoff.layouts.living import HISTORY
from batonpass.handoff.markdown import NotAHandoff, parse
from batonpass.handoff.seal import checksum_ok

_COMMIT = re.compile(r"^- Commit of this session \w+: (.+)$", re.MULTILINE)
_PAST = re.compile(r"^- #(\d+) (\S+ \S+) UTC, \d+ open: (.*)$", re.MULTILINE)
_ENTRY = re.compile(r"^\s*(?:[-*+]|\d{1,3}[.)])\s+(?:\[.\]\s+)?(.*)$")


@dataclass(frozen=True, slots=True)
class Chapter:
    """One handoff: its task, what was done in the session that it ends, and what it left open."""

    number: int | None
    path: Path | None  # None: the document was updated in place since, and only a line of it is left
    created: int | None
    session: str | None
    percent: float | None
    sealed: bool
    task: str
    done: tuple[str, ...]
    left: tuple[str, ...]


def story(layouts: Iterable[Layout]) -> list[Chapter]:
    """Every handoff of a project, oldest first, wherever it lies."""
    found: list[tuple[Chapter, Handoff]] = []
    for layout in layouts:
        for path in (*layout.archived(), *layout.list()):
            try:
                text = read_document(path)
                document = parse(text)
            except (OSError, NotAHandoff):
                continue
            if document.number is not None or document.created is not None:
                found.append((_chapter(path, document, bool(checksum_ok(text))), document))
    chapters = {chapter.number: chapter for chapter, _ in found}
    past = [line for _, document in found for line in _past(document) if line.number not in chapters]
    whole = _with_finished([chapter for chapter, _ in found])
    unique = {(line.number, line.task): line for line in past}
    return sorted([*unique.values(), *whole], key=lambda each: (each.number or 0, each.created or 0))


def _chapter(path: Path, document: Handoff, sealed: bool) -> Chapter:
    git = next((part.body for part in document.recorded if part.title == record.GIT), "")
    done = [*_completed(document.section(names.PROGRESS) or ""), *reversed(_COMMIT.findall(git))]
    return Chapter(
        number=document.number,
        path=path,
        created=document.created,
        session=document.session,
        percent=document.percent,
        sealed=sealed,
        task=_task(document),
        done=tuple(dict.fromkeys(done)),
        left=tuple(item.text for item in items(document) if item.kind in "IP"),
    )


def _completed(progress: str) -> list[str]:
    """The list under "Completed"; boxes that are ticked where the section has no parts."""
    found, inside = [], False
    for line in progress.split("\n"):
        if line.startswith("###"):
            inside = names.COMPLETED.lower() in line.lower()
        entry = _ENTRY.match(line)
        if entry and (inside or "[x]" in line.lower()) and not is_nothing(entry[1]):
            found.append(entry[1].strip())
    return found


def _task(document: Handoff) -> str:
    text = " ".join((document.section(names.CURRENT_TASK) or "").split()).removeprefix("- ")
    return text if len(text) <= 160 else f"{text[:159]}…"


def _past(document: Handoff) -> list[Chapter]:
    lines = _PAST.findall(document.section(HISTORY) or "")
    return [Chapter(int(number), None, None, document.session, None, True, task, (), ()) for number, _, task in lines]


def _with_finished(chapters: list[Chapter]) -> list[Chapter]:
    """Each with what was done since the one before it: agents list what is done again and again."""
    ordered = sorted(chapters, key=lambda each: (each.number or 0, each.created or 0))
    seen: list[str] = []
    told = []
    for chapter in ordered:
        fresh = tuple(text for text in chapter.done if not any(says(old, text, share=0.9) for old in seen))
        seen += fresh
        told.append(replace(chapter, done=fresh))
    return told
