"""A project: a folder with its git and its handoffs."""

import os
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from batonpass.config import Config
from batonpass.home import home as baton_home

_MARKS = (".git", ".baton", ".supervisor-specific")
_DEFAULTS = Config()
_HANDOFFS = ("handoff-*.md", "HANDOFF_PENDING.md", ".*")  # the last: files on their way to their name
_CHECKPOINTS = ("*.json.gz", ".*")


@dataclass(frozen=True, slots=True)
class Project:
    """A project's folder, and where in it Baton's own files are."""

    root: Path
    handoff_dir: str = _DEFAULTS.handoff_dir
    checkpoint_dir: str = _DEFAULTS.checkpoint_dir
    kept: tuple[str, ...] = ()  # files, and folders with a slash at the end, that the layout keeps

    @property
    def name(self) -> str:
        return self.root.name or str(self.root)

    def configured(self, config: Config) -> "Project":
        """The same project with the folders that its configuration names."""
        kept: tuple[str, ...] = ()
        if config.layout == "living":
            kept = (config.handoff_path, config.template_path, config.archive_dir.rstrip("/") + "/")
        elif config.layout == "sandbox":
            kept = ("contexts/sandbox/",)
        return replace(self, handoff_dir=config.handoff_dir, checkpoint_dir=config.checkpoint_dir, kept=kept)

    def branch(self) -> str | None:
        """The branch that is checked out; None when the head is detached or there is no git."""
        try:
            head = (_git_dir(self.root) / "HEAD").read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            return None
        mark = "ref: refs/heads/"
        return head.removeprefix(mark) if head.startswith(mark) else None

    def is_baton_file(self, relative: str | Path) -> bool:
        """Whether a path, relative to the root, is Baton's own and so never counts as dirty.

        Only names that Baton writes count: a handoff folder that the user's documents share stays theirs.
        """
        path = PurePosixPath(relative)
        handoffs = PurePosixPath(self.handoff_dir)
        if ".." in path.parts:
            return False
        if path.is_relative_to(".baton/drafts") or path.is_relative_to(handoffs / "drafts"):
            return True
        if any(str(path) == place or (place.endswith("/") and str(path).startswith(place)) for place in self.kept):
            return True
        if path.parent in (handoffs, handoffs / "archive"):
            return _named(path, _HANDOFFS)
        return path.parent == PurePosixPath(self.checkpoint_dir) and _named(path, _CHECKPOINTS)


def find(cwd: Path, *, home: Path | None = None) -> Project:
    """The project that a folder belongs to: the nearest parent that looks like one, or the folder itself.

    Baton's own home (by default `.baton` in the user's) does not make the folder around it a project.
    """
    state = os.path.realpath(home if home is not None else baton_home(os.environ))
    start = Path(os.path.realpath(cwd))
    for folder in (start, *start.parents):
        for mark in _MARKS:
            found = folder / mark
            if os.path.exists(found) and os.path.realpath(found) != state:
                return Project(folder)
    return Project(start)


def _git_dir(root: Path) -> Path:
    """Git's folder; in a worktree or submodule `.git` is a file that names it."""
    entry = root / ".git"
    if entry.is_file():
        return root / entry.read_text(encoding="utf-8").strip().removeprefix("gitdir: ")
    return entry


def _named(path: PurePosixPath, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(path.name, pattern) for pattern in patterns)
