import json
import os
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from batonpass.agents.base import Launch, LaunchError, LaunchOrder, NotInstalled
from batonpass.agents.claude import Claude
from batonpass.supervisor.offers import Offers

HOOK = ("/opt/my tools/baton", "hook", "claude", "s1")


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A home, a project, a session's folder, and a program called claude."""
    for name in ("bin", "home", "project", "session"):
        (tmp_path / name).mkdir()
    program = tmp_path / "bin" / "claude"
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    return tmp_path


def order(machine: Path, *args: str, **changes: Any) -> LaunchOrder:
    env = {"PATH": str(machine / "bin"), "HOME": str(machine / "home"), **changes.pop("env", {})}
    return LaunchOrder(
        session="s1",
        folder=machine / "session",
        project=machine / "project",
        args=args,
        env=env,
        draft_dir=machine / "project" / ".bmad" / "handoffs" / "drafts",
        hook=HOOK,
        statusline=("/opt/my tools/baton", "statusline", "s1"),
        **changes,
    )


def launch(machine: Path, *args: str, **changes: Any) -> Launch:
    return Claude().launch(order(machine, *args, **changes))


def settings(machine: Path) -> dict[str, Any]:
    content = json.loads((machine / "session" / "settings.json").read_text(encoding="utf-8"))
    assert isinstance(content, dict)
    return content


def rest(argv: Sequence[str]) -> list[str]:
    """The arguments behind program, settings and plugin, which every launch has."""
    assert argv[1] == "--settings"
    assert argv[3] == "--plugin-dir"
    return list(argv[5:])


def test_a_plain_launch_chooses_its_own_session_id(machine: Path) -> None:
    found = launch(machine)
    assert found.argv[0] == str(machine / "bin" / "claude")
    assert found.agent_session is not None
    assert UUID(found.agent_session).version == 4
    assert rest(found.argv) == ["--session-id", found.agent_session]
    assert launch(machine).agent_session != found.agent_session


def test_the_users_arguments_are_passed_on_with_the_prompt_behind_a_separator(machine: Path) -> None:
    found = launch(machine, "--allowedTools", "Read", "--verbose", "fix it")
    assert rest(found.argv)[2:] == ["--allowedTools", "Read", "--verbose", "--", "fix it"]


@pytest.mark.parametrize(
    ("args", "session"),
    [
        (("--continue",), None),
        (("-c",), None),
        (("--resume",), None),
        (("-r", "abc"), "abc"),
        (("--resume=abc",), "abc"),
        (("--resume", "abc", "--fork-session"), None),
        (("--resume", "abc", "--fork-session", "--session-id", "def"), "def"),
        (("--session-id", "def"), "def"),
    ],
)
def test_a_user_who_chooses_the_conversation_gets_no_other(
    machine: Path, args: tuple[str, ...], session: str | None
) -> None:
    found = launch(machine, *args)
    assert rest(found.argv) == list(args)
    assert found.agent_session == session


def test_a_respawn_with_a_kick_is_a_new_conversation_without_the_old_prompt(machine: Path) -> None:
    found = launch(machine, "--resume", "abc", "--verbose", "fix it", kick='go "on" $x\n[baton 7f3a91c2 kick 1]')
    assert found.agent_session not in (None, "abc")
    assert rest(found.argv) == [
        "--session-id",
        found.agent_session,
        "--verbose",
        "--",
        'go "on" $x\n[baton 7f3a91c2 kick 1]',
    ]


def test_the_way_back_resumes_with_the_last_model_and_mode(machine: Path) -> None:
    found = launch(
        machine,
        *("--model", "sonnet", "--continue", "--fork-session", "fix it"),
        resume="abc",
        model="claude-opus-4-8[1m]",
        permission_mode="plan",
    )
    assert found.agent_session == "abc"
    assert rest(found.argv) == [
        *("--resume", "abc"),
        *("--model", "claude-opus-4-8[1m]"),
        *("--permission-mode", "plan"),
    ]


def test_at_the_first_start_the_users_own_model_and_mode_win(machine: Path) -> None:
    found = launch(machine, "--model", "sonnet", model="opus", permission_mode="plan")
    assert rest(found.argv)[2:] == ["--permission-mode", "plan", "--model", "sonnet"]


def test_who_skips_permissions_and_is_in_another_mode_now_stays_in_that_and_may_go_back_by_hand(machine: Path) -> None:
    found = launch(machine, "--dangerously-skip-permissions", "--verbose", kick="go", permission_mode="plan")
    assert rest(found.argv)[2:-2] == [
        *("--allow-dangerously-skip-permissions", "--permission-mode", "plan"),
        "--verbose",
    ]


def test_a_mode_is_not_set_beside_skipped_permissions_that_are_still_skipped(machine: Path) -> None:
    found = launch(machine, "--dangerously-skip-permissions", kick="go", permission_mode="bypassPermissions")
    assert rest(found.argv)[2:-2] == ["--dangerously-skip-permissions"]


