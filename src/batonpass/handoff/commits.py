"""Commits of Baton's own files, and of nothing that anybody else staged."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

_SECONDS = 20


def commit(project: Path, files: Sequence[Path], message: str) -> str | None:
    """Commit exactly these files, those that are gone too; None when that is done, else why it is not."""
    names = list(dict.fromkeys(str(file) for file in files))
    if not names:
        return None
    try:
        _git(project, "add", "-A", "--", *names)
        _git(project, "commit", "--only", "-m", message, "--", *names)
    except subprocess.CalledProcessError as error:
        said = (error.stderr or error.stdout or b"").decode("utf-8", "replace").strip().splitlines()
        return str(said[-1]) if said else str(error)
    except (OSError, subprocess.SubprocessError) as error:
        return str(error)
    return None


def tracked(project: Path, files: Sequence[Path]) -> list[Path]:
    """Those of the files that git knows; none where there is no git."""
    if not files:
        return []
    try:
        told = _git(project, "ls-files", "-z", "--full-name", "--", *(str(file) for file in files))
        top = Path(_git(project, "rev-parse", "--show-toplevel").decode("utf-8", "replace").strip())
    except (OSError, subprocess.SubprocessError):
        return []
    known = {top / name for name in told.decode("utf-8", "surrogateescape").split("\0") if name}
    return [file for file in files if file.resolve() in known or file in known]


def _git(project: Path, *words: str) -> bytes:
    argv = ["git", "-C", str(project), *words]
    return subprocess.run(argv, check=True, capture_output=True, timeout=_SECONDS).stdout
