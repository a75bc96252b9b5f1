"""The `sandbox` layout: contexts/sandbox/{project}, where each handoff also adds a section to two running files."""

import builtins
import os
import re
from collections.abc import Mapping
from pathlib import Path

from batonpass.clock import iso
from batonpass.disk import make_inside, read_document, write_private
from batonpass.handoff import names
from batonpass.handoff.document import Handoff
from batonpass.handoff.layouts.files import FilesLayout
from batonpass.handoff.markdown import parse
from batonpass.handoff.paths import listed

_STAGES = ((98, "EMERGENCY Checkpoint"), (95, "CRITICAL Checkpoint"), (0, "Checkpoint"))
_IN_DETAIL = (names.CURRENT_TASK, names.PROGRESS, names.DECISIONS, names.FILES, names.NEXT_STEPS, names.CONTEXT)


class SandboxLayout:
    """Whole documents under `handoffs/`; `project.md` tells of each in short, `{specific}.md` in detail."""

    name = "sandbox"
    titles: Mapping[str, str] = {}

    def __init__(self, project: Path) -> None:
        self.project = project
        self._relative = f"contexts/sandbox/{_plain(project.name)}"
        self.folder = project / self._relative
        self._files = FilesLayout(project, f"{self._relative}/handoffs")
        self.draft_dir = self._files.draft_dir

    def path_for(self, created: float) -> Path:
        """A final name that no file has yet."""
        return self._files.path_for(created)

    def adopt(self, document: Handoff) -> Handoff:
        """The document as it is: the running files are only added to."""
        return document

    def write(self, path: Path, text: str) -> None:
        """The sealed text, and a section in each running file. Written again, it adds nothing."""
        self._files.write(path, text)
        document = parse(text)
        specific = self.folder / f"{_specific(document)}.md"
        _append(self.project, self.folder / "project.md", f"# {self.project.name}", _short(document, path), path.name)
        _append(self.project, specific, f"# {specific.stem}", _detail(document), path.name)

    def list(self) -> list[Path]:
        """Every handoff that is not archived, oldest first."""
        return self._files.list()

    def archived(self) -> "builtins.list[Path]":
        """Every handoff that is, oldest first."""
        return self._files.archived()

    def archive(self, path: Path) -> Path | None:
        """Put a handoff away; the running files stay."""
        return self._files.archive(path)

    def latest(self) -> Path | None:
        return self._files.latest()

    def commit_paths(self, path: Path) -> tuple[Path, ...]:
        """The document and the running files."""
        return (path, *sorted(self.folder.glob("*.md")))

    def owns(self, relative: str) -> bool:
        """Whether a path is one of the running files or of the documents."""
        inside = relative.startswith(f"{self._relative}/")
        return inside and (relative.endswith(".md") or self._files.owns(relative))


def _specific(document: Handoff) -> str:
    """What the work is about: its epic, or its session."""
    return _plain(Path(document.epic).stem) if document.epic else f"session-{_plain(document.session or 'unknown')}"


def _plain(name: str) -> str:
    bare = re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-.")[:60] or "project"
    return f"{bare}-work" if bare == "project" else bare


def _heading(document: Handoff) -> str:
    percent = document.percent or 0
    stage = next(name for least, name in _STAGES if percent >= least)
    at = f" at {percent:.0f}% Capacity" if document.percent is not None else ""
    return f"## {stage}{at} (Handoff {document.number or '?'})"


def _short(document: Handoff, path: Path) -> str:
    files = listed(document.section(names.FILES) or "")
    task = " ".join((document.section(names.CURRENT_TASK) or "").split())
    step = next((line for line in (document.section(names.NEXT_STEPS) or "").split("\n") if line.strip()), "none")
    created = iso(document.created) if document.created is not None else "unknown"
    lines = [
        _heading(document),
        f"- **Time**: {created}",
        f"- **Progress**: {task}",
        f"- **Files changed**: {len(files)}",
        f"- **Next action**: {step.strip()}",
        f"- **Document**: handoffs/{path.name}",
    ]
    return "\n".join(lines)


def _detail(document: Handoff) -> str:
    parts = [_heading(document)]
    for title in _IN_DETAIL:
        body = document.section(title)
        if body:
            parts.append(f"### {title}\n\n" + re.sub(r"^###", "####", body, flags=re.MULTILINE))
    return "\n\n".join(parts)


def _append(project: Path, file: Path, title: str, section: str, mark: str) -> None:
    """Add a section at the end, once: the mark says of which handoff it is."""
    make_inside(project, file.parent, 0o755)
    try:
        text = read_document(file)
    except FileNotFoundError:
        text = f"{title}\n"
    sign = f"<!-- baton handoff: {mark} -->"
    if sign not in text:
        mode = os.stat(file).st_mode & 0o777 if file.exists() else None
        write_private(file, f"{text.rstrip()}\n\n{section}\n\n{sign}\n")
        if mode is not None:
            file.chmod(mode)