def test_a_missing_program_is_named_with_the_way_to_get_it(machine: Path) -> None:
    with pytest.raises(NotInstalled, match="npm install"):
        launch(machine, env={"PATH": str(machine / "home")})
    with pytest.raises(NotInstalled, match="BATON_CLAUDE names /nowhere/claude"):
        launch(machine, env={"BATON_CLAUDE": "/nowhere/claude"})


def test_another_program_can_be_chosen(machine: Path) -> None:
    other = machine / "bin" / "claude-next"
    other.write_text("", encoding="utf-8")
    other.chmod(0o755)
    assert launch(machine, env={"BATON_CLAUDE": str(other)}).argv[0] == str(other)


def test_the_environment_is_the_users_without_marks_of_another_session_or_pane(machine: Path) -> None:
    found = launch(machine, env={"CLAUDECODE": "1", "TMUX_PANE": "%1", "TMUX": "x", "MINE": "kept"})
    assert found.env == {"PATH": str(machine / "bin"), "HOME": str(machine / "home"), "MINE": "kept"}


def test_every_hook_is_registered_with_its_role_and_time(machine: Path) -> None:
    launch(machine)
    hooks = settings(machine)["hooks"]
    found = {
        event: [(shlex.split(hook["command"]), hook["timeout"]) for hook in groups[0]["hooks"]]
        for event, groups in hooks.items()
    }
    event = [([*HOOK, "event"], 5)]
    assert found == {
        "SessionStart": [([*HOOK, "prime", "1"], 10)],
        "Stop": [([*HOOK, "ask"], 30)],
        "PermissionRequest": [([*HOOK, "permit"], 10)],
        "UserPromptSubmit": [([*HOOK, "note"], 5)],
        "SessionEnd": event,
        "StopFailure": event,
        "PreCompact": [([*HOOK, "compact"], 10)],
        "Notification": event,
        "SubagentStart": event,
        "SubagentStop": event,
    }


def test_the_agent_waits_only_for_hooks_that_answer_and_for_its_end(machine: Path) -> None:
    launch(machine)
    hooks = settings(machine)["hooks"]
    beside = {event for event, groups in hooks.items() if groups[0]["hooks"][0].get("async")}
    assert beside == {"StopFailure", "Notification", "SubagentStart", "SubagentStop"}
    assert hooks["SessionEnd"][0]["matcher"] == "prompt_input_exit"


def test_further_parts_of_a_handoff_are_printed_for_the_start_that_they_are_laid_out_for(machine: Path) -> None:
    launch(machine)
    offers = Offers(machine / "session", Claude())
    offers.prime(["clear"], ["first", "second", "third"])
    others = {group["matcher"]: group["hooks"] for group in settings(machine)["hooks"]["SessionStart"][1:]}
    said = {
        source: [subprocess.run(["sh", "-c", h["command"]], capture_output=True, check=True).stdout for h in commands]
        for source, commands in others.items()
    }
    assert said == {
        "startup": [b"", b""],
        "clear": [Claude().render_prime(part).encode() for part in ("second", "third")],
        "compact": [b"", b""],
    }


def test_the_only_permission_is_to_write_drafts_in_their_own_folder(machine: Path) -> None:
    launch(machine)
    drafts = machine / "project" / ".bmad" / "handoffs" / "drafts"
    assert settings(machine)["permissions"] == {"allow": [f"Edit(/{drafts}/**)"]}


def test_a_draft_folder_behind_a_link_is_allowed_by_both_names(machine: Path) -> None:
    (machine / "link").symlink_to(machine / "project")
    linked = machine / "link" / "drafts"
    launch_order = order(machine)
    Claude().launch(LaunchOrder(**{**_fields(launch_order), "draft_dir": linked}))
    assert settings(machine)["permissions"]["allow"] == [
        f"Edit(/{linked}/**)",
        f"Edit(/{machine / 'project' / 'drafts'}/**)",
    ]


def _fields(launch_order: LaunchOrder) -> dict[str, Any]:
    return {name: getattr(launch_order, name) for name in launch_order.__dataclass_fields__}


def test_the_handoff_command_is_a_skill_that_only_the_user_can_call(machine: Path) -> None:
    found = launch(machine)
    plugin = Path(found.argv[4])
    assert plugin.is_relative_to(machine / "session")
    manifest = json.loads((plugin / ".claude-plugin" / "plugin.json").read_text(encoding="utf-8"))
    assert manifest["name"] == "baton"
    skill = (plugin / "skills" / "handoff" / "SKILL.md").read_text(encoding="utf-8")
    assert "disable-model-invocation: true" in skill
    assert "$ARGUMENTS" in skill


