"""The sealed handoff on its way to the successor: what lies on disk must be what was sealed.

A copy in the session's private folder outlives whoever changes or deletes the file in the project.
"""

import asyncio
import os
from pathlib import Path

from batonpass.cycle.case import Case
from batonpass.disk import read_document, stay_inside, write_private
from batonpass.handoff.seal import checksum_ok


def keep_copy(case: Case, text: str) -> None:
    """Keep what was sealed. Raises OSError."""
    write_private(_copy(case), text)


def forget_copy(case: Case) -> None:
    """Drop the copies of a cycle that is over, and the drafts of what was sealed: they may hold more than it does."""
    for name in ("sealed.md", "document.md"):
        (case.watch.folder / name).unlink(missing_ok=True)
    if case.recall("sealed"):
        for draft in case.draft(1).parent.glob(f"{case.cycle.id}-*.md"):
            draft.unlink(missing_ok=True)


async def as_sealed(case: Case) -> str | None:
    """The handoff as it was sealed, once the file in the project holds exactly that.

    One that was changed or removed is written again, what stood there is kept beside it, and a person is told.
    None when nothing whole is left, or the file cannot be written.
    """
    path = Path(str(case.recall("sealed")))
    kept, found = _whole(_copy(case)), _text(path)
    if kept is None or found == kept:
        return found if found is not None and checksum_ok(found) else None
    try:
        aside = await asyncio.to_thread(_put_right, case.watch.session.project, path, kept)
    except OSError:
        return None
    rest = f", and what stood there is in {aside}" if aside else ""
    name = case.watch.session.name
    what = "changed" if aside else "removed"
    await case.stage.notify(
        case.watch.session.id, f"{name}: the handoff {path} was {what} after its seal; it was written again{rest}"
    )
    return kept


def text_of(case: Case) -> str:
    """What was sealed, whatever has become of the file since. Raises OSError when nothing of it is left."""
    kept = _whole(_copy(case))
    return kept if kept is not None else read_document(Path(str(case.recall("sealed"))))


def set_aside(path: Path) -> Path:
    """Give a file another name beside its own; the new name."""
    number = 1
    while (aside := path.with_name(f"{path.name}.changed{number}")).exists():
        number += 1
    os.replace(path, aside)
    return aside


def _copy(case: Case) -> Path:
    return case.watch.folder / "sealed.md"


def _whole(path: Path) -> str | None:
    text = _text(path)
    return text if text is not None and checksum_ok(text) else None


def _text(path: Path) -> str | None:
    try:
        return read_document(path)
    except OSError:
        return None


def _put_right(project: Path, path: Path, text: str) -> Path | None:
    stay_inside(project, path.parent)
    aside = set_aside(path) if os.path.lexists(path) else None
    write_private(path, text)
    return aside
