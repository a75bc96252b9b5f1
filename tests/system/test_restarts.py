"""The daemon is killed in the middle of a handoff: the next one ends it, once, and no prompt arrives twice."""

from collections.abc import Callable

import pytest

from batonpass.home import spool_path
from tests.system.house import FULL, House, Session

_LONG = pytest.mark.long
TASK = "make the reader survive torn lines"


def _ends_once(session: Session) -> None:
    house = session.house
    cycle = session.cycle()
    assert cycle["state"] == "done"
    assert session.arrived() == ["ask", "kick"]
    assert len(session.documents()) == 1
    assert len(house.call("handoffs_list", all=True)) == 1
    assert len(house.cycles(session.id)) == 1
    assert session.until_state("idle")["chain"] == 1


def _crash(house: House) -> None:
    house.kill_daemon(stay_away=True)
    house.start()


def _while_asking(session: Session) -> None:
    """The request lies ready for the stop hook of a turn that lasts."""
    gate = session.house.folder / "gate"
    session.misbehave({"fault": "hang", "turn": 1, "until": str(gate)})
    session.say(TASK)
    session.until_state("busy")
    session.house.call("handoff", session=session.id)
    session.until_asked()
    _crash(session.house)
    gate.touch()


def _while_asking_and_taken_while_away(session: Session) -> None:
    """The stop hook takes the request while no daemon is there."""
    gate = session.house.folder / "gate"
    session.misbehave({"fault": "hang", "turn": 1, "until": str(gate)})
    session.say(TASK)
    session.until_state("busy")
    session.house.call("handoff", session=session.id)
    session.until_asked()
    session.house.kill_daemon(stay_away=True)
    gate.touch()
    session.house.wait("the request arrives", session.tags)
    session.house.start()


def _while_writing(session: Session) -> None:
    session.say(TASK)
    session.until_step("await")
    _crash(session.house)


def _while_the_clear_stands_unsent(session: Session) -> None:
    session.say(TASK)
    session.house.wait("the task arrives", session.prompts)
    session.misbehave({"fault": "drop_enter", "times": 1})
    session.until_step("pass")
    session.until_shown("❯ /clear")
    _crash(session.house)


def _while_the_kick_stands_unsent(session: Session) -> None:
    session.hold("prime")
    session.say(TASK)
    session.until_held("prime")
    session.misbehave({"fault": "drop_enter", "times": 1})
    session.go_on("prime")
    session.until_shown("❯ [baton")
    _crash(session.house)


def _while_the_receipt_is_due(session: Session) -> None:
    session.say(TASK)
    session.until_step("verify")
    _crash(session.house)


@pytest.mark.parametrize(
    "crash",
    [
        pytest.param(_while_asking, marks=_LONG),
        _while_asking_and_taken_while_away,
        _while_writing,
        _while_the_clear_stands_unsent,
        pytest.param(_while_the_kick_stands_unsent, marks=_LONG),
        pytest.param(_while_the_receipt_is_due, marks=_LONG),
    ],
)
def test_a_handoff_that_a_crash_cut_off_ends_once(baton: House, crash: Callable[[Session], None]) -> None:
    session = baton.run(brain={"delay": 1.0})
    crash(session)
    _ends_once(session)


def test_what_hooks_report_while_the_daemon_is_away_is_replayed_when_it_is_back(baton: House) -> None:
    session = baton.run()
    session.until_state("idle")
    baton.kill_daemon(stay_away=True)
    session.say(TASK)
    session.until_shown("Done so far")
    spool = baton.home / "spool" / "hooks.jsonl"
    assert str(spool) == spool_path(str(baton.home))
    baton.wait("the spool has the stop hook", lambda: b'"role":"ask"' in spool.read_bytes())
    baton.start()
    assert not spool.exists()
    assert session.status["used"] >= FULL
    cycle = session.cycle()
    assert cycle["state"] == "done"
    assert set(session.tags().values()) == {1}


@pytest.mark.long
def test_hooks_bring_back_a_daemon_that_crashed(baton: House) -> None:
    session = baton.run()
    session.until_state("idle")
    baton.kill_daemon()
    session.say(TASK)
    baton.wait("another daemon answers", baton.answers)
    assert session.cycle()["state"] == "done"
    assert set(session.tags().values()) == {1}


def test_a_stopped_daemon_stays_away_until_a_command_needs_it_and_then_finds_its_sessions(baton: House) -> None:
    session = baton.run(brain={"jumps": {}})
    session.until_state("idle")
    before = baton.daemon_pid()
    baton.baton("daemon", "stop")
    session.say("look around")
    session.until_shown("Done so far")
    baton.baton("daemon", "status", code=3)
    shown = baton.baton("status")
    assert "shop" in shown
    assert baton.daemon_pid() not in (None, before)
    baton.wait("its usage is known", lambda: session.status["used"] == 21_000)
