"""The `living` layout: one document, updated in place, in which people may write too."""

import builtins
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from batonpass.disk import keep_out_of_git, make_inside, read_document, stay_inside, write_new, write_private
from batonpass.handoff import by_hand, names
from batonpass.handoff.document import Handoff, Section
from batonpass.handoff.items import items
from batonpass.handoff.markdown import NotAHandoff, parse

HISTORY = "History"
_MOST_HISTORY = 60
_BASE = ".baton/drafts/living/base.md"
_ARCHIVED = re.compile(r"^HANDOFF-(\d{4}-\d{2}-\d{2}-\d{4})(?:-(\d+))?\.md$")
_STANDARD = frozenset({*names.STANDARD, names.BLOCKERS, HISTORY, "Session Info"})

TEMPLATE = """\
# Orchestration Handoff

## Current Task

<task description>

## Progress Summary

## Active Workers

| Session | Task | Status | Branch | Last Update |
|---------|------|--------|--------|-------------|
| | | | | |

## Pending Tasks

- [ ] <task description>

## Blocked Items

| Item | Blocker | Action Needed |
|------|---------|---------------|
| | | |

## Recent Decisions

## Files Modified

## Next Actions

<!-- What the next session should do first -->

## Important Context

<!-- Any context that would be lost without capture -->

## Notes

<!-- Sections of your own are kept when this document is updated. -->
"""


class LivingLayout:
    """`docs/HANDOFF.md`, its template and its archive."""

    name = "living"
    titles: Mapping[str, str] = {
        names.SUBAGENTS: "Active Workers", names.BLOCKERS: "Blocked Items", names.NEXT_STEPS: "Next Actions",
    }  # fmt: skip

    def __init__(
        self,
        project: Path,
        *,
        document: str = "docs/HANDOFF.md",
        template: str = "docs/HANDOFF-template.md",
        archive: str = "docs/HANDOFF-archive/",
        most_lines: int = 500,
    ) -> None:
        self.project = project
        self.document = project / document
        self.template = project / template
        self.archive_dir = project / archive
        self.draft_dir = project / ".baton" / "drafts"
        self._most_lines = most_lines
        self._base = project / _BASE
        self._own = (document, template, archive.rstrip("/") + "/")

    def path_for(self, created: float) -> Path:
        """Always the one document."""
        return self.document

    def adopt(self, document: Handoff) -> Handoff:
        """The document with the sections that people added, what they wrote into others, and one line of history.

        A conflict that git left in the file is resolved here: nothing of either side is lost.
        """
        now = self._read(self.document)
        if now is None:
            extra = _own_sections(_parsed(self._read(self.template) or ""))
            return replace(document, title="Orchestration Handoff", sections=(*document.sections, *extra))
        ours, theirs = by_hand.sides(now)
        known = {section.title.lower() for section in document.sections}
        kept = [section for section in _own_sections(_parsed(ours)) if section.title.lower() not in known]
        kept += _missing(kept, _own_sections(_parsed(theirs)), known)
        base = self._read(self._base)
        added = by_hand.added(ours, base) if base is not None else []
        added += [line for line in by_hand.added(theirs, ours) if line not in added]
        whole = replace(document, title="Orchestration Handoff", sections=(*document.sections, *kept))
        return _with_history(by_hand.with_lines(whole, added), _parsed(ours))

    def write(self, path: Path, text: str) -> None:
        """The sealed text in place of what was there: one or the other is on disk, never a half."""
        stay_inside(self.project, path)
        make_inside(self.project, path.parent, 0o755)
        make_inside(self.project, self.template.parent, 0o755)
        if not os.path.lexists(self.template):
            write_new(self.template, TEMPLATE.encode("utf-8"))
        old = self._read(path)
        if old == text:
            return
        if old is not None and old.count("\n") > self._most_lines:
            self._copy(old)
        keep_out_of_git(self._base.parent)
        write_private(path, text)
        write_private(self._base, text)

    def list(self) -> list[Path]:
        """The document, when there is one."""
        return [self.document] if self.document.is_file() else []

    def archived(self) -> "builtins.list[Path]":
        """Every archived state of it, oldest first."""
        if not self.archive_dir.is_dir():
            return []
        named = [(found[1], int(found[2] or 1), path) for path in self.archive_dir.iterdir()
                 if (found := _ARCHIVED.match(path.name))]  # fmt: skip
        return [path for _, _, path in sorted(named)]

    def archive(self, path: Path) -> Path | None:
        """Move the document to the archive and begin another from the template."""
        text = self._read(path)
        if text is None:
            return None
        target = self._copy(text)
        fresh = self._read(self.template) or TEMPLATE
        write_private(path, fresh)
        self._base.unlink(missing_ok=True)
        return target

    def latest(self) -> Path | None:
        return self.document if self.document.is_file() else None

    def commit_paths(self, path: Path) -> tuple[Path, ...]:
        """The document, its template, and what was archived."""
        return tuple(each for each in (path, self.template, *self.archived()) if each.is_file())

    def owns(self, relative: str) -> bool:
        """Whether a path is the document, its template, in its archive, or on its way there."""
        document, template, archive = self._own
        folder, _, name = document.rpartition("/")
        on_its_way = f"{folder}/.{name}." if folder else f".{name}."
        return relative in (document, template) or relative.startswith((archive, on_its_way))

    def _read(self, path: Path) -> str | None:
        try:
            return read_document(path)
        except FileNotFoundError:
            return None

    def _copy(self, text: str) -> Path:
        """A state of the document under a name of its own in the archive; the same state again is one file."""
        document = _parsed(text)
        at = document.created if document and document.created else int(self.document.stat().st_mtime)
        stem = datetime.fromtimestamp(at, UTC).strftime("HANDOFF-%Y-%m-%d-%H%M")
        make_inside(self.project, self.archive_dir, 0o755)
        path, count = self.archive_dir / f"{stem}.md", 1
        while os.path.lexists(path) and self._read(path) != text:
            count += 1
            path = self.archive_dir / f"{stem}-{count}.md"
        write_new(path, text.encode("utf-8"))
        return path


def _parsed(text: str) -> Handoff | None:
    try:
        return parse(text)
    except NotAHandoff:
        return None


def _own_sections(document: Handoff | None) -> list[Section]:
    """The sections that no handoff has by itself: people put them there."""
    found = document.sections if document else ()
    return [section for section in found if section.title not in _STANDARD and not _is_empty(section)]


def _is_empty(section: Section) -> bool:
    return not re.sub(r"<!--.*?-->", "", section.body, flags=re.DOTALL).strip()


def _missing(have: list[Section], others: list[Section], known: set[str]) -> list[Section]:
    titles = {section.title.lower() for section in have} | known
    return [section for section in others if section.title.lower() not in titles]


def _with_history(document: Handoff, before: Handoff | None) -> Handoff:
    """The document with one line for the handoff that it takes the place of."""
    if before is None or before.number is None or before.created is None:
        return document
    past = [line for line in (before.section(HISTORY) or "").split("\n") if line.startswith("- #")]
    when = datetime.fromtimestamp(before.created, UTC).strftime("%Y-%m-%d %H:%M")
    task = " ".join((before.section(names.CURRENT_TASK) or "").split())[:120]
    left = sum(item.kind in "IP" for item in items(before))
    line = f"- #{before.number} {when} UTC, {left} open: {task}"
    if line not in past:
        past.append(line)
    sections = tuple(section for section in document.sections if section.title != HISTORY)
    return replace(document, sections=(*sections, Section(HISTORY, "\n".join(past[-_MOST_HISTORY:]))))
