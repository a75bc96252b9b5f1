"""Which reports Claude Code gives to Baton, and that it waits for none that needs no answer."""

import json

import pytest

from batonpass.home import spool_path
from tests.real_agents.baton import Baton

pytestmark = [pytest.mark.long_on("2.1.197"), pytest.mark.timeout(240)]


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


def test_what_a_tool_did_is_reported_although_nobody_waits_for_the_report(baton: Baton) -> None:
    baton.run()
    baton.command("daemon", "stop")
    baton.say("please begin")
    baton.until(lambda: any(event == "PostToolUse" for event, _ in _spooled(baton)), "a report of the tool")
    baton.until(lambda: any(event == "Stop" for event, _ in _spooled(baton)), "a report of the turn's end")
