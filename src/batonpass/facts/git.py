"""Git's state, read without taking a lock and without a shell."""

import os
import subprocess
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from batonpass.facts.model import Change, Commit, GitFacts

_TIMEOUT = 5.0
_LAST_COMMITS = 5
_MOST_SESSION_COMMITS = 60
_MOST_UNTRACKED = 60  # beyond, folders are named instead of files

_OPERATIONS = (
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase"),
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("BISECT_LOG", "bisect"),
    ("index.lock", "another git command (index.lock)"),
)


class GitError(Exception):
    """Git is there but did not answer; the text is one sentence."""


def read_git(
    project: Path, is_own: Callable[[str], bool], *, since: float | None = None, touched: Sequence[str] = ()
) -> GitFacts | None:
    """Branch, changes, stashes, operation and last commits; None outside of a repository.

    With `since`, also the commits from then on with their files; of `touched`, also which paths are unchanged.
    Raises GitError when git is not installed, hangs, or refuses for another reason.
    """
    place = _place(project)
    if place is None:
        return None
    root, git_dir = place
    prefix = _prefix(root, project)
    # Each answer takes a process, and none needs another's.
    with ThreadPoolExecutor(3) as beside:
        recent = beside.submit(_commits, project)
        session = beside.submit(_session_commits, project, since, prefix)
        status = _git(project, "status", "--porcelain=v2", "-z", "--branch", "--show-stash", "-uall") or ""
    headers, changes = _parse_status(status, prefix)
    head, branch = headers.get("branch.oid"), headers.get("branch.head")
    born = head != "(initial)"  # before the first commit there is no log, and git says that as an error
    ahead, behind = _ahead_behind(headers.get("branch.ab", ""))
    return GitFacts(
        branch=None if branch == "(detached)" else branch,
        head=head if born else None,
        upstream=headers.get("branch.upstream"),
        ahead=ahead,
        behind=behind,
        changes=_fold_untracked([change for change in changes if not is_own(change.path)]),
        stashes=_stashes(project) if headers.get("stash", "0") != "0" else (),
        operation=_operation(git_dir),
        commits=recent.result() if born else (),
        session_commits=session.result() if born else (),
        unchanged=_unchanged(project, touched, {change.path for change in changes}),
    )


def read_operation(project: Path) -> str | None:
    """What git is in the middle of; None also outside of a repository. Raises GitError."""
    place = _place(project)
    return _operation(place[1]) if place else None


def _operation(git_dir: Path) -> str | None:
    return next((name for file, name in _OPERATIONS if (git_dir / file).exists()), None)


_places: dict[Path, tuple[Path, Path]] = {}


def _place(project: Path) -> tuple[Path, Path] | None:
    """Git's root and folder, which hardly ever change: remembered as long as both are where they were."""
    root = _nearest(project)
    known = _places.get(project)
    if known is not None and known[0] == root and (known[1] / "HEAD").exists():
        return known
    _places.pop(project, None)
    where = _git(project, "rev-parse", "--show-toplevel", "--absolute-git-dir", missing_ok=True)
    if where is None:
        return None
    top, git_dir = (Path(line) for line in where.rstrip("\n").split("\n"))
    if top == root:
        _places[project] = top, git_dir
    return top, git_dir


def _nearest(project: Path) -> Path | None:
    """The nearest folder with a `.git`, from the project upwards."""
    here = project.resolve()
    return next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), None)


def _git(project: Path, *args: str, missing_ok: bool = False) -> str | None:
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            ["git", "-C", str(project), *args],
            capture_output=True,
            timeout=_TIMEOUT,
            env=environment,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise GitError(f"git {args[0]} did not answer within {_TIMEOUT:.0f} s in {project}.") from error
    except OSError as error:
        raise GitError(f"git could not be started in {project}: {error.strerror}.") from error
    if done.returncode == 0:
        return done.stdout.decode("utf-8", "replace")
    said = done.stderr.decode("utf-8", "replace").strip().split("\n")[0]
    if missing_ok and ("not a git repository" in said or "must be run in a work tree" in said):
        return None
    raise GitError(f"git {args[0]} failed in {project}: {said}.")


def _prefix(root: Path, project: Path) -> str:
    """Where the project is below git's root; empty when it is the root."""
    relative = os.path.relpath(project.resolve(), root.resolve())
    return "" if relative == "." else relative


