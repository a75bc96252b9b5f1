"""A corpus without an agent: the project as the session leaves it."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from batonpass.sim.corpus import START, Call, Corpus

_WHO = ("-c", "user.name=Dev", "-c", "user.email=dev@example.invalid")


def begun(corpus: Corpus, folder: Path) -> Path:
    """The project in a folder, as it is before the first turn: everything committed long ago."""
    for path, text in corpus.files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
        if path.endswith(".sh"):
            (folder / path).chmod(0o755)
    for words in (["init", "-q", "-b", corpus.branch], ["add", "-A"], [*_WHO, "commit", "-qm", "Begin"]):
        _run(["git", *words], folder, START - 1_000_000)
    return folder


def laid_out(corpus: Corpus, folder: Path) -> Path:
    """The same as it is after the last turn: edits made, git's commands run, nothing else started."""
    begun(corpus, folder)
    for turn in corpus.turns:
        for part in turn.answer:
            if isinstance(part, Call):
                _act(part, folder)
    return folder


def _act(call: Call, folder: Path) -> None:
    given = {key: str(value) for key, value in call.arguments.items()}
    if call.tool in ("Write", "Edit"):
        file = folder / given["file_path"]
        file.parent.mkdir(parents=True, exist_ok=True)
        old = file.read_text(encoding="utf-8") if file.exists() else ""
        new = given.get("content") or old.replace(given["old_string"], given["new_string"])
        file.write_text(new, encoding="utf-8")
    elif call.tool == "Bash" and given["command"].startswith("git "):
        _run(["sh", "-c", given["command"]], folder, START + 1_000)


def _run(argv: Sequence[str], folder: Path, at: float) -> None:
    dates = dict.fromkeys(("GIT_COMMITTER_DATE", "GIT_AUTHOR_DATE"), f"@{int(at)} +0000")
    subprocess.run(argv, cwd=folder, check=True, capture_output=True, env={**os.environ, **dates}, timeout=20)
