"""What a project's own settings change."""

from tests.system.house import House

TASK = "make the reader survive torn lines"
_FILE = ".supervisor-specific/handoff-config.yaml"


def test_without_automatic_continuation_the_handoff_waits_for_baton_continue(shared: House) -> None:
    project = shared.project("by-hand")
    (project / _FILE).parent.mkdir()
    (project / _FILE).write_text("handoff:\n  auto_continue_cli: false\n", encoding="utf-8")
    session = shared.run("by-hand", project=project)
    session.say(TASK)
    cycle = session.cycle()
    assert cycle["state"] == "pending"
    pending = project / ".bmad" / "handoffs" / "HANDOFF_PENDING.md"
    assert f"baton continue {cycle['document']}" in pending.read_text(encoding="utf-8")
    assert session.status["agent_session"] == session.first, "the session was not touched"
    assert session.arrived() == ["ask"]

    words = ["--json", "--agent", "scripted", "--name", "next", "--", "--brain", '{"start": 20000}']
    shared.baton("continue", *words, cwd=project)
    assert not pending.exists()
    shared.wait("the handoff is its context", lambda: any(TASK in text for text in session.told()))
    shared.wait("it is kicked", lambda: any("kick 1]" in text for text in session.prompts()))
    shared.wait("it gives its receipt", lambda: '"baton_receipt"' in "".join(session.said()))


def test_a_project_that_is_switched_off_is_only_logged(shared: House) -> None:
    project = shared.project("off")
    (project / _FILE).parent.mkdir()
    (project / _FILE).write_text("handoff:\n  enabled: false\n", encoding="utf-8")
    session = shared.run("off", project=project, brain={"jumps": {"1": 160_000}})
    session.say(TASK)
    shared.wait("the usage is known", lambda: (session.status["used"] or 0) >= 160_000)
    session.until_state("idle")
    session.say("and go on")
    shared.wait("the next turn is over", lambda: session.screen().count("Done so far") == 2)
    status = session.until_state("idle")
    assert status["zone"] in ("mandatory", "forced")
    assert shared.cycles(session.id) == []
    assert session.documents() == []
    assert session.tags() == {}
    assert session.told() == []


def test_a_broken_settings_file_is_shown_and_what_was_good_stays_in_force(shared: House) -> None:
    project = shared.project("typo")
    shared.configure("cooldown_minuts: 3\n", project)
    session = shared.run("typo", project=project)
    session.say(TASK)
    assert session.cycle()["state"] == "done"
    shown = shared.baton("status")
    assert "cooldown_minutes" in shown
    assert ".baton/config.yaml" in shown
