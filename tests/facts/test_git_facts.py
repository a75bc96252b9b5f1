"""What git says, as facts."""

import subprocess
from pathlib import Path

import pytest

from batonpass.facts.git import GitError, read_git
from batonpass.facts.model import GitFacts


def git(project: Path, *args: str) -> None:
    identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(project), *identity, *args], check=True, capture_output=True)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "-b", "main")
    for name in ("kept.txt", "changed.txt", "gone.txt", "old name.txt"):
        (tmp_path / name).write_text(f"{name}\n" * 5, encoding="utf-8")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "First light")
    return tmp_path


def read(project: Path) -> GitFacts:
    found = read_git(project, lambda path: path.startswith(".bmad/"))
    assert found is not None
    return found


def test_every_kind_of_change_is_named(project: Path) -> None:
    (project / "changed.txt").write_text("new", encoding="utf-8")
    (project / "gone.txt").unlink()
    git(project, "mv", "old name.txt", "new name.txt")
    (project / "staged.txt").write_text("s", encoding="utf-8")
    git(project, "add", "staged.txt")
    (project / "deep" / "er").mkdir(parents=True)
    (project / "deep" / "er" / "ünïcode file.txt").write_text("u", encoding="utf-8")

    assert {change.path: change.state for change in read(project).changes} == {
        "changed.txt": "modified",
        "gone.txt": "deleted",
        "new name.txt": "renamed from old name.txt",
        "staged.txt": "new, staged",
        "deep/er/ünïcode file.txt": "untracked",
    }


def test_branch_head_and_commits_are_known(project: Path) -> None:
    git(project, "checkout", "-qb", "feature/x")
    git(project, "commit", "-qm", "Second", "--allow-empty")
    found = read(project)
    assert found.branch == "feature/x"
    assert [commit.subject for commit in found.commits] == ["Second", "First light"]
    assert found.head == found.commits[0].id


def test_a_clean_tree_has_no_changes(project: Path) -> None:
    assert read(project).changes == ()


def test_files_of_baton_are_no_changes(project: Path) -> None:
    (project / ".bmad" / "handoffs").mkdir(parents=True)
    (project / ".bmad" / "handoffs" / "handoff-2026-01-21-143045.md").write_text("x", encoding="utf-8")
    assert read(project).changes == ()


def test_a_detached_head_has_no_branch(project: Path) -> None:
    git(project, "checkout", "-q", "--detach")
    assert read(project).branch is None


def test_a_repository_without_a_commit_has_no_head(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "trunk")
    (tmp_path / "a").write_text("a", encoding="utf-8")
    found = read(tmp_path)
    assert (found.branch, found.head, found.commits, found.dirty) == ("trunk", None, (), ("a",))


def test_a_stash_is_known(project: Path) -> None:
    (project / "changed.txt").write_text("new", encoding="utf-8")
    git(project, "stash", "push", "-m", "half done")
    stashes = read(project).stashes
    assert len(stashes) == 1
    assert "half done" in stashes[0]


def test_a_merge_with_a_conflict_is_under_way(project: Path) -> None:
    git(project, "checkout", "-qb", "other")
    (project / "changed.txt").write_text("theirs", encoding="utf-8")
    git(project, "commit", "-qam", "theirs")
    git(project, "checkout", "-q", "main")
    (project / "changed.txt").write_text("ours", encoding="utf-8")
    git(project, "commit", "-qam", "ours")
    with pytest.raises(subprocess.CalledProcessError):
        git(project, "merge", "other")
    found = read(project)
    assert found.operation == "merge"
    assert [(change.path, change.state) for change in found.changes] == [("changed.txt", "conflicted")]


@pytest.mark.parametrize(
    ("mark", "operation"),
    [
        ("rebase-merge/", "rebase"),
        ("CHERRY_PICK_HEAD", "cherry-pick"),
        ("BISECT_LOG", "bisect"),
        ("index.lock", "another git command (index.lock)"),
    ],
)
def test_an_operation_in_progress_is_seen(project: Path, mark: str, operation: str) -> None:
    path = project / ".git" / mark
    if mark.endswith("/"):
        path.mkdir()
    else:
        path.write_text("", encoding="utf-8")
    assert read(project).operation == operation


def test_paths_are_relative_to_a_project_below_the_root_of_git(project: Path) -> None:
    below = project / "packages" / "one"
    below.mkdir(parents=True)
    (below / "new.py").write_text("", encoding="utf-8")
    (project / "changed.txt").write_text("new", encoding="utf-8")
    assert sorted(read(below).dirty) == ["../../changed.txt", "new.py"]


def test_hundreds_of_untracked_files_are_named_by_their_folder(project: Path) -> None:
    (project / "heap").mkdir()
    for number in range(100):
        (project / "heap" / f"{number}.bin").write_text("", encoding="utf-8")
    (project / "single.txt").write_text("", encoding="utf-8")
    assert {change.path: change.state for change in read(project).changes} == {
        "heap/": "untracked, 100 files",
        "single.txt": "untracked",
    }


def test_a_folder_without_git_has_no_git_facts(tmp_path: Path) -> None:
    assert read_git(tmp_path, lambda _: False) is None


def test_git_that_is_not_installed_is_an_error_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitError, match="could not be started"):
        read_git(tmp_path, lambda _: False)
