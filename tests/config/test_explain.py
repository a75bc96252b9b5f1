"""What `baton config show` prints, and the references that are made from the schema."""

import json
import re
from pathlib import Path

import pytest

from batonpass.config import Config, explain, json_schema
from tests.config.conftest import Desk

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"


def rows(config: Config) -> dict[str, tuple[object, str]]:
    return {row.key: (row.value, row.origin) for row in explain(config)}


def test_every_value_is_shown_with_its_origin(desk: Desk) -> None:
    desk.write(desk.home_file, "retention_days: 30\n")
    desk.write(desk.handoff_file, "handoff:\n  enabled: false\n")
    desk.write(desk.project_file, "# slow machine\ntimeouts:\n  pass: 90\n")
    shown = rows(desk.load({"BATON_TMUX": "own"}))
    assert shown["retention_days"] == (30, f"{desk.home_file}:1")
    assert shown["enabled"] == (False, f"{desk.handoff_file}:2")
    assert shown["timeouts.pass"] == (90, f"{desk.project_file}:3")
    assert shown["tmux.socket"] == ("own", "BATON_TMUX")
    assert shown["timeouts.ask"] == (300, "default")


def test_what_nobody_set_is_shown_as_the_ladder_has_it(desk: Desk) -> None:
    desk.write(desk.project_file, "ladder: {preset: early}\n")
    shown = rows(desk.load())
    assert shown["ladder.preset"] == ("early", f"{desk.project_file}:1")
    assert shown["threshold"] == (70, "ladder early")
    assert shown["notify_user_at"] == (50, "ladder early")
    assert shown["remind_at"] == (60, "ladder early")
    assert shown["auto_commit"] == (False, "default")
    assert rows(Config())["ladder.preset"] == ("graduated", "default")


def test_settings_of_an_agent_are_shown_by_its_name(desk: Desk) -> None:
    desk.write(desk.home_file, "agents:\n  claude:\n    args: [--model, opus]\n")
    assert rows(desk.load())["agents.claude.args"] == (["--model", "opus"], f"{desk.home_file}:3")


def test_passwords_are_hidden(desk: Desk) -> None:
    shown = rows(desk.load({"BATON_STORE": "postgresql+psycopg://me:s3:c@db:5432/baton"}))
    assert shown["store"][0] == "postgresql+psycopg://me:***@db:5432/baton"


def test_rows_can_be_written_as_json() -> None:
    assert json.loads(json.dumps([row._asdict() for row in explain(Config())]))


@pytest.mark.parametrize(("layout", "commits"), [("files", False), ("living", True), ("sandbox", False)])
def test_only_the_living_layout_commits_if_nothing_is_said(layout: str, commits: bool) -> None:
    assert Config.model_validate_json(json.dumps({"layout": layout})).commits is commits
    said = {"layout": layout, "auto_commit": not commits}
    assert Config.model_validate_json(json.dumps(said)).commits is not commits


def test_the_published_schema_is_current() -> None:
    """To mend: baton config show --schema > docs/reference/config.schema.json"""
    published = json.loads((REFERENCE / "config.schema.json").read_text(encoding="utf-8"))
    assert published == json_schema()


def test_the_schema_knows_every_key_and_no_other() -> None:
    schema = json_schema()
    properties = schema["properties"]
    assert isinstance(properties, dict)
    assert {row.key.split(".")[0] for row in explain(Config())} == set(properties)
    assert schema["additionalProperties"] is False


def test_the_reference_names_every_key_with_its_default() -> None:
    text = (REFERENCE / "configuration.md").read_text(encoding="utf-8")
    text = text.split("## All keys")[1].split("\n## ")[0]
    table = dict(re.findall(r"^\| `([\w.]+)` \| (.+?) \|", text, flags=re.MULTILINE))
    defaults = {row.key: row for row in explain(Config())}
    assert set(table) == set(defaults)
    for key, row in defaults.items():
        if row.origin == "default" and isinstance(row.value, int | str) and row.value != "":
            assert table[key].startswith(f"`{json.dumps(row.value).strip(chr(34))}`"), key
