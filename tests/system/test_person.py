"""A person is at the keyboard while Baton wants to hand off: the person comes first."""

from batonpass.sim.tmux_server import run_tmux
from tests.system.house import House, Session


def _idle(shared: House, name: str) -> Session:
    session = shared.run(name, brain={"jumps": {}})
    session.say("look around")
    shared.wait("the first turn is over", lambda: session.status["used"] and session.status["state"] == "idle")
    return session


def test_a_prompt_in_the_middle_is_answered_and_is_in_the_handoff(shared: House) -> None:
    session = shared.run("middle", brain={"delay": 0.8})
    session.say("make the reader survive torn lines")
    session.until_step("await")
    session.keys("and keep the public names")
    session.press("Enter")
    cycle = session.cycle()
    assert cycle["state"] == "done"
    assert {step["step"]: step["attempts"] for step in cycle["steps"]}["ask"] == 2
    assert "and keep the public names" in session.documents()[-1]
    assert session.prompts().count("and keep the public names") == 1
    answers = session.said()
    assert len([text for text in answers if text.startswith("On it: and keep the public names")]) == 1
    assert set(session.tags().values()) == {1}


def test_unsent_text_is_left_alone_and_nothing_is_typed_until_it_is_gone(shared: House) -> None:
    session = _idle(shared, "unsent")
    session.keys("half a thou")
    session.until_shown("❯ half a thou")
    shared.call("handoff", session=session.id)
    session.until_looked("safe_point")
    assert "❯ half a thou" in session.screen()
    assert session.tags() == {}
    session.press("C-u")
    cycle = session.cycle()
    assert cycle["state"] == "done"
    assert set(session.tags().values()) == {1}
    assert not any("half a thou" in prompt for prompt in session.prompts())


def test_somebody_who_reads_in_copy_mode_is_not_disturbed(shared: House) -> None:
    session = _idle(shared, "reading")
    run_tmux(shared.tmux, "copy-mode", "-t", session.pane)
    shared.call("handoff", session=session.id)
    session.until_looked("safe_point")
    assert run_tmux(shared.tmux, "display-message", "-p", "-t", session.pane, "#{pane_mode}") == "copy-mode"
    assert session.tags() == {}
    run_tmux(shared.tmux, "send-keys", "-t", session.pane, "-X", "cancel")
    assert session.cycle()["state"] == "done"
    assert set(session.tags().values()) == {1}


def test_an_open_dialog_is_told_to_a_person_and_nothing_is_typed_into_it(shared: House) -> None:
    session = shared.run("dialog", brain={"jumps": {}}, faults=[{"fault": "dialog", "at": "turn", "times": 1}])
    session.say("delete the old files")
    assert session.until_state("waiting")["waiting_for"] == "permission prompt"
    shared.wait("a notice", lambda: any(n.startswith("dialog waits for a person") for n in shared.notices()))
    shared.call("handoff", session=session.id)
    session.until_looked("safe_point")
    assert "Do you want to go on?" in session.screen()
    assert session.status["state"] == "waiting"
    assert "handoff waits" in (session.status["notice"] or "")
    assert session.tags() == {}
    session.press("Enter")
    assert session.cycle()["state"] == "done"
    assert set(session.tags().values()) == {1}
