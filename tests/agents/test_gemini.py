"""Gemini CLI behind the agent protocol, without its program."""

import json
import os
import re
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from batonpass.agents.base import Binding, HookKind, HookReport, LaunchError, NotInstalled
from batonpass.agents.gemini import Gemini
from batonpass.agents.gemini.arguments import parse
from batonpass.agents.gemini.limits import COMPRESS_AT, compress_at, usable, window
from batonpass.agents.gemini.overlay import EXTENSION
from batonpass.agents.gemini.places import read_settings
from batonpass.session import State
from tests.agents.gemini_launch import NEW, OLD, given, named, order, overlay, users

FIXTURES = Path(__file__).parents[1] / "fixtures" / "gemini"


# -- launch -----------------------------------------------------------------------------------------


def test_the_session_gets_a_home_of_links_and_one_extension_with_hooks(tmp_path: Path) -> None:
    settings, memory = users(tmp_path, "settings.json"), users(tmp_path, "GEMINI.md", "be kind")
    own = users(tmp_path, "extensions/mine/gemini-extension.json")
    folders = ("tmp", "history", "policies")
    before = sorted(path for path in (tmp_path / "home").rglob("*") if path.name not in folders)
    launch = Gemini().launch(order(tmp_path))
    assert sorted(path for path in (tmp_path / "home").rglob("*") if path.name not in folders) == before
    here = overlay(tmp_path)
    assert launch.env["GEMINI_CLI_HOME"] == str(here.parent)
    assert launch.env["GEMINI_CLI_TRUSTED_FOLDERS_PATH"] == str(settings.with_name("trustedFolders.json"))
    assert [(here / name).readlink() for name in ("settings.json", "GEMINI.md")] == [settings, memory]
    assert (here / "extensions" / "mine").readlink() == own.parent
    hooks = json.loads((here / "extensions" / EXTENSION / "hooks" / "hooks.json").read_text(encoding="utf-8"))["hooks"]
    commands = {event: group["hooks"][0]["command"] for event, (group,) in hooks.items()}
    assert {event: command.partition(" || ")[2] for event, command in commands.items()} == {
        "SessionStart": "/usr/bin/python -I '/a b/_entry.py' hook prime 1",
        "SessionEnd": "/usr/bin/python -I '/a b/_entry.py' hook event",
        "BeforeAgent": "/usr/bin/python -I '/a b/_entry.py' hook note",
        "AfterAgent": "/usr/bin/python -I '/a b/_entry.py' hook ask",
        "Notification": "/usr/bin/python -I '/a b/_entry.py' hook event",
    }


def test_a_gemini_that_a_tool_of_the_session_runs_does_not_speak_for_the_session(tmp_path: Path) -> None:
    launch = Gemini().launch(order(tmp_path, hook=("echo", "heard")))
    hooks = json.loads((overlay(tmp_path) / "extensions" / EXTENSION / "hooks" / "hooks.json").read_bytes())["hooks"]
    commands = [group["hooks"][0]["command"] for (group,) in hooks.values()]

    def run(**more: str) -> list[bytes]:
        env = {**launch.env, "PATH": os.environ["PATH"], **more}
        return [subprocess.run(["sh", "-c", c], env=env, capture_output=True, check=True).stdout for c in commands]

    assert all(said.startswith(b"heard ") for said in run())
    assert not any(run(GEMINI_CLI="1"))  # as the program marks what its shell tool runs


def test_what_the_program_writes_for_the_first_time_becomes_the_users(tmp_path: Path) -> None:
    Gemini().launch(order(tmp_path))
    (overlay(tmp_path) / "oauth_creds.json").write_text("signed in", encoding="utf-8")
    assert (tmp_path / "home" / ".gemini" / "oauth_creds.json").read_text(encoding="utf-8") == "signed in"


def test_every_launch_makes_the_links_anew(tmp_path: Path) -> None:
    projects, gone = users(tmp_path, "projects.json", "old"), users(tmp_path, "extensions/gone/x")
    Gemini().launch(order(tmp_path))
    copy = overlay(tmp_path) / "projects.json"
    copy.unlink()
    copy.write_text("a copy in the place of the link", encoding="utf-8")
    gone.unlink()
    gone.parent.rmdir()
    Gemini().launch(order(tmp_path))
    assert copy.readlink() == projects
    assert projects.read_text(encoding="utf-8") == "old"
    assert not os.path.lexists(overlay(tmp_path) / "extensions" / "gone")


