"""A session that cannot be asked any more is followed from its record and its project alone."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from batonpass.handoff.markdown import parse
from batonpass.handoff.seal import checksum_ok
from batonpass.sim.tmux_server import run_tmux
from tests.system.house import House, Session

TASK = "make the reader survive torn lines, and never touch the ledger table"
CALM: dict[str, object] = {"jumps": {}}  # stays far below the handoff rung


def _dead(shared: House, name: str) -> Session:
    """A session whose agent was killed between two turns."""
    session = shared.run(name, brain=CALM)
    session.say(TASK)
    session.until_shown("Done so far")
    pid = session.until_state("idle")["pid"]
    os.kill(pid, signal.SIGKILL)
    session.until_state("dead")
    return session


def _continued(shared: House, session: Session, *words: str, cwd: Path | None = None) -> dict[str, Any]:
    """The session that goes on, once its receipt has been accepted."""
    started: dict[str, Any] = json.loads(shared.baton("continue", "--json", *words, cwd=cwd or session.project))
    follower = Session(shared, started["name"], session.project, session.faults)
    follower.adopt(started)
    cycle = follower.cycle()
    steps = [(step["step"], step["state"]) for step in cycle["steps"]]
    assert (cycle["state"], cycle["way"]) == ("done", "start"), cycle
    assert steps == [("prime", "ok"), ("verify", "ok"), ("close", "ok")]
    assert cycle["document"] == started["document"]
    return started


def _sealed(session: Session, number: int = 1) -> str:
    """The handoff that was made, as it lies on disk."""
    text = session.documents()[-1]
    document = parse(text)
    assert checksum_ok(text)
    assert (document.number, document.session) == (number, session.id)
    assert "make the reader survive torn lines" in text
    assert "never touch the ledger table" in (document.section("Important Context") or "")
    assert "reader.py" in (document.section("Files Modified") or "")
    return text


def test_a_session_that_died_is_continued_from_its_record(shared: House) -> None:
    session = _dead(shared, "rescued")
    started = _continued(shared, session, "--from", "rescued", cwd=shared.folder)
    _sealed(session)
    assert (started["agent"], started["project"]) == ("scripted", str(session.project))
    assert started["predecessor"] == session.id
    assert session.status["state"] == "ended"
    assert session.arrived() == ["kick"], "the dead one was asked nothing, the new one once to go on"
    assert not (session.project / ".bmad" / "handoffs" / "HANDOFF_PENDING.md").exists()
    (rescue,) = shared.cycles(session.id)
    assert (rescue["state"], rescue["note"]) == ("pending", "it was rescued from its record")

    # The successor's own handoff inherits what the rescue carried on.
    follower = Session(shared, started["name"], session.project, session.faults)
    follower.adopt(started)
    follower.until_state("idle")
    shared.call("handoff", session=follower.id)
    assert follower.cycle(2)["state"] == "done"
    document = parse(session.documents()[-1])
    assert (document.number, document.previous) == (2, Path(started["document"]).name)
    assert "never touch the ledger table" in (document.section("Important Context") or "")


def test_a_conversation_that_baton_never_watched_gets_a_handoff_in_its_own_project(shared: House) -> None:
    project = shared.project("unknown")
    lines = [
        {"event": "session", "at": 1000.0, "cwd": str(project)},
        {"event": "prompted", "at": 1001.0, "text": TASK, "origin": "human"},
        {"event": "said", "at": 1002.0, "text": "I will.", "message_id": "m1"},
        {"event": "used", "at": 1002.0, "used": 21_000, "output": 10, "model": "scripted-1", "message_id": "m1"},
    ]
    record = shared.folder / "kept" / "3f0a3a9e-0000-4000-a000-000000000001.jsonl"
    record.parent.mkdir()
    record.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    before = record.read_bytes()
    written = json.loads(shared.baton("continue", "--from", str(record), "--no-start", "--json"))
    session = Session(shared, "unknown", project, shared.folder / "none.json")
    session.id = written["session"]
    _sealed(session)
    assert written["project"] == str(project)
    assert record.read_bytes() == before
    assert session.status["state"] == "ended"
    assert (project / ".bmad" / "handoffs" / "HANDOFF_PENDING.md").exists()
    assert "knows 'nobody'" in shared.baton("continue", "--from", "nobody", code=3)


def test_a_session_that_lives_and_answers_is_not_rescued(shared: House) -> None:
    session = shared.run("lively", brain=CALM)
    session.say(TASK)
    session.until_shown("Done so far")
    session.until_state("idle")
    assert "baton handoff lively" in shared.baton("continue", "--from", "lively", code=3)
    assert session.documents() == []
    assert session.status["state"] == "idle"


@pytest.mark.long
def test_a_session_whose_pane_is_gone_is_continued_in_a_new_one(shared: House) -> None:
    session = shared.run("paneless", brain=CALM)
    session.say(TASK)
    session.until_shown("Done so far")
    session.until_state("idle")
    run_tmux(shared.tmux, "kill-pane", "-t", session.pane)
    session.until_state("dead")
    started = _continued(shared, session, "--from", session.first)
    _sealed(session)
    assert started["pane"] != session.pane


@pytest.mark.long
def test_a_session_that_is_stuck_at_its_limit_is_continued_and_left_in_its_pane(shared: House) -> None:
    session = shared.run("stuck", brain=CALM, args=["--no-compact"])
    session.say(TASK)
    session.until_shown("Done so far")
    session.misbehave({"fault": "api_error", "error": "too_long"})
    session.say("go on then")
    session.until_shown("too long")
    before = session.until_state("idle")
    session.misbehave()  # the successor's arguments are the same
    started = _continued(shared, session, "--from", "stuck")
    assert "go on then" in _sealed(session)
    assert started["pane"] != session.pane
    assert session.status["state"] == "ended"
    os.kill(before["pid"], 0)  # its process was not touched
    assert "too long" in session.screen()


@pytest.mark.long
def test_a_rescue_that_a_crash_cuts_off_is_finished_by_the_next_daemon(house: House) -> None:
    house.env["BATON_CHAOS"] = "seal:stored"
    house.start()
    session = _dead(house, "cut")
    assert "daemon" in house.baton("continue", "--from", "cut", code=1)
    house.wait("the daemon is gone", lambda: house.daemon_pid() is None)
    house.env.pop("BATON_CHAOS")
    house.start()
    rescue = session.cycle()
    assert rescue["state"] == "pending"
    assert len(session.documents()) == 1
    _sealed(session)
    _continued(house, session, rescue["document"])
