"""After a reboot: every session that was alive comes back as itself."""

import json
import os
import signal
from pathlib import Path
from typing import Any

from batonpass.sim.tmux_server import run_tmux
from tests.system.house import House, Session

TASK = "make the reader survive torn lines"


def _working(house: House, name: str, project: Path | None = None) -> Session:
    session = house.run(name, project=project, brain={"jumps": {}})
    session.say(TASK)
    house.wait("the first turn is over", lambda: session.status["used"] and session.status["state"] == "idle")
    return session


def _reboot(house: House) -> None:
    """Everything ends at once: the daemon, tmux and every agent in it."""
    agents = [one["pid"] for one in house.call("status", all=True)["sessions"] if one["state"] in ("idle", "busy")]
    house.kill_daemon(stay_away=True)
    for pid in agents:
        os.kill(pid, signal.SIGKILL)
    run_tmux(house.tmux, "kill-server")
    house.start()


def _restored(house: House, *words: str, code: int = 0) -> dict[str, dict[str, Any]]:
    found = json.loads(house.baton("restore", "--json", *words, code=code))
    return {one["name"]: one for one in found}


def test_every_session_comes_back_by_its_own_id_also_where_several_share_a_folder(house: House) -> None:
    house.start()
    first = _working(house, "first")
    second = _working(house, "second", project=first.project)
    gate = house.folder / "gate"
    busy = house.run("busy", brain={"jumps": {}}, faults=[{"fault": "hang", "turn": 1, "until": str(gate)}])
    busy.say(TASK)
    busy.until_state("busy")
    closed = _working(house, "closed")
    closed.say("/exit")
    closed.until_state("ended")
    crashed = _working(house, "crashed")
    crashed.kill()
    crashed.until_state("dead")
    _reboot(house)
    house.wait("they are seen to be gone", lambda: all(s.status["state"] == "dead" for s in (first, second, busy)))
    assert set(_restored(house, "--dry-run")) == {"first", "second", "busy"}
    assert first.status["state"] == "dead", "nothing was done yet"
    busy.misbehave()
    found = _restored(house)
    assert {name: one["how"] for name, one in found.items()} == dict.fromkeys(("first", "second", "busy"), "resumed")
    for session in (first, second, busy):
        after = session.until_state("idle")
        assert (after["agent_session"], after["name"], after["project"]) == (
            session.first,
            session.name,
            str(session.project),
        )
    again = [text for text in busy.prompts() if "This machine was restarted" in text]
    assert len(again) == 1, "it was in the middle of a turn, so it was told to go on"
    assert not [text for text in first.prompts() if "This machine was restarted" in text]
    first.adopt(first.status)
    first.say("and now the writer")
    house.wait("it hears", lambda: "and now the writer" in first.prompts())
    assert _restored(house) == {}


def test_a_conversation_that_cannot_be_resumed_goes_on_from_its_last_handoff(house: House) -> None:
    house.start()
    session = _working(house, "lost-record")
    house.baton("handoff", cwd=session.project)
    record = Path(session.until_state("idle")["transcript"])
    bare = _working(house, "no-handoff")
    missing = Path(bare.status["transcript"])
    _reboot(house)
    record.unlink()
    missing.unlink()
    found = _restored(house, code=1)
    assert (found["lost-record"]["how"], found["no-handoff"]["how"]) == ("continued", "left")
    assert "no record of it" in found["no-handoff"]["why"]
    successor = found["lost-record"]["successor"]
    cycle = house.wait("its receipt is right", lambda: [c for c in house.cycles(successor) if c["state"] == "done"])
    assert cycle[0]["way"] == "start"
    assert house.status(session.id)["state"] == "ended"
    assert house.status(successor)["name"] == "lost-record"


def test_what_ends_at_its_start_is_not_called_resumed_and_goes_on_from_what_there_is(house: House) -> None:
    house.start()
    written = _working(house, "written")
    house.baton("handoff", cwd=written.project)
    bare = _working(house, "bare")
    for session in (written, bare):
        session.until_state("idle")
        session.misbehave({"fault": "die", "at": "start", "once": str(house.folder / f"{session.name}.struck")})
    _reboot(house)
    found = _restored(house, code=1)
    assert (found["written"]["how"], found["bare"]["how"]) == ("continued", "left")
    assert all("scripted ended at its start" in one["why"] for one in found.values())
    successor = found["written"]["successor"]
    house.wait("its receipt is right", lambda: [c for c in house.cycles(successor) if c["state"] == "done"])
    assert house.status(successor)["name"] == "written"
    command = f"continue --from {bare.id}"
    assert f"baton {command}" in found["bare"]["why"]
    assert bare.status["state"] == "dead"
    assert _restored(house)["bare"]["how"] == "resumed", "the fault struck once, and it is still there to be restored"
    assert bare.until_state("idle")["agent_session"] == bare.first