def test_a_session_inside_another_one_has_the_users_home_behind_it_and_not_the_others_overlay(tmp_path: Path) -> None:
    first = Gemini().launch(order(tmp_path))
    inner = order(tmp_path, env={**first.env, "PATH": str(tmp_path / "bin")})
    again = Gemini().launch(inner)
    assert again.env["BATON_GEMINI_HOME"] == str(tmp_path / "home")
    assert (overlay(tmp_path) / "tmp").readlink() == tmp_path / "home" / ".gemini" / "tmp"


def test_a_new_session_has_an_id_before_it_starts(tmp_path: Path) -> None:
    launch = Gemini().launch(order(tmp_path, "--yolo", "-m", "gemini-2.5-pro", "please", "begin"))
    assert launch.agent_session is not None
    assert given(launch) == (
        "--yolo", "-m", "gemini-2.5-pro", "--session-id", launch.agent_session, "--prompt-interactive=please begin"
    )  # fmt: skip
    assert not {"TMUX", "GEMINI_SESSION_ID"} & set(launch.env)


def test_a_restart_repeats_the_users_options_and_neither_conversation_nor_prompt(tmp_path: Path) -> None:
    wanted = ("-m", "gemini-2.5-pro", "-r", "latest", "-i", "my first words")
    launch = Gemini().launch(order(tmp_path, *wanted, kick="- go on", model="gemini-2.5-flash"))
    assert given(launch)[:2] == ("-m", "gemini-2.5-pro")
    assert given(launch)[2:] == ("--session-id", launch.agent_session, "--prompt-interactive=- go on")
    back = Gemini().launch(order(tmp_path, *wanted, kick="welcome back", resume=OLD))
    assert given(back)[2:] == ("--resume", OLD, "--prompt-interactive=welcome back")
    assert back.agent_session == OLD


@pytest.mark.parametrize(("chosen", "known"), [(("-r", OLD), OLD), (("--session-id", NEW), NEW), (("-r",), None)])
def test_a_conversation_that_the_user_chose_is_kept(tmp_path: Path, chosen: tuple[str, ...], known: str | None) -> None:
    launch = Gemini().launch(order(tmp_path, *chosen, "--yolo"))
    assert given(launch) == ("--yolo", *chosen)
    assert launch.agent_session == known


def test_a_choice_of_extensions_keeps_batons_own(tmp_path: Path) -> None:
    assert Gemini().launch(order(tmp_path, "-e", "mine")).argv[1:5] == ("-e", "mine", "--extensions", EXTENSION)
    assert EXTENSION not in Gemini().launch(order(tmp_path, "-e", "none")).argv


@pytest.mark.parametrize("args", [("-p", "x"), ("mcp", "list"), ("--list-sessions",), ("--acp",), ("-o=json", "x")])
def test_what_begins_no_session_is_refused_in_words(args: tuple[str, ...]) -> None:
    with pytest.raises(LaunchError, match="begins no session that Baton could watch"):
        parse(args)


def test_a_program_that_is_missing_is_told_with_the_command_that_installs_it(tmp_path: Path) -> None:
    with pytest.raises(NotInstalled, match="npm install -g @google/gemini-cli"):
        Gemini().launch(order(tmp_path, env={"PATH": "/nowhere", "HOME": str(tmp_path)}))
    with pytest.raises(NotInstalled, match="BATON_GEMINI names nothing"):
        Gemini().launch(order(tmp_path, env={"PATH": "/nowhere", "HOME": str(tmp_path), "BATON_GEMINI": "nothing"}))


def test_only_a_plain_name_in_the_draft_folder_may_be_written_without_asking(tmp_path: Path) -> None:
    launch = Gemini().launch(order(tmp_path, draft_dir=Path("/p+q/.baton/drafts/ab12")))
    written = Path(named(launch)[-1]).read_text(encoding="utf-8")
    (line,) = [line for line in written.splitlines() if line.startswith("argsPattern")]
    pattern = re.compile(json.loads(line.partition(" = ")[2]))
    assert pattern.search('{"content":"x","file_path":"/p+q/.baton/drafts/ab12/handoff-1.md"}')
    for path in ("/p+q/.baton/drafts/ab12/../x", "/ppq/.baton/drafts/ab12/a.md", "/p+q/.baton/drafts/ab12/a/b.md"):
        assert not pattern.search(json.dumps({"file_path": path}, separators=(",", ":")))
    faked = json.dumps({"content": '"file_path":"/p+q/.baton/drafts/ab12/a.md"', "file_path": "/x"})
    assert not pattern.search(faked.replace(", ", ",").replace(": ", ":"))


