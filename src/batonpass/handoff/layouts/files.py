"""The `files` layout: one dated file per handoff in .bmad/handoffs."""

from pathlib import Path


class FilesLayout:
    name = "files"

    def __init__(self, project: Path) -> None:
        self.project = project
        self.folder = project / ".bmad" / "handoffs"
        self.draft_dir = self.folder / "drafts"
