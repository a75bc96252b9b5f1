import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from batonpass.cli import run
from batonpass.cli.client import Refused
from tests.cli.fake_daemon import FakeDaemon, Refuse
from tests.cli.samples import started

Baton = Callable[..., Result]


def test_run_alone_starts_claude_in_this_folder(daemon: FakeDaemon, baton: Baton, project: Path) -> None:
    daemon.answers["run"] = started()
    result = baton("run")
    assert result.exit_code == 0, result.output
    asked = daemon.asked("run")
    assert asked.pop("env") == dict(os.environ)
    assert asked == {
        "agent": "claude",
        "args": [],
        "cwd": str(project),
        "name": None,
        "ladder": None,
        "width": 100,
        "height": 40,
    }
    assert "tmux attach-session -t =api" in result.stdout


def test_everything_after_two_dashes_goes_to_the_agent(daemon: FakeDaemon, baton: Baton, project: Path) -> None:
    daemon.answers["run"] = started()
    result = baton("run", "--name", "a", "scripted", "--ladder", "early", "--", "--json", "--name", "x", "--", "go")
    assert result.exit_code == 0, result.output
    asked = daemon.asked("run")
    assert asked["args"] == ["--json", "--name", "x", "--", "go"]
    assert (asked["agent"], asked["name"], asked["ladder"]) == ("scripted", "a", "early")


def test_two_dashes_without_an_agent_mean_claude(daemon: FakeDaemon, baton: Baton, project: Path) -> None:
    daemon.answers["run"] = started()
    assert baton("run", "--", "--model", "opus").exit_code == 0
    assert daemon.asked("run")["agent"] == "claude"
    assert daemon.asked("run")["args"] == ["--model", "opus"]


def test_what_the_user_should_know_of_the_start_is_said(daemon: FakeDaemon, baton: Baton, project: Path) -> None:
    daemon.answers["run"] = {**started(), "notice": "Baton has vouched for its own hooks"}
    assert baton("run", "codex").stdout.startswith("Baton has vouched for its own hooks.\n")
    daemon.answers["run"] = started()
    assert "vouched" not in baton("run", "codex").stdout


def test_json_prints_the_session_and_nothing_else(daemon: FakeDaemon, baton: Baton, project: Path) -> None:
    daemon.answers["run"] = started()
    assert json.loads(baton("run", "--detach", "--json").stdout) == started()


def test_at_a_terminal_it_becomes_the_session(daemon: FakeDaemon, monkeypatch: pytest.MonkeyPatch) -> None:
    became: list[list[str]] = []
    monkeypatch.setattr("os.execvp", lambda program, argv: became.append(argv))
    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr("sys.stdout", Terminal())
    answer: Any = started()
    run.present(answer, detach=False, json=False)
    assert became == [["tmux", "attach-session", "-t", "=api"]]
    run.present(answer, detach=True, json=False)
    run.present(answer, detach=False, json=True)
    assert len(became) == 1


def test_a_terminal_program_that_is_missing_is_told() -> None:
    with pytest.raises(Refused, match="The session runs, but it cannot be shown here"):
        run.attach(["baton-has-no-such-program"])


def test_an_agent_that_is_not_installed_is_told_in_one_sentence(
    daemon: FakeDaemon, baton: Baton, project: Path
) -> None:
    daemon.answers["run"] = Refuse("Claude Code is not installed: npm install -g it.", 1)
    result = baton("run")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr == "baton: Claude Code is not installed: npm install -g it.\n"


def test_continue_starts_from_the_latest_handoff(daemon: FakeDaemon, baton: Baton, project: Path) -> None:
    daemon.answers["continue"] = started()
    assert baton("continue", "--detach", "--", "--model", "opus").exit_code == 0
    asked = daemon.asked("continue")
    assert asked.pop("env") == dict(os.environ)
    assert asked == {
        "file": None,
        "cwd": str(project),
        "agent": None,
        "args": ["--model", "opus"],
        "name": None,
        "rescue": None,
        "only_write": False,
    }


def test_continue_names_a_file_absolutely(daemon: FakeDaemon, baton: Baton, project: Path) -> None:
    (project / "h.md").touch()
    daemon.answers["continue"] = started()
    result = baton("continue", "h.md", "--json", "--agent", "scripted", "--name", "next")
    assert json.loads(result.stdout) == started()
    asked = daemon.asked("continue")
    assert (asked["file"], asked["agent"], asked["name"]) == (str(project / "h.md"), "scripted", "next")


def test_continue_from_a_file_that_is_not_there_asks_nobody(daemon: FakeDaemon, baton: Baton, project: Path) -> None:
    result = baton("continue", "nowhere.md")
    assert result.exit_code == 2
    assert "There is no handoff at nowhere.md" in result.stderr
    assert daemon.requests == []


def test_adopt_takes_the_pane_that_is_named(daemon: FakeDaemon, baton: Baton) -> None:
    daemon.answers["adopt"] = started()
    result = baton("adopt", "%3", "--agent", "claude")
    assert result.stdout == "Baton now watches claude in pane %3 as api.\n"
    assert daemon.asked("adopt") == {"pane": "%3", "agent": "claude"}


def test_adopt_says_what_is_missing(daemon: FakeDaemon, baton: Baton) -> None:
    daemon.answers["adopt"] = {**started(), "notice": "it was started without Baton's hooks"}
    assert baton("adopt", "%3").stdout.endswith("\nNote: it was started without Baton's hooks.\n")


def test_adopt_takes_the_pane_in_which_it_is_typed(
    daemon: FakeDaemon, baton: Baton, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMUX_PANE", "%8")
    daemon.answers["adopt"] = started()
    assert json.loads(baton("adopt", "--json").stdout) == started()
    assert daemon.asked("adopt") == {"pane": "%8", "agent": None}


def test_adopt_outside_tmux_wants_a_pane(baton: Baton) -> None:
    result = baton("adopt")
    assert result.exit_code == 2
    assert "Say which tmux pane to adopt" in result.stderr


class Terminal:
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        return len(text)

    def flush(self) -> None:
        pass


def test_continue_from_a_session_names_it_as_it_was_typed(daemon: FakeDaemon, baton: Baton, project: Path) -> None:
    daemon.answers["continue"] = started()
    assert baton("continue", "--from", "shop", "--json").exit_code == 0
    asked = daemon.asked("continue")
    assert (asked["rescue"], asked["file"], asked["only_write"]) == ("shop", None, False)


def test_continue_from_a_transcript_names_it_absolutely(daemon: FakeDaemon, baton: Baton, project: Path) -> None:
    daemon.answers["continue"] = started()
    assert baton("continue", "--from", "old/talk.jsonl", "--json").exit_code == 0
    assert daemon.asked("continue")["rescue"] == str(project / "old" / "talk.jsonl")


def test_continue_without_a_start_says_where_the_handoff_is(daemon: FakeDaemon, baton: Baton, project: Path) -> None:
    daemon.answers["continue"] = {"session": "5e55", "name": "shop", "project": "/shop", "document": "/shop/h.md"}
    result = baton("continue", "--from", "shop", "--no-start")
    assert daemon.asked("continue")["only_write"] is True
    assert result.stdout.splitlines() == [
        "The handoff of shop is written: /shop/h.md",
        "Go on from it with: baton continue /shop/h.md",
    ]


@pytest.mark.parametrize("words", [("h.md", "--from", "shop"), ("--no-start",)])
def test_continue_wants_one_thing_to_go_on_from(
    daemon: FakeDaemon, baton: Baton, project: Path, words: tuple[str, ...]
) -> None:
    assert baton("continue", *words).exit_code == 2
    assert daemon.requests == []
