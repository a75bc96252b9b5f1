import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from batonpass.agents.codex.hooks_off import hooks_off
from batonpass.cli import checks
from tests.cli.fake_daemon import FakeDaemon

Baton = Callable[..., Result]


@pytest.fixture
def programs(tmp_path: Path) -> Callable[..., dict[str, str]]:
    """An environment whose PATH holds exactly the programs given, each saying its version."""

    def environment(**said: str) -> dict[str, str]:
        folder = tmp_path / "bin"
        folder.mkdir()
        for name, version in said.items():
            program = folder / name
            program.write_text(f"#!/bin/sh\necho '{version}'\n", encoding="utf-8")
            program.chmod(0o755)
        return {"PATH": str(folder), "HOME": str(tmp_path)}

    return environment


def test_a_missing_program_comes_with_the_command_that_mends_it(
    programs: Callable[..., dict[str, str]],
) -> None:
    env = programs()
    for check, package in ((checks.tmux(env), "tmux"), (checks.git(env), "git")):
        assert not check.ok
        assert check.essential
        assert check.found == "not found"
        assert "install" in check.mend
        assert package in check.mend


@pytest.mark.parametrize(
    ("said", "ok"),
    [
        ("tmux 3.5a", True),
        ("tmux 3.1c", False),
        ("tmux 2.9", False),
        ("tmux master", True),
    ],
)
def test_an_old_tmux_is_told(programs: Callable[..., dict[str, str]], said: str, ok: bool) -> None:
    check = checks.tmux(programs(tmux=said))
    assert (check.ok, check.found) == (ok, said)
    assert ("3.2 or newer" in check.mend) is not ok


@pytest.mark.parametrize("said", ["tmux 3.2", "tmux 3.3a", "tmux 3.4"])
def test_a_tmux_that_can_crash_is_a_warning_and_no_obstacle(programs: Callable[..., dict[str, str]], said: str) -> None:
    check = checks.tmux(programs(tmux=said))
    assert (check.ok, check.essential) == (False, False)
    assert check.found.startswith(f"{said} works, but can crash")
    assert "3.5 or newer" in check.mend


def test_an_old_python_is_told() -> None:
    assert checks.python((3, 11, 0)).ok
    assert not checks.python((3, 10, 9)).ok


def test_claude_is_found_by_path_or_by_its_variable(programs: Callable[..., dict[str, str]], tmp_path: Path) -> None:
    env = programs(claude="2.1.325 (Claude Code)")
    assert checks.agent("claude", env).found == "2.1.325 (Claude Code)"
    elsewhere = {**env, "PATH": "/nonexistent", "BATON_CLAUDE": str(tmp_path / "bin" / "claude")}
    assert checks.agent("claude", elsewhere).ok


def test_codex_is_found_by_path_or_by_its_variable(programs: Callable[..., dict[str, str]], tmp_path: Path) -> None:
    env = programs(codex="codex-cli 0.166.0")
    assert checks.agent("codex", env).found == "codex-cli 0.166.0"
    assert checks.agent("codex", {**env, "PATH": "/nonexistent", "BATON_CODEX": str(tmp_path / "bin" / "codex")}).ok
    missing = checks.agent("codex", {**env, "PATH": "/nonexistent"})
    assert (missing.ok, missing.essential) == (False, False)
    assert missing.mend.endswith("npm install -g @openai/codex")


def test_opencode_is_found_by_path_or_by_its_variable(programs: Callable[..., dict[str, str]], tmp_path: Path) -> None:
    env = programs(opencode="1.18.33")
    assert checks.agent("opencode", env).found == "1.18.33"
    assert checks.agent(
        "opencode", {**env, "PATH": "/nonexistent", "BATON_OPENCODE": str(tmp_path / "bin" / "opencode")}
    ).ok
    missing = checks.agent("opencode", {**env, "PATH": "/nonexistent"})
    assert (missing.ok, missing.essential) == (False, False)
    assert missing.mend.endswith("npm install -g opencode-ai")


