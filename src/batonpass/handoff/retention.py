"""History: put away when its epic is complete, deleted when it is old, and never while it is needed."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from batonpass.disk import read_document
from batonpass.facts.epic import is_complete, read_epic
from batonpass.handoff.chain import link
from batonpass.handoff.document import Handoff
from batonpass.handoff.layouts.base import Layout
from batonpass.handoff.markdown import NotAHandoff, parse

_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be put away and what is to be deleted."""

    archive: tuple[Path, ...]
    delete: tuple[Path, ...]


def plan(layout: Layout, *, retention_days: int, now: float) -> Plan:
    """What a tidy-up of this layout would do.

    Archived is what belongs to an epic that is complete, except the latest handoff. Deleted is what is archived
    and older than `retention_days`, except what the current epic has and what a handoff in place names as its
    predecessor.
    """
    current = layout.list()
    if layout.name == "living":
        current = []  # updated in place: it is archived by hand, or when it grew too long
    done = tuple(path for path in current[:-1] if _is_done(layout.project, path))
    return Plan(done, _old(layout, current, now - retention_days * _DAY))


def carry_out(layout: Layout, what: Plan) -> tuple[list[Path], list[Path]]:
    """Archive and delete; gives what was. A file that cannot be moved or deleted stays, and the rest goes on."""
    archived, deleted = [], []
    for path in what.archive:
        try:
            if (target := layout.archive(path)) is not None:
                archived.append(target)
        except OSError:
            continue
    for path in what.delete:
        try:
            path.unlink()
        except OSError:
            continue
        deleted.append(path)
    return archived, deleted


def _is_done(project: Path, path: Path) -> bool:
    document = _read(path)
    return document is not None and document.epic is not None and is_complete(project, document.epic)


def _old(layout: Layout, current: Sequence[Path], before: float) -> tuple[Path, ...]:
    epic = read_epic(layout.project)
    needed = {found.previous for path in current if (found := link(path))}
    old = []
    for path in layout.archived():
        document = _read(path)
        if document is None or document.number is None:
            continue  # somebody else's
        at = document.created if document.created is not None else path.stat().st_mtime
        of_now = epic is not None and document.epic == epic.path
        if at < before and path.name not in needed and not of_now:
            old.append(path)
    return tuple(old)


def _read(path: Path) -> Handoff | None:
    try:
        return parse(read_document(path))
    except (OSError, NotAHandoff):
        return None
