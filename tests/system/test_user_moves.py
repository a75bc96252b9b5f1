"""A person clears or resumes in the middle of a handoff: their conversation is theirs, and the old one is not lost."""

import pytest

from tests.system.house import House, Session

TASK = "make the reader survive torn lines"
OTHER = "something else entirely"
_LONG = pytest.mark.long
BEFORE = ("prepare", "safe_point", "ask", "await", "check", "seal", "pass")


def _but(*quick: str) -> list[object]:
    return [step if step in quick else pytest.param(step, marks=_LONG) for step in BEFORE]


def _cleared(session: Session) -> str:
    """Type /clear, as a person would; the conversation that it began."""
    before = session.status["agent_session"]
    session.keys("/clear")
    session.until_shown("/clear")
    session.press("Enter")
    return session.house.wait("another conversation", lambda: _other(session, before))


def _other(session: Session, before: str) -> str | None:
    current = str(session.status["agent_session"])
    return current if current != before else None


def _left_alone(session: Session, mine: str) -> None:
    """The cycle has sealed what was left behind; nobody typed into what the person went to."""
    cycle = session.cycle()
    assert cycle["state"] == "pending", cycle
    assert "went on in another conversation" in cycle["note"]
    (document,) = session.documents()
    assert TASK in document
    assert set(session.arrived()) <= {"ask"}
    assert set(session.tags().values()) <= {1}
    status = session.until_state("idle")
    assert (status["agent_session"], status["cycle"]) == (mine, None)
    assert f"baton continue {cycle['document']}" in (status["notice"] or "")
    assert not list(session.folder.glob("prime.*"))


@pytest.mark.parametrize("step", _but("await"))
def test_a_clear_before_the_pass_seals_what_was_left_and_touches_nothing_more(shared: House, step: str) -> None:
    session = shared.run(f"clears-{step.replace('_', '-')}")
    session.hold(step)
    session.say(TASK)
    session.until_held(step)
    mine = _cleared(session)
    session.go_on(step)
    _left_alone(session, mine)


@pytest.mark.parametrize("step", _but("pass"))
def test_a_resumed_conversation_is_neither_asked_nor_cleared(shared: House, step: str) -> None:
    session = shared.run(f"resumes-{step.replace('_', '-')}", brain={"jumps": {"2": 145_000}, "tool": "none"})
    session.say(OTHER)
    session.house.wait("the first turn is over", lambda: session.status["used"] and session.status["state"] == "idle")
    _cleared(session)
    session.hold(step)
    session.say("look around")
    session.house.wait("the turn is over", lambda: session.status["used"] and session.status["state"] == "idle")
    session.say(TASK)
    session.until_held(step)
    session.keys(f"/resume {session.first}")
    session.until_shown(session.first)
    session.press("Enter")
    session.house.wait("the first one is back", lambda: session.status["agent_session"] == session.first)
    session.go_on(step)
    _left_alone(session, session.first)
    assert [text for text in session.prompts() if OTHER in text] == [OTHER]


@pytest.mark.parametrize("step", ["prime", pytest.param("verify", marks=_LONG)])
def test_a_successor_that_is_cleared_is_told_everything_again(shared: House, step: str) -> None:
    session = shared.run(f"clears-{step}")
    session.hold(step)
    session.say(TASK)
    session.until_held(step)
    mine = _cleared(session)
    session.go_on(step)
    cycle = session.cycle()
    assert cycle["state"] == "done", cycle
    assert session.until_state("idle")["agent_session"] == mine
    assert len(session.documents()) == 1
    assert set(session.tags().values()) == {1}


def _cleared_unheard(session: Session) -> str:
    """Type /clear, as a person would, in an agent whose hook does not run; what it says is in front then."""
    lost = session.house.folder / f"{session.name}.lost"
    session.misbehave({"fault": "lose_hook", "hook": "session_start", "once": str(lost)})
    before = session.in_front()
    session.keys("/clear")
    session.until_shown("/clear")
    session.press("Enter")
    session.house.wait("the hook is lost", lost.exists)
    return session.house.wait("another conversation", lambda: _not(session.in_front(), before))


def _not(found: str, before: str) -> str | None:
    return found if found != before else None


@pytest.mark.parametrize("step", _but("ask"))
def test_a_clear_that_no_hook_tells_of_is_known_before_anything_is_typed(shared: House, step: str) -> None:
    session = shared.run(f"unheard-{step.replace('_', '-')}")
    session.hold(step)
    session.say(TASK)
    session.until_held(step)
    mine = _cleared_unheard(session)
    session.go_on(step)
    _left_alone(session, mine)


@_LONG
def test_a_successor_that_is_cleared_with_no_hook_to_tell_of_it_is_told_everything_again(shared: House) -> None:
    session = shared.run("unheard-prime")
    session.hold("prime")
    session.say(TASK)
    session.until_held("prime")
    mine = _cleared_unheard(session)
    session.go_on("prime")
    cycle = session.cycle()
    assert cycle["state"] == "done", cycle
    assert session.until_state("idle")["agent_session"] == mine
    assert set(session.tags().values()) == {1}


@_LONG
def test_who_comes_back_before_the_cycle_goes_on_finds_it_where_it_was(shared: House) -> None:
    session = shared.run("comes-back")
    session.hold("ask")
    session.say(TASK)
    session.until_held("ask")
    _cleared(session)
    session.keys(f"/resume {session.first}")
    session.until_shown(session.first)
    session.press("Enter")
    session.house.wait("the old one is back", lambda: session.status["agent_session"] == session.first)
    session.go_on("ask")
    cycle = session.cycle()
    assert cycle["state"] == "done", cycle
    assert session.arrived() == ["ask", "kick"]
