"""The `files` layout: one dated file per handoff in .bmad/handoffs."""

import os
import re
from datetime import UTC, datetime
from pathlib import Path

from batonpass.disk import make_inside
from batonpass.handoff import atomic

FOLDER = ".bmad/handoffs"
# 000's name, with a count where two fell into one second, and 001's shorter one.
_NAME = re.compile(r"^handoff-(\d{4}-\d{2}-\d{2})-(\d{2})-?(\d{2})-?(\d{2})?(?:-(\d+))?\.md$")


class FilesLayout:
    """Handoffs as `.bmad/handoffs/handoff-YYYY-MM-DD-HHMMSS.md`, in UTC."""

    name = "files"

    def __init__(self, project: Path) -> None:
        self.project = project
        self.folder = project / FOLDER
        self.draft_dir = self.folder / "drafts"

    def path_for(self, created: float) -> Path:
        """A final name that no file has yet."""
        stem = datetime.fromtimestamp(created, UTC).strftime("handoff-%Y-%m-%d-%H%M%S")
        path, count = self.folder / f"{stem}.md", 1
        while os.path.lexists(path):
            count += 1
            path = self.folder / f"{stem}-{count}.md"
        return path

    def write(self, path: Path, text: str) -> None:
        """The sealed text under its final name: whole or not at all, owner-only, on disk when this returns.

        Writing the same text to the same name again is no error; another text is FileExistsError.
        """
        make_inside(self.project, path.parent, 0o755)
        atomic.write_new(path, text.encode("utf-8"))

    def list(self) -> list[Path]:
        """Every handoff, oldest first."""
        if not self.folder.is_dir():
            return []
        named = [(key, path) for path in self.folder.iterdir() if (key := _key(path.name))]
        return [path for _, path in sorted(named)]

    def latest(self) -> Path | None:
        found = self.list()
        return found[-1] if found else None

    def commit_paths(self, path: Path) -> tuple[Path, ...]:
        """What a commit of this handoff holds."""
        return (path,)

    def owns(self, relative: str) -> bool:
        """Whether a path, relative to the project, is Baton's own and so never counts as dirty.

        >>> FilesLayout(Path("/p")).owns(".bmad/handoffs/drafts/7f3a91c2.md")
        True
        """
        return relative == FOLDER or relative.startswith(f"{FOLDER}/")


def _key(name: str) -> tuple[str, str, int] | None:
    """What a file's name says of its place in the order; None for other files."""
    found = _NAME.match(name)
    if found is None:
        return None
    day, hour, minute, second, count = found.groups()
    return day, f"{hour}{minute}{second or '00'}", int(count or 1)
