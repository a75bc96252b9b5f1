"""What the scripted agent may write, and the dialog in which it asks."""

from typing import Any

import pytest

from batonpass.sim.agent_tools import verdict
from tests.sim.played import Played


def _writes(path: object) -> list[dict[str, Any]]:
    return [{"tools": [["write", {"path": str(path), "content": "one\ntwo\n"}]]}]


@pytest.mark.parametrize(
    ("mode", "allowed", "expected"),
    [
        ("default", False, "ask"),
        ("default", True, "yes"),
        ("acceptEdits", False, "yes"),
        ("plan", True, "ask"),
        ("dontAsk", True, "yes"),
        ("dontAsk", False, "no"),
    ],
)
def test_the_mode_decides(mode: str, allowed: bool, expected: str) -> None:
    assert verdict(mode, allowed) == expected


def test_the_allowed_folder_is_written_without_asking(agent: Played) -> None:
    path = agent.project / "drafts" / "deep" / "x.md"
    agent.start("--", "go", replies=_writes(path))
    agent.until_event("turn_ended")
    assert path.read_text(encoding="utf-8") == "one\ntwo\n"
    assert not agent.hooks("permission")


def test_a_way_out_of_the_allowed_folder_is_not_allowed(agent: Played) -> None:
    agent.start("--", "go", replies=_writes(agent.project / "drafts" / ".." / "x.md"))
    agent.until_state("waiting")
    assert not (agent.project / "x.md").exists()


def test_a_link_out_of_the_allowed_folder_is_not_allowed(agent: Played) -> None:
    (agent.project / "drafts").mkdir()
    (agent.project / "drafts" / "out").symlink_to(agent.folder)
    agent.start("--", "go", replies=_writes(agent.project / "drafts" / "out" / "x.md"))
    agent.until_state("waiting")
    assert not (agent.folder / "x.md").exists()


def test_enter_approves_the_dialog_and_the_turn_goes_on(agent: Played) -> None:
    path = agent.project / "x.md"
    agent.start("--", "go", replies=_writes("x.md"))
    agent.until_state("waiting")
    agent.until_shown("Do you want to create x.md?")
    agent.until_shown("❯ 1. Yes")
    agent.until_shown("2. No, Esc to cancel")
    assert agent.state()["waiting_for"] == "permission prompt"
    assert agent.hooks("permission")[0]["input"]["path"] == str(path)
    assert not path.exists()
    agent.paste("/clear")
    agent.type("\r")
    agent.until_event("turn_ended")
    assert path.exists()
    agent.until_state("idle")
    assert len(agent.hooks("session_start")) == 1


@pytest.mark.parametrize("keys", ["\x1b", "2", "\x1b[B\r"])
def test_no_ends_the_turn_without_a_stop(agent: Played, keys: str) -> None:
    agent.start("--", "go", replies=_writes("x.md"))
    agent.until_state("waiting")
    agent.type(keys)
    agent.until_event("interrupted")
    agent.until_state("idle")
    assert not agent.events("tool_returned")[0]["ok"]
    assert not (agent.project / "x.md").exists()
    assert not agent.hooks("stop")


def test_a_permission_hook_answers_instead_of_the_user(agent: Played) -> None:
    settings = agent.settings(permission={"allow": True})
    agent.start("--permission-mode=plan", "--", "go", replies=_writes("x.md"), settings=settings)
    agent.until_event("turn_ended")
    assert (agent.project / "x.md").exists()
    assert "Do you want to" not in agent.screen


def test_a_denied_write_is_told_to_the_model(agent: Played) -> None:
    agent.start("--permission-mode=dontAsk", "--", "go", replies=_writes("x.md"))
    agent.until_event("turn_ended")
    assert "denied" in agent.asked()[1]["tool_results"][0]
    assert not agent.hooks("permission")
