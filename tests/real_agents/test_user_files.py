"""No file of the user changes, and what the user had set up goes on working."""

import json
from pathlib import Path

import pytest

from batonpass.sim.anthropic import AnthropicModel
from tests.real_agents.baton import Baton
from tests.real_agents.checker import assert_passed
from tests.real_agents.users import UsersHome, end, prints

pytestmark = pytest.mark.long_on("2.1.197")


def test_the_users_files_stay_as_they_are_and_the_users_hooks_and_status_line_run(
    baton: Baton, model: AnthropicModel, project: Path, claude_home: dict[str, str], tmp_path: Path
) -> None:
    home, rung = Path(claude_home["CLAUDE_CONFIG_DIR"]), tmp_path / "rung"
    ring = {"hooks": [{"type": "command", "command": f"echo rung >> '{rung}'"}]}
    mine = {"hooks": {"Stop": [ring]}, "statusLine": {"type": "command", "command": "echo MY OWN LINE"}}
    (home / "settings.json").write_text(json.dumps(mine), encoding="utf-8")
    (home / "CLAUDE.md").write_text("Be brief.\n", encoding="utf-8")
    (project / "CLAUDE.md").write_text("Use tabs.\n", encoding="utf-8")
    (project / ".mcp.json").write_text('{"mcpServers": {}}\n', encoding="utf-8")
    (project / ".claude" / "commands").mkdir(parents=True)
    (project / ".claude" / "settings.json").write_text('{"permissions": {"allow": ["Bash(ls)"]}}', encoding="utf-8")
    (project / ".claude" / "commands" / "greet.md").write_text("Say hello.\n", encoding="utf-8")
    owned = (project / "CLAUDE.md", project / ".mcp.json", project / ".claude", project / "README.md",
             project / ".git" / "config")  # fmt: skip
    before, users_home = prints(*owned), UsersHome("claude", claude_home)

    baton.run(prompt="please begin")
    baton.rest()
    baton.command("handoff", "--no-wait")
    assert_passed(baton, model, baton.cycle())
    baton.rest()
    baton.until(lambda: "MY OWN LINE" in (shown := baton.screen()) and "baton ▰" in shown, "both status lines")
    end(baton, "/exit")

    users_home.assert_kept(baton.home)
    assert prints(*owned) == before
    assert sorted(path.name for path in project.iterdir()) == sorted(
        (".baton", ".bmad", ".claude", ".git", ".mcp.json", "CLAUDE.md", "README.md", "tmp")
    )
    assert len(rung.read_text(encoding="utf-8").split()) >= 3  # of the work, of the document, of the successor
