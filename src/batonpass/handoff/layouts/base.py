"""The seam to the place where handoffs live."""

from pathlib import Path
from typing import Protocol


class Layout(Protocol):
    name: str
    project: Path
    draft_dir: Path  # where agents may write their draft

    def path_for(self, created: float) -> Path:
        """A final name that no file has yet."""
        ...

    def write(self, path: Path, text: str) -> None:
        """The sealed text under its final name: whole or not at all, owner-only, on disk when this returns.

        Writing the same text to the same name again is no error; another text is FileExistsError.
        """
        ...

    def list(self) -> list[Path]:
        """Every handoff, oldest first."""
        ...

    def latest(self) -> Path | None: ...

    def commit_paths(self, path: Path) -> tuple[Path, ...]:
        """What a commit of this handoff holds."""
        ...

    def owns(self, relative: str) -> bool:
        """Whether a path, relative to the project, is Baton's own and so never counts as dirty."""
        ...
