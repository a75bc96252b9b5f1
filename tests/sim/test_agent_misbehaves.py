"""The scripted agent goes wrong exactly where it is told to."""

from typing import Any

import pytest

from tests.sim.played import Played


def _draft(agent: Played) -> list[dict[str, Any]]:
    path = agent.project / "drafts" / "x.md"
    return [{"tools": [["write", {"path": str(path), "content": "# Handoff\n"}]]}]


def test_it_never_writes_the_handoff(agent: Played) -> None:
    agent.start("--", "go", replies=_draft(agent), faults=[{"fault": "handoff_never"}])
    agent.until_event("turn_ended")
    assert not (agent.project / "drafts").exists()
    assert not agent.events("tool_returned")[0]["ok"]


def test_it_writes_rubbish_for_a_handoff(agent: Played) -> None:
    agent.start("--", "go", replies=_draft(agent), faults=[{"fault": "handoff_garbage"}])
    agent.until_event("turn_ended")
    assert b"\xff" in (agent.project / "drafts" / "x.md").read_bytes()


def test_it_deletes_the_handoff_that_it_has_written(agent: Played) -> None:
    agent.start("--", "go", replies=_draft(agent), faults=[{"fault": "handoff_deleted"}])
    agent.until_event("turn_ended")
    assert agent.events("tool_returned")[0]["ok"]
    assert not list((agent.project / "drafts").iterdir())


def test_it_ignores_a_clear(agent: Played) -> None:
    agent.start("--session-id=abc", faults=[{"fault": "ignore_clear", "times": 1}])
    agent.until_state("idle")
    agent.type("/clear\rhi\r")
    agent.until_event("turn_ended")
    assert agent.state()["session"] == "abc"
    agent.type("/clear\r")
    agent.until(lambda: agent.state()["session"] != "abc", "the second clear")


def test_it_hangs_busy_until_a_file_appears(agent: Played) -> None:
    until = agent.folder / "enough"
    agent.start("--", "go", faults=[{"fault": "hang", "until": str(until)}])
    agent.until_event("prompted")
    agent.until_shown("Working…")
    assert agent.state()["status"] == "busy"
    until.touch()
    agent.until_event("turn_ended")


def test_a_hang_can_be_interrupted(agent: Played) -> None:
    agent.start("--", "go", faults=[{"fault": "hang", "seconds": 600}])
    agent.until_event("prompted")
    agent.until_shown("Working…")
    agent.type("\x1b")
    agent.until_event("interrupted")


def test_it_opens_a_dialog_at_the_start_before_any_hook(agent: Played) -> None:
    agent.start("--", "go", faults=[{"fault": "dialog", "at": "start"}])
    agent.until_state("waiting")
    assert agent.state()["waiting_for"] == "dialog open"
    assert agent.hooks() == []
    agent.type("\r")
    agent.until_event("turn_ended")


def test_it_opens_a_dialog_in_a_turn(agent: Played) -> None:
    agent.start("--", "go", faults=[{"fault": "dialog", "at": "turn", "turn": 1}])
    agent.until_state("waiting")
    agent.until_shown("Do you want to go on?")
    agent.type("\r")
    agent.until_event("turn_ended")


@pytest.mark.parametrize(
    ("at", "hooks"),
    [
        ("start", []),
        ("prompt", ["session_start"]),
        ("tool", ["session_start", "prompt"]),
        ("before_stop", ["session_start", "prompt", "tool"]),
        ("after_stop", ["session_start", "prompt", "tool", "stop"]),
    ],
)
def test_it_dies_at_the_given_point_and_leaves_its_state_file(agent: Played, at: str, hooks: list[str]) -> None:
    replies = [{"tools": [["shell", {"command": "true"}]]}]
    agent.start("--", "go", replies=replies, faults=[{"fault": "die", "at": at}])
    assert agent.until_end() == -9
    assert [hook["hook"] for hook in agent.hooks()] == hooks
    assert agent.events("turn_ended") == []
    assert agent.state_file.exists() == (at != "start")


