"""What is looked at in a user's home: what Baton would leave there is found, and what an agent itself writes is not."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.real_agents.users import UsersHome

HOOK = "python -I -S /opt/baton/src/batonpass/_entry.py hook ask"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home in which two agents have been at work before."""
    home = tmp_path / "home"
    for name in (".claude/projects/p", ".codex", ".gemini/extensions/mine"):
        (home / name).mkdir(parents=True)
    (home / ".claude" / ".claude.json").write_text('{"projects": {"/p": {"trusted": true}}}', encoding="utf-8")
    (home / ".codex" / "config.toml").write_text('model = "m"\n', encoding="utf-8")
    (home / ".gemini" / "settings.json").write_text("{}", encoding="utf-8")
    (home / ".gemini" / "GEMINI.md").symlink_to(home / "notes.md")
    return home


def found(home: Path, agent: str, act: Callable[[], object]) -> str:
    """What is said of the home after something was done in it; nothing if it is kept."""
    env = {"HOME": str(home), "CODEX_HOME": str(home / ".codex"), "CLAUDE_CONFIG_DIR": str(home / ".claude")}
    before = UsersHome(agent, env)
    act()
    try:
        before.assert_kept(home.parent / "baton")
    except AssertionError as error:
        return str(error)
    return ""


def test_a_file_that_is_added_anywhere_is_found(home: Path) -> None:
    extension = home / ".gemini" / "extensions" / "baton-hooks" / "gemini-extension.json"
    extension.parent.mkdir()
    assert "extensions/baton-hooks/gemini-extension.json (added)" in found(home, "gemini", extension.touch)
    assert ".profile (added)" in found(home, "claude", (home / ".profile").touch)


def test_a_file_that_is_changed_or_removed_and_a_link_that_leads_elsewhere_are_found(home: Path) -> None:
    settings, link = home / ".gemini" / "settings.json", home / ".gemini" / "GEMINI.md"
    assert "settings.json (changed)" in found(home, "gemini", lambda: settings.write_text("{ }", encoding="utf-8"))
    assert "settings.json (removed)" in found(home, "gemini", settings.unlink)
    link.unlink()
    assert "GEMINI.md (added)" in found(home, "gemini", lambda: link.symlink_to("elsewhere"))


def test_what_an_agents_program_writes_itself_is_none_of_batons_doing(home: Path) -> None:
    record = home / ".claude" / "projects" / "p" / "one.jsonl"
    assert not found(home, "claude", lambda: record.write_text(HOOK, encoding="utf-8"))  # it tells which hooks it ran
    record.unlink()
    assert "one.jsonl (added)" in found(home, "codex", record.touch), "another agent's record"


def test_what_a_program_notes_among_the_users_words_is_told_from_a_change_of_these(home: Path) -> None:
    notes, config = home / ".claude" / ".claude.json", home / ".codex" / "config.toml"
    noted = {"projects": {"/p": {"trusted": True, "cost": 1}}, "starts": 2}
    assert not found(home, "claude", lambda: notes.write_text(json.dumps(noted), encoding="utf-8"))
    trusted = {"projects": {"/p": {"trusted": False}}, "starts": 2}
    assert ".claude.json (changed)" in found(home, "claude", lambda: notes.write_text(json.dumps(trusted), "utf-8"))
    assert not found(home, "codex", lambda: config.write_text('model = "m"\n[tui]\nseen = 1\n', encoding="utf-8"))
    hooked = 'model = "m"\n[hooks]\nstop = 1\n'
    assert "config.toml (changed)" in found(home, "codex", lambda: config.write_text(hooked, encoding="utf-8"))


@pytest.mark.parametrize("named", [HOOK, "{baton}/sessions/ab12"])
def test_a_file_of_the_programs_own_that_names_baton_is_found(home: Path, named: str) -> None:
    history = home / ".claude" / "history.jsonl"
    text = named.format(baton=home.parent / "baton")
    assert ".claude/history.jsonl" in found(home, "claude", lambda: history.write_text(text, encoding="utf-8"))