def test_files_are_for_their_owner_only_and_nothing_of_the_user_is_touched(machine: Path) -> None:
    launch(machine)
    modes = {path.stat().st_mode & 0o777 for path in (machine / "session").rglob("*") if path.is_file()}
    assert modes == {0o600}
    assert list((machine / "home").iterdir()) == list((machine / "project").iterdir()) == []


def test_a_users_own_settings_are_merged_and_passed_once(machine: Path) -> None:
    theirs = {
        "env": {"A": "b"},
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "theirs"}]}], "Setup": [{"hooks": []}]},
        "permissions": {"allow": ["Read(/docs/**)", "Bash(/bin/ls)"], "deny": ["Edit(//etc/**)", "Read(/.env)"]},
        "statusLine": {"type": "command", "command": "their-line --fast", "padding": 2},
    }
    folder = machine / "project" / "conf"
    folder.mkdir()
    (folder / "mine.json").write_text(json.dumps(theirs), encoding="utf-8")
    found = launch(machine, "--settings", "conf/mine.json", "--verbose")
    assert found.argv.count("--settings") == 1
    merged = settings(machine)
    assert merged["env"] == {"A": "b"}
    assert [group["hooks"][0]["command"] for group in merged["hooks"]["Stop"]] == [
        "theirs",
        shlex.join([*HOOK, "ask"]),
    ]
    assert "Setup" in merged["hooks"]
    assert merged["permissions"]["allow"][:2] == [f"Read(/{folder}/docs/**)", "Bash(/bin/ls)"]
    assert merged["permissions"]["deny"] == ["Edit(//etc/**)", f"Read(/{folder}/.env)"]
    assert merged["statusLine"]["padding"] == 2
    assert shlex.split(merged["statusLine"]["command"])[1] == "statusline"
    assert found.chained_statusline == "their-line --fast"


def test_settings_given_as_json_are_merged_too(machine: Path) -> None:
    launch(machine, '--settings={"model": "opus"}')
    assert settings(machine)["model"] == "opus"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("nowhere.json", "nowhere.json given with --settings cannot be read"),
        ('{"a": }', "In the JSON given with --settings, line 1, column 7"),
    ],
)
def test_settings_that_cannot_be_used_stop_the_launch_with_a_reason(machine: Path, given: str, message: str) -> None:
    with pytest.raises(LaunchError, match=message):
        launch(machine, "--settings", given)


def write_line(path: Path, command: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"statusLine": {"type": "command", "command": command}}), encoding="utf-8")


def test_the_users_status_line_is_found_in_the_programs_own_order(machine: Path) -> None:
    assert launch(machine).chained_statusline is None
    write_line(machine / "home" / ".claude" / "settings.json", "user")
    assert launch(machine).chained_statusline == "user"
    write_line(machine / "project" / ".claude" / "settings.json", "project")
    assert launch(machine).chained_statusline == "project"
    write_line(machine / "project" / ".claude" / "settings.local.json", "local")
    assert launch(machine).chained_statusline == "local"
    given = json.dumps({"statusLine": {"command": "given"}})
    assert launch(machine, "--settings", given).chained_statusline == "given"


def test_a_status_line_of_ours_is_not_chained_to_itself(machine: Path) -> None:
    write_line(machine / "project" / ".claude" / "settings.json", "baton statusline")
    write_line(machine / "home" / ".claude" / "settings.json", "user")
    assert launch(machine).chained_statusline == "user"


def test_a_configuration_in_another_folder_and_a_broken_file_are_no_trouble(machine: Path) -> None:
    broken = machine / "project" / ".claude" / "settings.json"
    broken.parent.mkdir()
    broken.write_text("{", encoding="utf-8")
    write_line(machine / "cfg" / "settings.json", "elsewhere")
    assert launch(machine, env={"CLAUDE_CONFIG_DIR": str(machine / "cfg")}).chained_statusline == "elsewhere"


def test_a_second_launch_replaces_the_files_of_the_first(machine: Path) -> None:
    launch(machine)
    before = os.stat(machine / "session" / "settings.json").st_ino
    launch(machine)
    assert os.stat(machine / "session" / "settings.json").st_ino != before
    assert sorted(path.name for path in (machine / "session").iterdir()) == ["plugin", "settings.json"]


def test_what_the_settings_say_of_compaction_reaches_the_watch_and_no_variable_of_the_program(machine: Path) -> None:
    project, user = (machine / place / ".claude" / "settings.json" for place in ("project", "home"))
    user.parent.mkdir()
    user.write_text(json.dumps({"autoCompactWindow": 120_000, "autoCompactEnabled": True}), encoding="utf-8")
    assert Claude().usable(200_000, launch(machine).env) == 87_000
    project.parent.mkdir()
    project.write_text(json.dumps({"autoCompactEnabled": False}), encoding="utf-8")
    found = launch(machine).env
    assert Claude().usable(200_000, found) == 177_000
    assert not [name for name in found if "COMPACT" in name and not name.startswith("BATON_")]
    again = launch(machine, env=found).env
    assert again == found