def _parse_status(text: str, prefix: str) -> tuple[dict[str, str], list[Change]]:
    headers: dict[str, str] = {}
    changes: list[Change] = []
    records = iter(text.split("\0"))
    for record in records:
        kind = record[:1]
        if kind == "#":
            name, _, value = record[2:].partition(" ")
            headers[name] = value
        elif kind == "?":
            changes.append(Change(_from_project(prefix, record[2:]), "untracked"))
        elif kind == "1":
            fields = record.split(" ", 8)
            changes.append(Change(_from_project(prefix, fields[8]), _state(fields[1])))
        elif kind == "2":
            path, old = record.split(" ", 9)[9], next(records, "")
            changes.append(Change(_from_project(prefix, path), f"renamed from {_from_project(prefix, old)}"))
        elif kind == "u":
            changes.append(Change(_from_project(prefix, record.split(" ", 10)[10]), "conflicted"))
    return headers, changes


def _from_project(prefix: str, path: str) -> str:
    """One of git's paths, which start at its root, as seen from the project."""
    if not prefix:
        return path
    return os.path.relpath(f"/{path}", f"/{prefix}") + ("/" if path.endswith("/") else "")


def _state(xy: str) -> str:
    staged, unstaged = xy[0], xy[1]
    if "D" in xy:
        return "deleted"
    if staged == "A":
        return "new, staged" if unstaged == "." else "new, staged and modified"
    if unstaged == ".":
        return "modified, staged"
    return "modified" if staged == "." else "modified, partly staged"


def _fold_untracked(changes: list[Change]) -> tuple[Change, ...]:
    """Hundreds of untracked files say less than the folder they are in."""
    untracked = [change for change in changes if change.state == "untracked"]
    if len(untracked) <= _MOST_UNTRACKED:
        return tuple(changes)
    folders: dict[str, list[Change]] = {}
    for change in untracked:
        top = change.path.split("/", 1)[0] + "/" if "/" in change.path else change.path
        folders.setdefault(top, []).append(change)
    folded = [
        inside[0] if len(inside) == 1 else Change(top, f"untracked, {len(inside)} files")
        for top, inside in folders.items()
    ]
    return tuple([change for change in changes if change.state != "untracked"] + folded)


def _ahead_behind(text: str) -> tuple[int, int]:
    numbers = [abs(int(word)) for word in text.split() if word[1:].isdigit()]
    return (numbers[0], numbers[1]) if len(numbers) == 2 else (0, 0)


def _stashes(project: Path) -> tuple[str, ...]:
    return tuple(line for line in (_git(project, "stash", "list") or "").split("\n") if line)


def _commits(project: Path) -> tuple[Commit, ...]:
    log = _git(project, "log", f"-{_LAST_COMMITS}", "--no-show-signature", "--format=%H%x1f%ct%x1f%s") or ""
    commits = []
    for line in log.split("\n"):
        fields = line.split("\x1f", 2)
        if len(fields) == 3 and fields[1].isdigit():
            commits.append(Commit(fields[0], float(fields[1]), fields[2]))
    return tuple(commits)


def _session_commits(project: Path, since: float | None, prefix: str) -> tuple[Commit, ...]:
    if since is None:
        return ()
    form = "--format=%x1e%H%x1f%ct%x1f%s%x1f"
    span = [f"--since=@{int(since)}", f"-{_MOST_SESSION_COMMITS}"]
    log = _git(project, "log", *span, "--no-show-signature", "--name-only", "-z", form) or ""
    commits = []
    for record in log.split("\x1e")[1:]:
        fields = record.split("\x1f", 3)
        if len(fields) == 4 and fields[1].isdigit():
            files = [_from_project(prefix, name.strip("\n")) for name in fields[3].split("\0") if name.strip("\n")]
            commits.append(Commit(fields[0], float(fields[1]), fields[2], tuple(files)))
    return tuple(commits)


def _unchanged(project: Path, touched: Sequence[str], changed: set[str]) -> tuple[str, ...]:
    """Which of these paths git knows and sees no change in."""
    asked = [path for path in touched if path not in changed and not path.startswith(("/", ".."))]
    if not asked:
        return ()
    known = _git(project, "--literal-pathspecs", "ls-files", "-z", "--", *asked) or ""
    return tuple(path for path in known.split("\0") if path in asked)
