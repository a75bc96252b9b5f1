"""A home and a project to write configuration files into."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import pytest

from batonpass.config import HANDOFF_FILE, HOME_FILE, PROJECT_FILE, Config, ConfigError, load


@dataclass(frozen=True)
class Desk:
    home: Path
    project: Path

    @property
    def home_file(self) -> Path:
        return self.home / HOME_FILE

    @property
    def project_file(self) -> Path:
        return self.project / PROJECT_FILE

    @property
    def handoff_file(self) -> Path:
        return self.project / HANDOFF_FILE

    def write(self, file: Path, text: str) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(text).lstrip("\n"), encoding="utf-8")

    def load(self, env: Mapping[str, str] | None = None) -> Config:
        return load(self.project, self.home, env or {})

    def complaints(self) -> list[str]:
        """What is said of the files, without the folders that they are in."""
        with pytest.raises(ConfigError) as caught:
            self.load()
        folders = (f"{self.project}/", f"{self.home}/")
        lines = [str(problem) for problem in caught.value.problems]
        assert str(caught.value) == "\n".join(lines)
        return [line.replace(folders[0], "").replace(folders[1], "home/") for line in lines]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    project.mkdir()
    return Desk(home, project)
