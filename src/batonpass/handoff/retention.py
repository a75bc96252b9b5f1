"""History: put away when its epic is complete, deleted when it is old, and never while it is needed."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from batonpass.checkpoint import retention as checkpoints
from batonpass.config.effective import Config
from batonpass.disk import Outside, read_document, stay_inside
from batonpass.facts.epic import is_complete, read_epic
from batonpass.handoff.chain import Link, link
from batonpass.handoff.commits import commit, tracked
from batonpass.handoff.document import Handoff
from batonpass.handoff.layouts import Layout, every
from batonpass.handoff.markdown import NotAHandoff, parse

_DAY = 86_400.0
_CHECKPOINT = re.compile(r"[\w.-]+\.json\.gz")


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be put away and what is to be deleted."""

    archive: tuple[Path, ...]
    delete: tuple[Path, ...]


@dataclass(slots=True)
class Tidied:
    """What was put away and what was deleted; with a dry run, what would be."""

    archived: list[Path] = field(default_factory=list)
    deleted: list[Path] = field(default_factory=list)
    checkpoints: list[Path] = field(default_factory=list)  # deleted, too
    note: str | None = None  # what became of the commit, where it did not succeed

    @property
    def any(self) -> bool:
        return bool(self.archived or self.deleted or self.checkpoints)


def tidy(project: Path, config: Config, now: float, *, dry_run: bool = False) -> Tidied:
    """Put a project's history in order, by its configuration: its handoffs in every layout, and its checkpoints.

    What cannot be moved or deleted stays, and the rest goes on.
    """
    layouts = every(project, config)
    done = Tidied()
    moved: list[Path] = []
    for layout in layouts:
        due = plan(layout, retention_days=config.retention_days, now=now, needed=needed(layouts))
        known = tracked(project, [*due.archive, *due.delete]) if config.commits and not dry_run else []
        archived, deleted = (list(due.archive), list(due.delete)) if dry_run else carry_out(layout, due)
        done.archived += archived
        done.deleted += deleted
        moved += known
        moved += [path for path in archived if any(path.name == old.name for old in known)]
    done.checkpoints = _old_checkpoints(project, config, layouts, now)
    if not dry_run:
        done.checkpoints = [path for path in done.checkpoints if _gone(path)]
        done.note = commit(project, moved, "docs: old handoffs put away")
    return done


def needed(layouts: Iterable[Layout]) -> frozenset[str]:
    """The names of handoffs that a chain needs: its last one, and whatever one in place names as its predecessor."""
    places = list(layouts)
    current = [found for layout in places for path in layout.list() if (found := link(path))]
    past = [found for layout in places for path in layout.archived()[-1:] if (found := link(path))]
    last = max([*current, *past], key=lambda each: each.number or 0, default=None)
    names = {each.previous for each in current if each.previous}
    return frozenset(names | ({last.path.name} if last else set()))


def plan(layout: Layout, *, retention_days: int, now: float, needed: Collection[str] = ()) -> Plan:
    """What a tidy-up of this layout would do.

    Archived is what belongs to an epic that is complete, except the latest handoff. Deleted is what is archived
    and older than `retention_days`, except what the current epic has, what a handoff in place names as its
    predecessor, and what is needed for another reason.
    """
    current = layout.list()
    if layout.name == "living":
        current = []  # updated in place: it is archived by hand, or when it grew too long
    done = tuple(path for path in current[:-1] if _is_done(layout.project, path))
    names = {found.previous for path in current if (found := link(path))}
    return Plan(done, _old(layout, {*needed, *names}, now - retention_days * _DAY))


def carry_out(layout: Layout, what: Plan) -> tuple[list[Path], list[Path]]:
    """Archive and delete; gives what was. A file that cannot be moved or deleted stays, and the rest goes on."""
    archived = []
    for path in what.archive:
        try:
            if (target := layout.archive(path)) is not None:
                archived.append(target)
        except OSError:
            continue
    deleted = [path for path in what.delete if _gone(path)]
    return archived, deleted


def _is_done(project: Path, path: Path) -> bool:
    document = _read(path)
    return document is not None and document.epic is not None and is_complete(project, document.epic)


def _old(layout: Layout, needed: Collection[str | None], before: float) -> tuple[Path, ...]:
    epic = read_epic(layout.project)
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


def _old_checkpoints(project: Path, config: Config, layouts: Iterable[Layout], now: float) -> list[Path]:
    """Those that are old and that no handoff in use points to: the current epic's, and each session's last."""
    directory = project / config.checkpoint_dir
    try:
        stay_inside(project, directory)
    except Outside:
        return []
    epic = read_epic(project)
    last: dict[str | None, Link] = {}
    used: set[Path] = set()
    for path in (path for layout in layouts for path in layout.list()):
        found, document = link(path), _read(path)
        if found is None or document is None:
            continue
        if epic is not None and document.epic == epic.path:
            used.add(path)
        if (found.number or 0) >= (last[found.session].number or 0 if found.session in last else 0):
            last[found.session] = found
    used |= {found.path for found in last.values()}
    named = {name for path in used for name in _CHECKPOINT.findall(_text(path))}
    return checkpoints.old(directory, now - config.checkpoint_retention_days * _DAY, named)


def _text(path: Path) -> str:
    try:
        return read_document(path)
    except OSError:
        return ""


def _gone(path: Path) -> bool:
    try:
        path.unlink()
    except OSError:
        return False
    return True


def _read(path: Path) -> Handoff | None:
    try:
        return parse(read_document(path))
    except (OSError, NotAHandoff):
        return None
