"""Where Claude Code compacts itself, by its own word: Baton reckons the same from the same settings."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from batonpass.agents.base import LaunchOrder
from batonpass.agents.claude import Claude
from batonpass.sim.anthropic import AnthropicModel

pytestmark = [pytest.mark.long, pytest.mark.newest]  # the older one was found to reckon the same in every case

_WINDOW = "CLAUDE_CODE_AUTO_COMPACT_WINDOW"
_ASKED = {"type": "control_request", "request_id": "1", "request": {"subtype": "get_context_usage"}}
_REFUSES = 177_000  # of 200,000: with its compaction off it goes on up to there


@pytest.mark.parametrize(
    ("written", "env"),
    [
        pytest.param({"user": {"autoCompactWindow": 120_000}}, {}, id="a window"),
        pytest.param(
            {"project": {"autoCompactWindow": 150_000}, "user": {"autoCompactWindow": 120_000}}, {}, id="the project's"
        ),
        pytest.param({"user": {"autoCompactWindow": 120_000}}, {_WINDOW: "150000"}, id="the environment's"),
        pytest.param({"user": {"env": {_WINDOW: "130000"}}}, {_WINDOW: "110000"}, id="the settings' environment"),
        pytest.param({"user": {"autoCompactEnabled": False}}, {}, id="switched off"),
        pytest.param({"program": {"autoCompactEnabled": False}}, {}, id="switched off in its menu"),
        pytest.param(
            {"program": {"autoCompactEnabled": False}, "user": {"autoCompactEnabled": True}}, {}, id="and on again"
        ),
        pytest.param({"user": {"env": {"DISABLE_AUTO_COMPACT": "1"}}}, {}, id="off by the settings' environment"),
    ],
)
def test_the_usable_window_is_the_programs_own_whatever_the_settings_say(
    claude_cli: Path, claude_home: dict[str, str], model: AnthropicModel, project: Path, tmp_path: Path,
    written: Mapping[str, dict[str, Any]], env: Mapping[str, str],
) -> None:  # fmt: skip
    home = Path(claude_home["HOME"])
    places = {"user": home / ".claude/settings.json", "project": project / ".claude/settings.json"}
    for place, settings in written.items():
        path = places.get(place, home / ".claude.json")
        known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({**known, **settings}), encoding="utf-8")
    order = LaunchOrder(
        session="s1", folder=tmp_path / "session", project=project, args=("--model", "claude-opus-4-6"),
        env={**claude_home, **env, "BATON_CLAUDE": str(claude_cli)}, draft_dir=project / "drafts", hook=("true",),
        statusline=("true",),
    )  # fmt: skip
    launch = Claude().launch(order)
    flags = ("-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose")
    done = subprocess.run(
        [*launch.argv, *flags], input=json.dumps(_ASKED) + "\n", cwd=project, env=dict(launch.env),
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    told = [json.loads(line) for line in done.stdout.splitlines()]
    (usage,) = (one["response"]["response"] for one in told if one["type"] == "control_response")
    limit = usage["autoCompactThreshold"] if usage["isAutoCompactEnabled"] else _REFUSES
    assert Claude().usable(200_000, launch.env) == limit
