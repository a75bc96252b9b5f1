"""Sub-agents and background commands: id, task, state."""

from pathlib import Path

from batonpass.agents.claude.record import parse
from batonpass.agents.codex import record as codex
from batonpass.agents.gemini import record as gemini
from batonpass.facts import Followed
from batonpass.transcripts.events import Notice, Origin, Prompted, ToolCalled, ToolReturned
from batonpass.transcripts.whole import all_events
from tests.facts.said import facts_of, ran

TRANSCRIPTS = Path(__file__).parents[1] / "fixtures" / "claude-code" / "2.1.325" / "transcripts"
CODEX = Path(__file__).parents[1] / "fixtures" / "codex"
GEMINI = Path(__file__).parents[1] / "fixtures" / "gemini"
LAUNCHED = ToolReturned(1, "t1", True, "Async agent launched successfully.\nagentId: a34b (internal ID)")


def notice(task: str, state: str) -> Prompted:
    return Prompted(2, f"{task} has ended.", Origin.SYSTEM, notice=Notice(task, "", state))


def test_a_sub_agent_is_followed_from_its_start_to_its_end(tmp_path: Path) -> None:
    called = ToolCalled(1, "t1", "Agent", {"description": "survey the parsers", "subagent_type": "explore"})
    running = facts_of(tmp_path, called, LAUNCHED).subagents
    assert [(one.id, one.task, one.state) for one in running] == [("a34b", "explore: survey the parsers", "running")]
    assert [one.state for one in facts_of(tmp_path, called, LAUNCHED, notice("a34b", "completed")).subagents] == [
        "completed"
    ]
    assert [one.state for one in facts_of(tmp_path, called).subagents] == ["running"]
    assert [one.state for one in facts_of(tmp_path, called, ToolReturned(1, "t1", True, "Found 3.")).subagents] == [
        "completed"
    ]


def test_background_commands_are_known_until_they_end(tmp_path: Path) -> None:
    started = ran(1, "npm run dev", "Command running in background with ID: b5ip. Output is", run_in_background=True)
    assert [(task.id, task.description) for task in facts_of(tmp_path, started).background] == [("b5ip", "npm run dev")]
    assert facts_of(tmp_path, started, notice("b5ip", "completed")).background == ()
    said = Prompted(2, "<task-notification><task-id>b5ip</task-id></task-notification>", Origin.HUMAN)
    assert facts_of(tmp_path, started, said).background, "what an agent's news looks like is known to its adapter alone"
    stopped = ToolCalled(3, "k", "KillShell", {"shell_id": "b5ip"})
    assert facts_of(tmp_path, started, stopped).background == ()


def test_recorded_sessions_of_claude_code_tell_their_sub_agents(tmp_path: Path) -> None:
    followed = Followed(tmp_path, lambda _: False)
    followed.follow(all_events(TRANSCRIPTS / "04_subagent_main.jsonl", parse))
    found = followed.facts("claude", None, None, (), at=9.0).subagents
    assert [(one.id, one.state) for one in found] == [("a34b9586fe8be0856", "completed")]


def test_a_sub_agent_of_codex_runs_on_after_the_call_that_began_it_and_ends_by_its_own_id(tmp_path: Path) -> None:
    events = list(all_events(CODEX / "rollout-subagent-parent.jsonl", codex.parse))
    begun = next(n for n, event in enumerate(events) if isinstance(event, ToolReturned)) + 1
    identity = "01a1e0af-13b6-7110-bb06-8258053bd794"
    assert [(one.id, one.state) for one in facts_of(tmp_path, *events[:begun]).subagents] == [(identity, "running")]
    assert [(one.id, one.state) for one in facts_of(tmp_path, *events).subagents] == [(identity, "completed")]
    failed = [*events[:begun], ToolReturned(9, identity, False, "errored")]
    assert [one.state for one in facts_of(tmp_path, *failed).subagents] == ["failed"]


def test_a_sub_agent_of_gemini_cli_is_known_by_its_own_id_and_has_failed_where_it_gave_up(tmp_path: Path) -> None:
    path = GEMINI / "session-subagent-parent.jsonl"
    (given_up,) = facts_of(tmp_path, *all_events(path, gemini.Journal())).subagents
    assert (given_up.id, given_up.state) == ("aee82e7e-7075-426c-bcfe-9c5c14f32ebb", "failed")
    assert given_up.task.startswith("generalist: You are the sub-agent.")
    reached = tmp_path / path.name
    reached.write_bytes(path.read_bytes().replace(b"ERROR_NO_COMPLETE_TASK_CALL", b"GOAL"))
    (done,) = facts_of(tmp_path, *all_events(reached, gemini.Journal())).subagents
    assert (done.id, done.state) == (given_up.id, "completed")
