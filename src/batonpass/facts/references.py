"""Plans and decisions that the project keeps under .bmad."""

import re
from pathlib import Path

from batonpass.disk import open_plain
from batonpass.facts.model import Reference

_FOLDERS = (("plan", "plans"), ("plan", "plan"), ("adr", "adr"), ("adr", "adrs"))
_MOST = 6  # of a kind: the ones that were changed last
_TITLE = re.compile(r"^# (.+?)\s*$", re.MULTILINE)


def read_references(project: Path) -> tuple[Reference, ...]:
    """The plans and ADRs that were changed last, each with its title."""
    found: list[Reference] = []
    for kind, folder in _FOLDERS:
        files = [file for file in (project / ".bmad" / folder).glob("*.md") if file.is_file()]
        for file in sorted(files, key=lambda file: -file.stat().st_mtime)[:_MOST]:
            with open_plain(file) as stream:
                title = _TITLE.search(stream.read(4_000).decode("utf-8", "replace"))
            found.append(Reference(kind, file.relative_to(project).as_posix(), title[1] if title else file.stem))
    return tuple(found)
