"""The private home of a rehearsal."""

import json
from pathlib import Path

from batonpass.sim.rehearsal import claude_environment


def test_nothing_of_the_users_own_agent_reaches_the_rehearsal(tmp_path: Path) -> None:
    mine = {"PATH": "/bin", "HOME": "/home/me", "ANTHROPIC_AUTH_TOKEN": "secret", "CLAUDE_CODE_X": "1"}
    env = claude_environment(tmp_path / "home", tmp_path, "http://127.0.0.1:1", env=mine)
    assert env["HOME"] == str(tmp_path / "home")
    assert env["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:1"
    assert env["PATH"] == "/bin"
    assert not {"ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_X"} & set(env)


def test_one_home_serves_several_projects_and_trusts_only_these(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        env = claude_environment(tmp_path / "home", tmp_path / name, "http://127.0.0.1:1")
    state = json.loads((Path(env["CLAUDE_CONFIG_DIR"]) / ".claude.json").read_text(encoding="utf-8"))
    trusted = {path for path, entry in state["projects"].items() if entry["hasTrustDialogAccepted"]}
    assert trusted == {str((tmp_path / "one").resolve()), str((tmp_path / "two").resolve())}
    assert state["customApiKeyResponses"]["approved"] == [env["ANTHROPIC_API_KEY"][-20:]]
