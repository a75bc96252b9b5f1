import os
from pathlib import Path

import pytest

from batonpass.supervisor.settings import Settings


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project" / ".baton").mkdir(parents=True)
    return tmp_path / "project"


def write(file: Path, text: str, *, at: int) -> None:
    """A file's date is given, so that two writes within one tick of the clock differ."""
    file.write_text(text, encoding="utf-8")
    os.utime(file, ns=(at, at))


def test_a_change_of_a_file_is_in_force_at_the_next_question(home: Path, project: Path) -> None:
    settings = Settings(home, {})
    assert settings(project).cooldown_minutes == 5
    write(project / ".baton" / "config.yaml", "cooldown_minutes: 7\n", at=1)
    assert settings(project).cooldown_minutes == 7
    write(project / ".baton" / "config.yaml", "cooldown_minutes: 9\n", at=2)
    assert settings(project).cooldown_minutes == 9
    (project / ".baton" / "config.yaml").unlink()
    assert settings(project).cooldown_minutes == 5


def test_files_that_did_not_change_are_not_read_again(home: Path, project: Path) -> None:
    settings = Settings(home, {})
    assert settings(project) is settings(project)


def test_a_broken_file_leaves_the_last_good_in_force_and_its_problem_to_be_seen(home: Path, project: Path) -> None:
    settings = Settings(home, {})
    write(project / ".baton" / "config.yaml", "cooldown_minutes: 7\n", at=1)
    settings(project)
    write(project / ".baton" / "config.yaml", "cooldown_minuts: 9\n", at=2)
    assert settings(project).cooldown_minutes == 7
    (problem,) = settings.problems[project]
    assert "cooldown_minutes" in problem
    write(project / ".baton" / "config.yaml", "cooldown_minutes: 9\n", at=3)
    assert settings(project).cooldown_minutes == 9
    assert settings.problems[project] == ()


def test_a_session_whose_ladder_is_gone_uses_the_configured_one(home: Path, project: Path) -> None:
    settings = Settings(home, {})
    assert settings.ladder(project, "early").name == "early"
    assert settings.ladder(project, "no-such-ladder").name == "graduated"