def test_gemini_is_found_by_path_or_by_its_variable(programs: Callable[..., dict[str, str]], tmp_path: Path) -> None:
    env = programs(gemini="0.61.0")
    assert checks.agent("gemini", env).found == "0.61.0"
    assert checks.agent("gemini", {**env, "PATH": "/nonexistent", "BATON_GEMINI": str(tmp_path / "bin" / "gemini")}).ok
    missing = checks.agent("gemini", {**env, "PATH": "/nonexistent"})
    assert (missing.ok, missing.essential) == (False, False)
    assert missing.mend.endswith("npm install -g @google/gemini-cli")


def test_every_session_with_a_port_is_looked_at_and_one_that_does_not_answer_is_no_obstacle(daemon: FakeDaemon) -> None:
    daemon.answers["status"] = {
        "sessions": [
            {"name": "one", "agent": "opencode", "answers": True},
            {"name": "two", "agent": "opencode", "answers": False},
            {"name": "three", "agent": "claude", "answers": None},
        ]
    }
    well, silent = checks.ports()
    assert (well.ok, well.found) == (True, "opencode of one answers on its port")
    assert (silent.ok, silent.essential, silent.found) == (False, False, "opencode of two does not answer on its port")
    assert "baton run opencode" in silent.mend
    daemon.answers["status"] = {"sessions": []}
    assert list(checks.ports()) == []


def test_hooks_that_geminis_settings_forbid_are_told_with_the_file(tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path)}
    assert checks.hooks("gemini", env, tmp_path / "project").ok
    settings = tmp_path / ".gemini" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"hooksConfig": {"enabled": false}}', encoding="utf-8")
    forbidden = checks.hooks("gemini", env, tmp_path / "project")
    assert (forbidden.ok, forbidden.essential) == (False, False)
    assert str(settings) in forbidden.mend


def test_a_missing_claude_is_no_catastrophe_and_npm_is_offered_where_it_is_missing_too(
    programs: Callable[..., dict[str, str]],
) -> None:
    env = programs(npm="10.0.0")
    check = checks.agent("claude", env)
    assert (check.ok, check.essential) == (False, False)
    assert check.mend == "npm install -g @anthropic-ai/claude-code"
    without_npm = checks.agent("claude", {**env, "PATH": "/nonexistent"})
    assert "&& npm install" in without_npm.mend


@pytest.mark.parametrize("where", ["user", "project"])
def test_hooks_that_are_switched_off_are_told_with_the_file(tmp_path: Path, where: str) -> None:
    folder = (tmp_path if where == "user" else tmp_path / "api") / ".claude"
    folder.mkdir(parents=True)
    (folder / "settings.json").write_text('{"disableAllHooks": true}', encoding="utf-8")
    check = checks.hooks("claude", {"HOME": str(tmp_path)}, tmp_path / "api")
    assert (check.ok, check.essential) == (False, False)
    assert str(folder / "settings.json") in check.mend


def test_hooks_are_looked_up_where_claude_was_told_to_look(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text('{"disableAllHooks": true}', encoding="utf-8")
    assert not checks.hooks("claude", {"HOME": "/nonexistent", "CLAUDE_CONFIG_DIR": str(tmp_path)}, tmp_path).ok


@pytest.mark.parametrize("text", ['{"disableAllHooks": false}', "{}", "[]"])
def test_settings_that_allow_hooks_are_well(tmp_path: Path, text: str) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "settings.json").write_text(text, encoding="utf-8")
    assert checks.hooks("claude", {"HOME": str(tmp_path)}, tmp_path / "api").ok


def test_broken_settings_are_named(tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "settings.json").write_text("{", encoding="utf-8")
    check = checks.hooks("claude", {"HOME": str(tmp_path)}, tmp_path / "api")
    assert not check.ok
    assert "settings.json cannot be read" in check.found


