"""Which folder is the project, and which of its files are Baton's."""

import subprocess
from pathlib import Path

import pytest

from batonpass.config import Config
from batonpass.project import Project, find


@pytest.mark.parametrize("mark", [".git", ".baton", ".supervisor-specific"])
def test_the_nearest_marked_parent_is_the_project(tmp_path: Path, mark: str) -> None:
    (tmp_path / ".git").mkdir()
    inner = tmp_path / "inner"
    (inner / mark).mkdir(parents=True)
    deep = inner / "a" / "b"
    deep.mkdir(parents=True)
    assert find(deep, home=tmp_path / "home").root == inner
    assert find(inner, home=tmp_path / "home").name == "inner"


def test_a_folder_that_belongs_to_nothing_is_its_own_project(tmp_path: Path) -> None:
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    assert find(deep, home=tmp_path / "home").root == deep


def test_batons_own_home_makes_no_project_of_the_folder_around_it(tmp_path: Path) -> None:
    home = tmp_path / ".baton"
    home.mkdir()
    work = tmp_path / "work"
    work.mkdir()
    assert find(work, home=home).root == work


def test_the_home_is_the_one_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / ".baton"
    home.mkdir()
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.setenv("BATON_HOME", str(home))
    assert find(work).root == work


def git(folder: Path, *args: str) -> None:
    who = ("-c", "user.name=n", "-c", "user.email=e@example.org")
    subprocess.run(["git", "-C", str(folder), *who, *args], check=True, capture_output=True)


def test_the_branch_is_told_also_in_a_worktree_and_not_when_detached(tmp_path: Path) -> None:
    main, tree = tmp_path / "main", tmp_path / "tree"
    main.mkdir()
    assert Project(main).branch() is None
    git(main, "init", "-b", "feature/x")
    assert Project(main).branch() == "feature/x"
    git(main, "commit", "--allow-empty", "-m", "first")
    git(main, "worktree", "add", "-b", "other", str(tree))
    assert Project(tree).branch() == "other"
    git(main, "checkout", "--detach")
    assert Project(main).branch() is None


@pytest.mark.parametrize(
    ("path", "own"),
    [
        (".bmad/handoffs/handoff-2026-01-21-143045.md", True),
        (".bmad/handoffs/HANDOFF_PENDING.md", True),
        (".bmad/handoffs/.handoff-x.md.tmp", True),
        (".bmad/handoffs/archive/handoff-2026-01-21-143045.md", True),
        (".bmad/handoffs/drafts/7f3a91c2.md", True),
        (".baton/drafts/7f3a91c2.md", True),
        ("tmp/context-checkpoints/t-claude-90p-1.json.gz", True),
        (".baton/config.yaml", False),
        (".bmad/handoffs/notes.md", False),
        (".bmad/epics/epic-001-x.md", False),
        ("docs/handoff-guide.md", False),
        ("tmp/context-checkpoints/notes.txt", False),
        (".bmad/handoffs/drafts/../../../src/app.py", False),
        ("src/app.py", False),
    ],
)
def test_only_what_baton_writes_is_batons(tmp_path: Path, path: str, own: bool) -> None:
    assert Project(tmp_path).is_baton_file(path) is own


def test_configured_folders_are_batons_and_the_default_ones_no_longer(tmp_path: Path) -> None:
    config = Config.model_validate({"handoff_dir": "docs/passes/", "checkpoint_dir": "var"})
    project = Project(tmp_path).configured(config)
    assert project.is_baton_file("docs/passes/handoff-1.md")
    assert project.is_baton_file("var/x.json.gz")
    assert not project.is_baton_file(".bmad/handoffs/handoff-1.md")
