"""Which reports agents give to Baton, that they wait for none that needs no answer, and what tells of a lost one."""

import json
import os

import pytest

from batonpass.home import spool_path
from tests.real_agents.baton import Baton

pytestmark = pytest.mark.long_on("2.1.197")


def _spooled(baton: Baton) -> list[tuple[str, str | None]]:
    """Event and reason of every report that no daemon has taken."""
    try:
        with open(spool_path(str(baton.home)), encoding="utf-8") as spool:
            payloads = [json.loads(line)["payload"] for line in spool if line.strip()]
    except FileNotFoundError:
        return []
    return [(found["hook_event_name"], found.get("reason") or found.get("source")) for found in payloads]


def test_a_person_who_closes_the_agent_is_reported_and_one_who_clears_it_only_by_the_new_conversation(
    baton: Baton,
) -> None:
    baton.run(prompt="please begin")
    baton.rest()
    baton.command("daemon", "stop")  # so that every report can be read in the spool
    baton.say("/clear")
    baton.until(lambda: ("SessionStart", "clear") in _spooled(baton), "a report of the new conversation")
    baton.say("/exit")
    baton.until(lambda: ("SessionEnd", "prompt_input_exit") in _spooled(baton), "a report of the end")
    assert [found for found in _spooled(baton) if found[0] == "SessionEnd"] == [("SessionEnd", "prompt_input_exit")]


@pytest.mark.long
def test_a_clear_whose_report_is_lost_is_told_by_the_agents_own_word(baton: Baton) -> None:
    baton.run(prompt="please begin")
    _follows_without_report(baton)


@pytest.mark.long
def test_a_clear_of_gemini_cli_whose_report_is_lost_is_told_by_its_own_notes(gemini_baton: Baton) -> None:
    gemini_baton.run_gemini(prompt="please begin")
    _follows_without_report(gemini_baton, shown="Clear the screen")


def _follows_without_report(baton: Baton, shown: str = "") -> None:
    before = baton.rest()["agent_session"]
    baton.command("daemon", "stop")
    told = ("SessionStart", "clear")
    baton.enter("/clear", lambda: told in _spooled(baton), "a report of the new conversation", shown=shown)
    os.unlink(spool_path(str(baton.home)))
    baton.command("status")  # which starts a daemon
    assert baton.wait_for(lambda status: status["agent_session"] != before)["state"] == "idle"
    assert baton.events("SESSION_STARTED")[-1].data["by_word"]


def test_a_tool_call_starts_nothing_of_ours(baton: Baton) -> None:
    baton.run()
    baton.command("daemon", "stop")
    baton.say("please begin")
    baton.until(lambda: any(event == "Stop" for event, _ in _spooled(baton)), "a report of the turn's end")
    assert {event for event, _ in _spooled(baton)} == {"UserPromptSubmit", "Stop"}
