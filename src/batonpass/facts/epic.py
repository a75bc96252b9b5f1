"""The epic at hand, its phase and its checklist."""

import re
from pathlib import Path

from batonpass.disk import open_plain
from batonpass.facts.model import Epic

_MOST_BYTES = 200_000
_BOX = re.compile(r"^\s*[-*+] \[([ xX])\] (.+?)\s*$", re.MULTILINE)
_FIELD = r"^\s*(?:[-*+] )?\**{name}\**\s*:\s*\**\s*(.+?)\s*$"
_STATUS = re.compile(_FIELD.format(name="Status"), re.MULTILINE | re.IGNORECASE)
_PHASE = re.compile(_FIELD.format(name="Phase"), re.MULTILINE | re.IGNORECASE)
_TITLE = re.compile(r"^# (.+?)\s*$", re.MULTILINE)
_COMPLETE = {"complete", "completed", "done", "closed"}


def read_epic(project: Path) -> Epic | None:
    """The incomplete epic that was changed last under .bmad/epics; None when there is none."""
    found = [file for file in (project / ".bmad" / "epics").glob("epic-*.md") if file.is_file()]
    files = sorted(found, key=lambda file: -file.stat().st_mtime)
    for file in files:
        epic, complete = _read(file, file.relative_to(project).as_posix())
        if not complete:
            return epic
    return None


def _read(file: Path, name: str) -> tuple[Epic, bool]:
    with open_plain(file) as stream:
        text = stream.read(_MOST_BYTES).decode("utf-8", "replace")
    title, status, phase = (found.search(text) for found in (_TITLE, _STATUS, _PHASE))
    boxes = _BOX.findall(text)
    done = tuple(item for mark, item in boxes if mark != " ")
    still_open = tuple(item for mark, item in boxes if mark == " ")
    said = bool(status) and status is not None and status.group(1).strip("* ").lower() in _COMPLETE
    epic = Epic(name, title.group(1) if title else file.stem, phase.group(1) if phase else None, done, still_open)
    return epic, said or (bool(boxes) and not still_open)


def is_complete(project: Path, epic: str) -> bool:
    """Whether an epic, by its path, is done: its file says so, or every box is ticked. One that is gone is not."""
    try:
        return _read(project / epic, epic)[1]
    except OSError:
        return False