def test_it_dies_in_a_clear_between_the_two_hooks(agent: Played) -> None:
    agent.start(faults=[{"fault": "die", "at": "clear"}])
    agent.until_state("idle")
    agent.type("/clear\r")
    assert agent.until_end() == -9
    assert [hook["hook"] for hook in agent.hooks()] == ["session_start", "session_end"]


def test_an_enter_is_dropped_and_the_text_stays(agent: Played) -> None:
    agent.start(faults=[{"fault": "drop_enter", "times": 1}])
    agent.until_state("idle")
    agent.type("hi\r there\r")
    agent.until_event("turn_ended")
    assert [line["text"] for line in agent.events("prompted")] == ["hi there"]


def test_a_hook_is_lost(agent: Played) -> None:
    agent.start("--", "go", faults=[{"fault": "lose_hook", "hook": "stop"}])
    agent.until_event("turn_ended")
    assert [hook["hook"] for hook in agent.hooks()] == ["session_start", "prompt"]


def test_a_background_shell_ends_after_the_clear_and_starts_a_turn(agent: Played) -> None:
    agent.start("--session-id=old", "--", "go", faults=[{"fault": "background", "turn": 1}])
    agent.until_state("shell")
    assert agent.hooks("stop")[0]["background"][0]["state"] == "running"
    agent.type("/clear\r")
    agent.until_event("turn_ended", 2)
    prompted = agent.events("prompted")[1]
    assert prompted["origin"] == "system"
    assert prompted["text"].startswith("<task-notification>")
    assert prompted in agent.transcript(agent.state()["session"])
    assert agent.state()["session"] != "old"
    agent.until_state("idle")


def test_a_background_command_of_the_model_is_seen_until_it_ends(agent: Played) -> None:
    command = "while ! test -e enough; do sleep 0.05; done"
    agent.start("--", "go", replies=[{"tools": [["shell", {"command": command, "background": True}]]}])
    agent.until_state("shell")
    assert agent.hooks("stop")[0]["background"][0]["description"] == command
    (agent.project / "enough").touch()
    agent.until_event("turn_ended", 2)
    assert "completed (exit code 0)" in agent.events("prompted")[1]["text"]


@pytest.mark.parametrize(
    ("error", "kind"), [("overloaded", "overloaded"), ("rate_limit", "rate_limit"), ("cut_before", "other")]
)
def test_the_model_fails_and_the_turn_ends_without_a_stop(agent: Played, error: str, kind: str) -> None:
    agent.start("--", "go", faults=[{"fault": "api_error", "error": error, "turn": 1}])
    assert agent.until_event("failed")[0]["kind"] == kind
    agent.until_state("idle")
    assert [hook["hook"] for hook in agent.hooks()] == ["session_start", "prompt", "stop_failed"]


def test_an_answer_cut_in_the_middle_is_half_an_answer(agent: Played) -> None:
    agent.start("--", "go", replies=[{"text": "12345678", "error": "cut_mid"}])
    agent.until_event("failed")
    assert [line["text"] for line in agent.events("said")] == ["1234"]
    assert agent.events("used") == []


def test_it_starts_late(agent: Played) -> None:
    agent.start("--", "go", faults=[{"fault": "slow_start", "seconds": 600}])
    agent.until_state("busy")
    assert agent.hooks() == []
    agent.type("\x03\x03")
    assert agent.until_end() == 0


def test_it_prints_control_sequences(agent: Played) -> None:
    agent.start("--", "go", faults=[{"fault": "control", "text": "\x1b]0;hijacked\x07"}])
    agent.until_event("turn_ended")
    assert "\x1b]0;hijacked\x07" in agent.screen


def test_what_the_model_says_cannot_control_the_terminal(agent: Played) -> None:
    agent.start("--", "go", replies=[{"text": "a\x1b]0;hijacked\x07b"}])
    agent.until_event("turn_ended")
    agent.until_shown("hijacked")
    assert "\x1b]0;hijacked" not in agent.screen


def test_faults_are_read_again_on_each_turn(agent: Played) -> None:
    agent.start("--", "go")
    agent.until_event("turn_ended")
    agent.fault({"fault": "api_error"})
    agent.type("again\r")
    agent.until_event("failed")
