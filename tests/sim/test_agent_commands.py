"""Slash commands of the scripted agent, its own compaction, and the way back to an earlier conversation."""

from tests.sim.played import Played


def test_clear_begins_a_new_conversation_in_a_new_transcript(agent: Played) -> None:
    agent.start("--session-id=old", "--", "remember the milk", replies=[{"text": "Yes.", "used": 90_000}])
    agent.until_event("turn_ended")
    agent.type("/clear\rwhat now?\r")
    agent.until_event("turn_ended", 2)
    ended, started = agent.hooks("session_end")[0], agent.hooks("session_start")[1]
    assert (ended["session"], ended["reason"]) == ("old", "clear")
    new = started["session"]
    assert new != "old"
    assert started["source"] == "clear"
    names = [hook["hook"] for hook in agent.hooks()]
    assert names.index("session_end") < names.index("session_start", 1)
    assert agent.state()["session"] == new
    assert [line["text"] for line in agent.transcript(new) if line["event"] == "prompted"] == ["what now?"]
    assert agent.asked()[1] == {
        "text": "what now?",
        "context": "what now?",
        "tool_results": [],
        "turn": 1,
        "used": 0,
    }


def test_the_conversation_is_busy_until_the_start_hooks_of_a_clear_have_answered(agent: Played) -> None:
    settings = agent.settings()
    settings["hooks"]["session_start"] = [
        "/bin/sh",
        "-c",
        "cat >> starts; while test -e hold; do sleep 0.05; done",
    ]
    agent.start("--session-id=old", settings=settings)
    agent.until_state("idle")
    (agent.project / "hold").touch()
    agent.type("/clear\r")
    agent.until(lambda: agent.state()["session"] != "old", "the new conversation")
    starts = agent.project / "starts"
    agent.until(lambda: starts.read_text(encoding="utf-8").count("session_start") == 2, "the hook")
    assert agent.state()["status"] == "busy"
    (agent.project / "hold").unlink()
    agent.until_state("idle")


def test_handoff_is_told_to_the_hooks_and_not_to_the_model(agent: Played) -> None:
    agent.start()
    agent.until_state("idle")
    agent.type("/handoff end of the day\r")
    agent.until_event("turn_ended")
    assert agent.hooks("prompt")[0]["prompt"] == "/handoff end of the day"
    assert len(agent.hooks("stop")) == 1
    assert agent.asked() == []
    assert agent.events("prompted") == []


def test_the_ask_after_a_handoff_command_reaches_the_model(agent: Played) -> None:
    agent.start("--", "/handoff", settings=agent.settings(stop={"decision": "block", "reason": "[baton] write"}))
    agent.until_event("turn_ended")
    assert [asked["text"] for asked in agent.asked()] == ["Stop hook feedback:\n[baton] write"]


def test_compact_forgets_and_is_primed_again(agent: Played) -> None:
    agent.start("--session-id=abc", "--", "old words", replies=[{"text": "Yes.", "used": 50_000}])
    agent.until_event("turn_ended")
    (agent.folder / "session_start.answer").write_text('{"context": "the handoff"}', encoding="utf-8")
    agent.type("/compact\rgo on\r")
    agent.until_event("turn_ended", 2)
    compacted = agent.events("compacted")[0]
    assert (compacted["trigger"], compacted["before"]) == ("manual", 50_000)
    assert [hook["source"] for hook in agent.hooks("session_start")] == ["startup", "compact"]
    assert "Yes." not in agent.asked()[1]["context"]
    assert "the handoff" in agent.asked()[1]["context"]
    assert agent.asked()[1]["used"] == 0
    assert agent.state()["session"] == "abc"


def test_it_compacts_itself_at_its_threshold_and_goes_on(agent: Played) -> None:
    replies = [{"text": "a", "used": 166_999}, {"text": "b", "used": 167_000}, {"text": "c", "used": 9_000}]
    agent.start("--", "first", replies=replies)
    agent.until_event("turn_ended")
    agent.type("second\rthird\r")
    agent.until_event("turn_ended", 3)
    kinds = [line["event"] for line in agent.events() if line["event"] in ("prompted", "compacted", "said")]
    assert kinds == ["prompted", "said", "prompted", "said", "prompted", "compacted", "said"]
    assert agent.events("compacted")[0]["before"] == 167_000
    assert agent.asked()[2]["text"] == "third"
    assert "third" in agent.asked()[2]["context"]


def test_a_prompt_too_long_is_compacted_and_asked_again(agent: Played) -> None:
    replies: list[dict[str, object]] = [
        {"text": "a", "used": 50_000},
        {"error": "too_long"},
        {"text": "b", "used": 9_000},
    ]
    agent.start("--", "first", replies=replies)
    agent.until_event("turn_ended")
    agent.type("second\r")
    agent.until_event("turn_ended", 2)
    assert len(agent.events("compacted")) == 1
    assert not agent.events("failed")


def test_without_compaction_it_refuses_to_go_on_when_full(agent: Played) -> None:
    agent.start("--no-compact", "--", "first", replies=[{"text": "a", "used": 177_000}])
    agent.until_event("turn_ended")
    agent.type("second\r")
    assert agent.until_event("failed")[0]["kind"] == "too_long"
    agent.until_state("idle")
    assert len(agent.asked()) == 1
    assert len(agent.hooks("stop")) == 1
    assert agent.hooks("stop_failed")[0]["error"] == "too_long"


def test_resume_brings_the_conversation_back(agent: Played) -> None:
    agent.start("--session-id=abc", "--", "remember the milk", replies=[{"text": "Noted.", "used": 90_000}])
    agent.until_event("turn_ended")
    agent.type("/exit\r")
    assert agent.until_end() == 0
    agent.close()
    agent.status = None
    agent.start("--resume=abc", "--", "what was it?")
    agent.until_event("turn_ended", 2)
    asked = agent.asked()[-1]
    assert asked["context"] == "remember the milk\n\nNoted.\n\nwhat was it?"
    assert (asked["used"], asked["turn"]) == (90_000, 2)
    assert agent.hooks("session_start")[-1]["source"] == "resume"


def test_what_was_compacted_does_not_come_back(agent: Played) -> None:
    agent.start("--session-id=abc", "--", "old words", replies=[{"text": "Yes.", "used": 90_000}])
    agent.until_event("turn_ended")
    agent.type("/compact\r/clear\r/resume abc\rnew words\r")
    agent.until_event("turn_ended", 2)
    assert (agent.asked()[-1]["context"], agent.asked()[-1]["used"]) == ("new words", 0)


def test_resume_as_a_command_leaves_one_conversation_for_another(agent: Played) -> None:
    agent.start("--session-id=first", "--", "hello")
    agent.until_event("turn_ended")
    agent.type("/clear\r/resume first\rstill there?\r")
    agent.until_event("turn_ended", 2)
    assert agent.asked()[-1]["context"].startswith("hello\n\nheard: hello")
    assert [hook["reason"] for hook in agent.hooks("session_end")] == ["clear", "resume"]
    assert agent.state()["session"] == "first"


def test_a_conversation_that_is_not_there_is_named(agent: Played) -> None:
    agent.start("--resume=nothing")
    assert agent.until_end() == 2
    assert "No conversation found with session ID: nothing" in agent.screen


def test_an_unknown_command_is_refused_but_a_path_is_a_prompt(agent: Played) -> None:
    agent.start()
    agent.until_state("idle")
    agent.type("/dance\r/etc/hosts is a file\r")
    agent.until_event("turn_ended")
    assert [line["text"] for line in agent.events("prompted")] == ["/etc/hosts is a file"]
    agent.until_shown("Unknown command: /dance")
