"""Layouts: where handoffs live."""

from pathlib import Path

from batonpass.handoff.layouts.base import Layout
from batonpass.handoff.layouts.files import FilesLayout

__all__ = ["FilesLayout", "Layout", "layout"]


def layout(name: str, project: Path) -> Layout:
    """A layout by its name in the configuration. Raises ValueError, in words, for one that there is not."""
    if name == "files":
        return FilesLayout(project)
    raise ValueError(f"There is no layout {name!r}; there is: files.")