@pytest.mark.parametrize(
    ("file", "text", "key"),
    [
        ("managed.toml", "allow_managed_hooks_only = true", "allow_managed_hooks_only"),
        ("managed.toml", "[features]\nhooks = false", "hooks"),
        (".codex/config.toml", "[features]\nhooks = false", "hooks"),
    ],
)
def test_codex_hooks_that_are_forbidden_are_told_with_the_file(tmp_path: Path, file: str, text: str, key: str) -> None:
    (tmp_path / ".codex").mkdir()
    (tmp_path / file).write_text(text, encoding="utf-8")
    check = hooks_off({"HOME": str(tmp_path)}, tmp_path / "managed.toml")
    assert check is not None
    assert check.mend == f"take {key} out of {tmp_path / file}"
    assert "follows these sessions by their record" in check.found


@pytest.mark.parametrize("text", ["", "features = 7", "[features]\nhooks = true", "allow_managed_hooks_only = true"])
def test_codex_settings_that_forbid_no_hooks_are_well(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.toml").write_text(text, encoding="utf-8")
    assert hooks_off({"CODEX_HOME": str(tmp_path)}, tmp_path / "none.toml") is None


def test_broken_codex_settings_are_named(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[", encoding="utf-8")
    check = hooks_off({"CODEX_HOME": str(tmp_path)}, tmp_path / "none.toml")
    assert check is not None
    assert "config.toml cannot be read" in check.found


def test_agents_of_the_second_tier_are_marked_as_experimental_and_nobody_must_have_them(
    programs: Callable[..., dict[str, str]],
) -> None:
    found = {check.name: check for check in checks.experimental(programs(qwen="0.15.10"))}
    assert found["qwen"].found == "0.15.10 (experimental: only `baton exec qwen`, with its usage)"
    assert found["aider"].found.startswith("not installed (experimental")
    assert all(check.ok and not check.essential for check in found.values())


def test_a_state_folder_is_looked_at_and_not_made(tmp_path: Path) -> None:
    assert checks.state_folder(tmp_path / "a" / "b").ok
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").touch()
    check = checks.state_folder(tmp_path / "file" / "b")
    assert not check.ok
    assert "BATON_HOME" in check.mend


def test_a_daemon_of_another_version_is_to_be_stopped(daemon: FakeDaemon) -> None:
    daemon.answers["ping"] = {"pid": 1, "version": "0.0.1"}
    check = checks.daemon()
    assert (check.ok, check.essential, check.mend) == (False, False, "baton daemon stop")


def test_a_daemon_that_does_not_run_is_well() -> None:
    assert checks.daemon().ok


def test_the_doctor_ends_with_one_when_something_essential_is_missing(
    baton: Baton, monkeypatch: pytest.MonkeyPatch, programs: Callable[..., dict[str, str]]
) -> None:
    for name, value in programs(git="git version 2.40", tmux="tmux 3.1").items():
        monkeypatch.setenv(name, value)
    result = baton("doctor")
    assert result.exit_code == 1
    assert "✘ tmux" in result.stdout
    assert "✔ git           git version 2.40" in result.stdout
    assert "! claude" in result.stdout
    assert "1 thing must be mended" in result.stdout


def test_the_doctor_is_content_without_claude(
    baton: Baton, monkeypatch: pytest.MonkeyPatch, programs: Callable[..., dict[str, str]]
) -> None:
    for name, value in programs(git="git version 2.40", tmux="tmux 3.5a").items():
        monkeypatch.setenv(name, value)
    assert baton("doctor").exit_code == 0
    told = json.loads(baton("doctor", "--json").stdout)
    assert told["ok"] is True
    wanted = [
        "python",
        "tmux",
        "git",
        "state",
        "daemon",
        "claude",
        "claude hooks",
        "codex",
        "codex hooks",
        "gemini",
        "gemini hooks",
        "opencode",
        "aider",
        "copilot",
        "qwen",
    ]
    assert [check["name"] for check in told["checks"] if check["name"] in wanted] == wanted
    assert set(told["checks"][0]) == {"name", "ok", "found", "mend", "essential"}
    assert os.environ["HOME"] not in told["checks"][0]["found"]
