"""One whole handoff, and everything that people can ask about it."""

import json
from pathlib import Path

from batonpass.handoff.seal import checksum_ok
from tests.system.house import House

STEPS = ["prepare", "safe_point", "ask", "await", "check", "seal", "pass", "prime", "verify", "close"]
STATUS = {
    *("session", "name", "project", "agent", "agent_session", "state", "used", "window", "usable", "percent"),
    *("zone", "source", "confidence", "forecast", "chain", "pane", "host"),
}
STEP = {"step", "state", "started", "seconds", "attempts", "note"}
HANDOFF = {"path", "number", "previous", "created", "session", "percent", "sealed"}


def test_a_session_over_its_threshold_passes_the_baton_by_itself(baton: House) -> None:
    session = baton.run()
    session.say("please make the reader survive torn lines")
    cycle = session.cycle()
    assert (cycle["state"], cycle["way"], cycle["note"]) == ("done", "clear", None)
    assert [step["step"] for step in cycle["steps"]] == STEPS
    assert {step["state"] for step in cycle["steps"]} == {"ok"}
    # On a slow machine the turn may end before the request is ready: then it is withdrawn and made anew.
    assert session.arrived() == ["ask", "kick"]
    (document,) = session.documents()
    assert "please make the reader survive torn lines" in document
    assert "reader.py" in document
    assert checksum_ok(document)
    status = session.until_state("idle")
    assert (status["chain"], status["cycle"]) == (1, None)
    assert status["agent_session"] == cycle["new_agent_session"] != session.first
    assert status["used"] < 40_000
    assert not (session.project / ".bmad" / "handoffs" / "HANDOFF_PENDING.md").exists()

    _asked_by_commands(baton, session.id, session.project, cycle["id"], cycle["percent"])


def _asked_by_commands(baton: House, session: str, project: Path, cycle: str, percent: float) -> None:
    (shown,) = json.loads(baton.baton("status", "--json"))["sessions"]
    assert set(shown) >= STATUS
    assert (shown["session"], shown["project"], shown["agent"]) == (session, str(project), "scripted")
    assert (shown["window"], shown["usable"], shown["source"]) == (200_000, 167_000, "statusline")
    assert shown["percent"] == round(100 * shown["used"] / 167_000, 1)
    assert set(shown["forecast"]) == {"tokens_per_message", "messages_left", "seconds_left"}

    steps = json.loads(baton.baton("cycles", "show", "--json", cycle))["steps"]
    assert {frozenset(step) for step in steps} == {frozenset(STEP)}

    (listed,) = json.loads(baton.baton("handoffs", "list", "--json", cwd=project))
    assert set(listed) == HANDOFF
    assert (listed["number"], listed["previous"], listed["session"]) == (1, None, session)
    assert (listed["percent"], listed["sealed"]) == (percent, True)
    assert Path(listed["path"]).parent == project / ".bmad" / "handoffs"


def test_a_session_climbs_the_ladder_and_is_left_alone_below_the_handoff(baton: House) -> None:
    session = baton.run(brain={"start": 60_000, "step": 14_000, "jumps": {}, "tool": "none"})
    zones = []
    for turn in range(1, 7):
        session.say(f"go on with part {turn}")
        used = 60_000 + 14_000 * (turn - 1)
        baton.wait(f"{used} tokens", lambda used=used: session.status["used"] == used)  # type: ignore[misc]
        zones.append(session.until_state("idle")["zone"])
    assert zones == ["monitoring", "monitoring", "warning", "warning", "warning", "critical"]
    assert baton.cycles(session.id) == []
    assert session.tags() == {}
    forecast = session.status["forecast"]
    assert forecast["tokens_per_message"] == 14_000
    assert 2 < forecast["messages_left"] < 3
    # The warning rode on a turn that happened anyway: it is context of the next prompt, not a prompt.
    assert not any("[baton]" in prompt for prompt in session.prompts())
    assert any("[baton] Context at" in line for line in session.told())

    session.say("go on with part 7")  # 144,000: over 85 %
    assert session.cycle()["state"] == "done"


def test_a_jump_from_far_below_to_far_above_the_threshold_is_one_handoff(baton: House) -> None:
    session = baton.run(brain={"start": 66_800, "jumps": {"2": 155_310}, "tool": "none"})
    session.say("first")
    assert baton.wait("a reading", lambda: session.status["percent"]) == 40.0
    session.until_state("idle")
    session.say("read everything")
    cycle = session.cycle()
    assert (cycle["state"], cycle["percent"]) == ("done", 93.0)
    assert len(session.documents()) == 1
    assert set(session.tags().values()) == {1}