# -- limits -----------------------------------------------------------------------------------------


def test_half_of_the_window_is_usable_unless_the_settings_say_otherwise(tmp_path: Path) -> None:
    assert (window("gemini-3-pro-preview"), window(None), window("gemma-4-31b-it")) == (1_048_576, 1_048_576, 256_000)
    assert usable(1_048_576, {}) == 524_288
    users(tmp_path, "settings.json", '{ // mine\n "model": {"compressionThreshold": 0.7}}')
    env = {"HOME": str(tmp_path / "home")}
    assert compress_at(tmp_path, env) == 0.7
    (tmp_path / ".gemini").mkdir()
    (tmp_path / ".gemini" / "settings.json").write_text('{"model": {"compressionThreshold": 1}}', encoding="utf-8")
    assert compress_at(tmp_path, env) == 1.0
    launch = Gemini().launch(order(tmp_path))
    assert Gemini().usable(1_048_576, launch.env) == 1_048_576


@pytest.mark.parametrize("text", ["", "[]", "{", '{"model": 7}', '{"model": {"compressionThreshold": "x"}}'])
def test_settings_that_cannot_be_read_say_nothing(tmp_path: Path, text: str) -> None:
    users(tmp_path, "settings.json", text)
    assert compress_at(tmp_path, {"HOME": str(tmp_path / "home")}) is None
    assert usable(1_000, {COMPRESS_AT: "nonsense"}) == 500


def test_comments_in_settings_are_passed_over_and_slashes_in_texts_are_not(tmp_path: Path) -> None:
    path = users(tmp_path, "settings.json", '{"a": "http://x", /* no */ "b": 1 // yes\n}')
    assert read_settings(path) == {"a": "http://x", "b": 1}


# -- hooks ------------------------------------------------------------------------------------------


def reports() -> list[HookReport]:
    agent = Gemini()
    lines = (FIXTURES / "hook-stdin.jsonl").read_text(encoding="utf-8").splitlines()
    found = [agent.report(json.loads(line)) for line in lines]
    return [report for report in found if report is not None]


def test_hooks_tell_starts_prompts_and_ends_of_turns() -> None:
    found = reports()
    assert (found[0].kind, found[0].source, found[0].agent_session) == (HookKind.SESSION_START, "startup", OLD)
    assert found[0].transcript is not None
    assert found[0].transcript.name == "session-2026-11-15T19-28-e412b7a3.jsonl"
    cleared = [r for r in found if r.kind is HookKind.SESSION_START and r.source == "clear"]
    assert cleared[0].agent_session == NEW
    prompts = [r.prompt for r in found if r.kind is HookKind.PROMPT and r.prompt]
    assert prompts[0].startswith("List the files here.")
    assert sum(r.kind is HookKind.STOP for r in found) >= 3


def test_the_word_before_every_request_is_no_compaction() -> None:
    assert not [report for report in reports() if report.kind is HookKind.COMPACT]


def test_a_typed_handoff_is_told_by_the_text_behind_it(tmp_path: Path) -> None:
    Gemini().launch(order(tmp_path))
    command = overlay(tmp_path) / "extensions" / EXTENSION / "commands" / "handoff.toml"
    text = command.read_text(encoding="utf-8").partition('"""')[2].partition('"""')[0]
    payload = {"hook_event_name": "BeforeAgent", "session_id": OLD, "prompt": text.replace("{{args}}", "lunch").strip()}
    report = Gemini().report(payload)
    assert report is not None
    assert report.handoff_requested == "lunch"
    other = Gemini().report({**payload, "prompt": "please begin"})
    assert other is not None
    assert other.handoff_requested is None


def test_a_typed_handoff_without_a_reason_has_none(tmp_path: Path) -> None:
    Gemini().launch(order(tmp_path))
    command = overlay(tmp_path) / "extensions" / EXTENSION / "commands" / "handoff.toml"
    text = command.read_text(encoding="utf-8").partition('"""')[2].partition('"""')[0]
    payload = {"hook_event_name": "BeforeAgent", "session_id": OLD, "prompt": text.replace("{{args}}", "").strip()}
    report = Gemini().report(payload)
    assert report is not None
    assert report.handoff_requested == ""


def test_answers_have_the_form_that_it_reads() -> None:
    assert json.loads(Gemini().render_ask("write it")) == {"decision": "block", "reason": "write it"}
    note = json.loads(Gemini().render_note("know this"))["hookSpecificOutput"]
    assert note == {"hookEventName": "BeforeAgent", "additionalContext": "know this"}


