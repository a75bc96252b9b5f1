"""The seam to the place where handoffs live."""

import builtins
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from batonpass.handoff.document import Handoff


class Layout(Protocol):
    name: str
    project: Path
    draft_dir: Path  # where agents may write their draft
    titles: Mapping[str, str]  # what sections are called here, by their standard names

    def path_for(self, created: float) -> Path:
        """A final name: one that no file has yet, or the one document that is updated in place."""
        ...

    def adopt(self, document: Handoff) -> Handoff:
        """The document with what people keep in this place and would be lost with the update."""
        ...

    def write(self, path: Path, text: str) -> None:
        """The sealed text under its final name: whole or not at all, owner-only, on disk when this returns.

        Writing the same text to the same name again is no error; where every handoff has a name of its own,
        another text is FileExistsError.
        """
        ...

    def list(self) -> list[Path]:
        """Every handoff that is not archived, oldest first."""
        ...

    def archived(self) -> "builtins.list[Path]":
        """Every handoff that is, oldest first."""
        ...

    def archive(self, path: Path) -> Path | None:
        """Put a handoff away; says where it is now, or None when there is nothing to put away."""
        ...

    def latest(self) -> Path | None: ...

    def commit_paths(self, path: Path) -> tuple[Path, ...]:
        """What a commit of this handoff holds."""
        ...

    def owns(self, relative: str) -> bool:
        """Whether a path, relative to the project, is Baton's own and so never counts as dirty."""
        ...
