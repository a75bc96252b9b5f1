"""The `files` layout: one dated file per handoff in .bmad/handoffs."""

import builtins
import os
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from batonpass.disk import make_inside, write_new
from batonpass.handoff.document import Handoff

FOLDER = ".bmad/handoffs"
# 000's name, with a count where two fell into one second, and 001's shorter one.
_NAME = re.compile(r"^handoff-(\d{4}-\d{2}-\d{2})-(\d{2})-?(\d{2})-?(\d{2})?(?:-(\d+))?\.md$")


class FilesLayout:
    """Handoffs as `.bmad/handoffs/handoff-YYYY-MM-DD-HHMMSS.md`, in UTC."""

    name = "files"

    titles: Mapping[str, str] = {}

    def __init__(self, project: Path, folder: str = FOLDER) -> None:
        self.project = project
        self.folder = project / folder
        self._relative = folder.rstrip("/")
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
        write_new(path, text.encode("utf-8"))

    def adopt(self, document: Handoff) -> Handoff:
        """The document as it is: every handoff has a file of its own."""
        return document

    def list(self) -> list[Path]:
        """Every handoff that is not archived, oldest first."""
        return dated(self.folder)

    def archived(self) -> "builtins.list[Path]":
        """Every handoff that is, oldest first."""
        return dated(self.folder / "archive")

    def archive(self, path: Path) -> Path | None:
        """Put a handoff away, with its name; says where it is now."""
        target = self.folder / "archive" / path.name
        make_inside(self.project, target.parent, 0o755)
        if os.path.lexists(target):
            raise FileExistsError(f"{target} exists; {path} was left where it is.")
        os.rename(path, target)
        return target

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
        return relative == self._relative or relative.startswith(f"{self._relative}/")


def dated(folder: Path) -> list[Path]:
    """The handoffs in a folder, oldest first."""
    if not folder.is_dir():
        return []
    named = [(key, path) for path in folder.iterdir() if (key := _key(path.name))]
    return [path for _, path in sorted(named)]


def _key(name: str) -> tuple[str, str, int] | None:
    """What a file's name says of its place in the order; None for other files."""
    found = _NAME.match(name)
    if found is None:
        return None
    day, hour, minute, second, count = found.groups()
    return day, f"{hour}{minute}{second or '00'}", int(count or 1)