# -- state ------------------------------------------------------------------------------------------


def binding(title: str = "", seen: float = 0.0, journal: Path | None = None, pid: int | None = None) -> Binding:
    """With a title that stands there for long and was last seen at that moment."""
    return Binding(pid or os.getpid(), OLD, journal, Path(), title=title, title_since=1.0, title_at=seen)


@pytest.mark.parametrize(
    ("title", "state"),
    [
        ("◇  Ready (shop)", State.IDLE),
        ("✦  Working… (shop)", State.BUSY),
        ("⏲  Working… (shop)", State.BUSY),
        ("✋  Action Required (shop)", State.WAITING),
        ("Gemini CLI (shop)", State.UNKNOWN),
    ],
)
def test_the_title_of_its_window_tells_its_state(title: str, state: State) -> None:
    assert Gemini().status(binding(title, 7.0)).state is state


def test_the_latest_word_counts_whoever_said_it() -> None:
    agent, moment = Gemini(), float(int(time.time()) + 60)
    at = datetime.fromtimestamp(moment, UTC).isoformat()
    agent.report({"hook_event_name": "BeforeAgent", "session_id": OLD, "timestamp": at, "prompt": "x"})
    assert agent.status(binding("◇  Ready (shop)", moment - 1)).state is State.BUSY
    assert agent.status(binding("◇  Ready (shop)", moment + 1)).state is State.IDLE
    later = datetime.fromtimestamp(moment + 9, UTC).isoformat()
    agent.report({"hook_event_name": "AfterAgent", "session_id": OLD, "timestamp": later})
    said = agent.status(binding("✦  Working… (shop)", moment + 1))
    assert (said.state, said.since) == (State.IDLE, moment + 9)
    shown = agent.status(binding("✦  Working… (shop)", moment + 10))
    assert (shown.state, shown.since) == (State.BUSY, 1.0), "its hook is heard before it is done with the turn"


def test_a_report_that_waited_in_the_spool_says_nothing_against_a_later_one() -> None:
    agent, moment = Gemini(), float(int(time.time()) + 60)
    for event, at in (("AfterAgent", moment + 9), ("BeforeAgent", moment)):
        stamp = datetime.fromtimestamp(at, UTC).isoformat()
        agent.report({"hook_event_name": event, "session_id": OLD, "timestamp": stamp, "prompt": "x"})
    assert agent.status(binding()).state is State.IDLE


def test_a_request_that_was_cancelled_ends_without_its_hook(tmp_path: Path) -> None:
    journal, agent = tmp_path / "session.jsonl", Gemini()
    lines = (FIXTURES / "session-tui-cancel-and-autocompress.jsonl").read_text(encoding="utf-8")
    soon = datetime.fromtimestamp(time.time() + 60, UTC).isoformat()[:16]
    told = lines.replace("2026-11-15T19:29", soon).splitlines(keepends=True)
    journal.write_text("".join(told[:4]), encoding="utf-8")
    assert agent.status(binding(journal=journal)).state is State.BUSY
    journal.write_text("".join(told[:6]), encoding="utf-8")
    assert agent.status(binding(journal=journal)).state is State.IDLE


def test_a_turn_that_was_over_before_anybody_looked_has_ended_after_its_prompt(tmp_path: Path) -> None:
    journal, agent = tmp_path / "session.jsonl", Gemini()
    prompted = float(int(time.time()) + 60)
    entry = {"id": "1", "timestamp": datetime.fromtimestamp(prompted, UTC).isoformat(), "type": "user", "content": "go"}
    journal.write_text(json.dumps(entry) + "\n", encoding="utf-8")
    said = agent.status(binding("◇  Ready (shop)", prompted + 1, journal))
    assert said.state is State.IDLE
    assert said.since is not None
    assert said.since > prompted


def test_a_turn_that_was_cut_off_with_an_earlier_process_is_not_under_way_any_more(tmp_path: Path) -> None:
    journal = tmp_path / "session.jsonl"
    lines = (FIXTURES / "session-tui-cancel-and-autocompress.jsonl").read_text(encoding="utf-8")
    journal.write_text("".join(lines.replace("2026-", "2025-").splitlines(keepends=True)[:4]), encoding="utf-8")
    assert Gemini().status(binding(journal=journal)).state is State.UNKNOWN


def test_a_process_that_is_gone_is_dead_whatever_the_title_says() -> None:
    assert Gemini().status(binding("◇  Ready (shop)", time.time(), pid=2**22 + 1)).state is State.DEAD
