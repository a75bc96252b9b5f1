"""Layouts: where handoffs live."""

from pathlib import Path

from batonpass.config.schema import Settings
from batonpass.handoff.layouts.base import Layout
from batonpass.handoff.layouts.files import FilesLayout
from batonpass.handoff.layouts.living import LivingLayout
from batonpass.handoff.layouts.sandbox import SandboxLayout

__all__ = ["FilesLayout", "Layout", "LivingLayout", "SandboxLayout", "every", "layout"]


def layout(name: str, project: Path, settings: Settings | None = None) -> Layout:
    """A layout by its name in the configuration. Raises ValueError, in words, for one that there is not."""
    found = next((one for one in every(project, settings) if one.name == name), None)
    if found is None:
        raise ValueError(f"There is no layout {name!r}; there is: files, living, sandbox.")
    return found


def every(project: Path, settings: Settings | None = None) -> tuple[Layout, ...]:
    """All of them: a chain goes on in another layout when the configuration is changed."""
    chosen = settings or Settings()
    return (
        FilesLayout(project, chosen.handoff_dir),
        LivingLayout(
            project,
            document=chosen.handoff_path,
            template=chosen.template_path,
            archive=chosen.archive_dir,
            most_lines=chosen.handoff_size_threshold,
        ),
        SandboxLayout(project),
    )
