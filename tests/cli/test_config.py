import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from batonpass.config import json_schema

Baton = Callable[..., Result]


def write(project: Path, text: str) -> Path:
    file = project / ".baton" / "config.yaml"
    file.parent.mkdir()
    file.write_text(text, encoding="utf-8")
    return file


def test_every_setting_is_shown_with_the_line_that_made_it(baton: Baton, project: Path) -> None:
    write(project, "# mine\nthreshold: 77\n")
    shown = [line.split() for line in baton("config", "show").stdout.splitlines()]
    (threshold,) = [line for line in shown if line[0] == "threshold"]
    assert threshold == ["threshold", "77", ".baton/config.yaml:2"]
    assert ["max_concurrent", "2", "default"] in shown


def test_settings_as_json_have_key_value_and_origin(baton: Baton, project: Path) -> None:
    write(project, "cooldown_minutes: 9\n")
    rows = json.loads(baton("config", "show", "--json").stdout)
    assert {tuple(row) for row in rows} == {("key", "value", "origin")}
    (row,) = [row for row in rows if row["key"] == "cooldown_minutes"]
    assert row["value"] == 9
    assert row["origin"].endswith("config.yaml:1")


def test_a_folder_below_the_project_has_its_settings(
    baton: Baton, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, "cooldown_minutes: 9\n")
    (project / "deep").mkdir()
    monkeypatch.chdir(project / "deep")
    values = {row["key"]: row["value"] for row in json.loads(baton("config", "show", "--json").stdout)}
    assert values["cooldown_minutes"] == 9


def test_a_mistake_is_told_with_its_place_and_the_nearest_right_key(baton: Baton, project: Path) -> None:
    file = write(project, "enabled: true\ntreshold: 77\n")
    result = baton("config", "show")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert f"{file}:2:1: treshold:" in result.stderr
    assert "did you mean 'threshold'?" in result.stderr


def test_the_schema_is_printed_for_editors(baton: Baton) -> None:
    assert json.loads(baton("config", "show", "--schema").stdout) == json_schema()
