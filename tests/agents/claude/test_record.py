from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TypeVar

import pytest

from batonpass.agents.claude import Claude
from batonpass.transcripts.events import (
    Compacted,
    Event,
    Failed,
    Interrupted,
    Origin,
    Prompted,
    Said,
    ToolCalled,
    ToolReturned,
    TurnEnded,
    Used,
)
from batonpass.transcripts.whole import all_events, last
from tests.agents.claude.fixtures import FOLDER, VERSIONS, transcript

E = TypeVar("E", bound=Event)

both = pytest.mark.parametrize("version", VERSIONS)


def events(version: str, name: str) -> list[Event]:
    return list(all_events(transcript(version, name), Claude().reader()))


def of(kind: type[E], found: Sequence[Event]) -> list[E]:
    return [event for event in found if isinstance(event, kind)]


def prompts(version: str, name: str) -> list[tuple[str, str]]:
    return [(event.origin.value, event.text) for event in of(Prompted, events(version, name))]


LAST_USED = {
    "01_normal": (25_131, 25_131),
    "02_clear_new": (20_920, 20_920),
    "02_clear_old": (25_131, 25_131),
    "03_tool_use": (23_015, 23_015),
    "04_subagent_main": (25_012, 21_015),
    "05_interrupted": (25_012, 26_001),
    "06_stop_hook": (153_008, 153_008),
    "07_auto_compact": (31_011, 31_011),
    "08_manual_compact": (21_506, 21_506),
    "09_prompt_too_long": (90_011, 90_011),
    "10_api_errors": (178_005, 978_005),
    "11_permission": (21_012, 21_012),
    "12_model_switch": (24_012, 24_012),
    "13_resumed": (24_512, 24_512),
    "14_forked": (24_612, 24_612),
    "15_headless": (20_512, 20_512),
    "16_queued": (66_015, 71_015),
    "17_shell": (86_015, 91_015),
}


@both
@pytest.mark.parametrize("name", LAST_USED)
def test_the_last_usage_is_what_the_next_request_will_carry(version: str, name: str) -> None:
    found = last(transcript(version, name), Claude().reader(), Used)
    assert found is not None
    assert found.used == LAST_USED[name][VERSIONS.index(version)]


@both
def test_a_turn_is_a_prompt_an_answer_its_usage_and_an_end(version: str) -> None:
    first = events(version, "01_normal")[:4]
    assert [type(event) for event in first] == [Prompted, Said, Used, TurnEnded]
    prompt, said, used, _ = first
    assert isinstance(prompt, Prompted)
    assert (prompt.text, prompt.origin) == ("What does main.py do?", Origin.HUMAN)
    assert prompt.prompt_id is not None
    assert isinstance(said, Said)
    assert said.text == "It parses the arguments."
    assert isinstance(used, Used)
    assert (used.used, used.output, used.message_id) == (21_040, 40, said.message_id)


def test_times_are_seconds_since_the_epoch() -> None:
    (event,) = Claude().reader()(b'{"type":"system","subtype":"turn_duration","timestamp":"2026-11-15T19:53:20.993Z"}')
    assert datetime.fromtimestamp(event.at, UTC).isoformat() == "2026-11-15T19:53:20.993000+00:00"


@both
def test_the_blocks_of_one_response_share_its_message_id(version: str) -> None:
    found = events(version, "03_tool_use")
    writing = next(event for event in of(Said, found) if event.text == "Writing it.")
    same = [event for event in of(Used, found) if event.message_id == writing.message_id]
    assert [event.used for event in same] == [22_120] * 4


@both
def test_tool_calls_and_their_results_meet_by_id_and_are_no_prompts(version: str) -> None:
    found = events(version, "03_tool_use")
    calls = {event.call_id: event for event in of(ToolCalled, found)}
    results = of(ToolReturned, found)
    assert [calls[result.call_id].tool for result in results] == ["Write", "Bash"]
    assert calls[results[0].call_id].arguments["file_path"] == "/home/dev/project/test_main.py"
    assert (results[1].ok, results[1].text) == (True, "2")
    assert [text for _, text in prompts(version, "03_tool_use")] == [
        "Continue from the handoff.",
        "Write the test",
    ]


@both
def test_a_stop_hooks_feedback_is_a_prompt_by_a_hook(version: str) -> None:
    assert prompts(version, "06_stop_hook") == [
        ("human", "Do step 4"),
        ("hook", "Context is 76% full. Write the handoff to .handoff/HANDOFF.md now, then stop."),
    ]


@both
def test_a_finished_background_task_is_a_prompt_by_the_system(version: str) -> None:
    found = [text for origin, text in prompts(version, "12_model_switch") if origin == "system"]
    assert len(found) == 1
    assert found[0].startswith("<task-notification>")
    (notice,) = [event.notice for event in of(Prompted, events(version, "12_model_switch")) if event.notice]
    assert notice.task in found[0]
    assert notice.call in found[0]
    assert notice.state == "completed"


@both
def test_the_programs_own_command_lines_and_summaries_are_no_prompts(version: str) -> None:
    assert prompts(version, "02_clear_new") == [("human", "Continue from the handoff.")]
    assert [text for _, text in prompts(version, "08_manual")] == [
        *(f"Work item {number}" for number in range(6)),
        "Go on",
    ]


@both
def test_prompts_sent_while_the_agent_works_appear_once_each_and_a_handoff_command_not_at_all(
    version: str,
) -> None:
    assert prompts(version, "16_queued") == [
        ("human", "please run slow"),
        ("human", "queued while tool runs"),
        ("human", "please stream slow"),
        ("human", "queued A while streaming"),
        ("human", "queued B while streaming"),
    ]


@both
def test_a_shell_command_and_a_prompt_command_are_prompts_as_they_were_typed(version: str) -> None:
    assert prompts(version, "17_shell") == [
        ("human", "!echo hi"),
        ("human", "/greet Ada"),
        ("human", "two\nlines"),
    ]


@both
@pytest.mark.parametrize("name", ["05_interrupted", "11_permission"])
def test_an_interrupt_is_an_event_and_no_prompt(version: str, name: str) -> None:
    assert len(of(Interrupted, events(version, name))) == 1
    assert not any("interrupted" in text for _, text in prompts(version, name))


@both
def test_a_rejected_tool_did_not_go_well(version: str) -> None:
    (result,) = of(ToolReturned, events(version, "11_permission"))
    assert not result.ok


@both
def test_compactions_tell_their_trigger_and_what_was_there_before(version: str) -> None:
    found = of(Compacted, events(version, "08_manual"))
    assert [(event.trigger, event.before) for event in found] == [("auto", 88_012), ("manual", 31_011)]


@both
def test_api_errors_are_failures_of_a_kind_and_no_usage(version: str) -> None:
    found = events(version, "10_api_errors")
    kinds = [event.kind for event in of(Failed, found)]
    assert kinds == ["overloaded", "rate_limit", "authentication", "too_long", "too_long"]
    assert len(of(Used, found)) == 1


@both
def test_a_sub_agents_own_file_says_nothing_of_the_conversation(version: str) -> None:
    (path,) = (FOLDER / version / "transcripts" / "04_subagent" / "subagents").glob("*.jsonl")
    assert list(all_events(path, Claude().reader())) == []


def test_the_text_of_an_interrupted_response_is_kept_though_its_usage_is_zero() -> None:
    found = events("2.1.197", "05_interrupted")
    assert of(Said, found)[-1].text.startswith("Slow stream")
    assert of(Used, found)[-1].used == 25_012


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"garbage",
        b"\xff\xfe",
        b"[]",
        b"null",
        b'{"type":7}',
        b'{"type":"user"}',
        b'{"type":"user","message":{"content":7}}',
        b'{"type":"user","message":{"content":[null,7,{"type":"text"}]}}',
        b'{"type":"user","message":"x"}',
        b'{"type":"assistant","message":{"content":"x","usage":7}}',
        b'{"type":"assistant","message":{"content":[{"type":"tool_use"}]}}',
        b'{"type":"assistant","message":{"content":[],"model":"m","usage":{"input_tokens":"x"}}}',
        b'{"type":"attachment","attachment":{"type":"x","y":"queued_command"}}',
        b'{"type":"system","subtype":"turn_duration","timestamp":"yesterday"}',
        b'{"type":"brand-new"}',
        b'{"type":"user","message":{"content":"torn',
    ],
)
def test_a_line_that_nobody_foresaw_gives_nothing_and_raises_nothing(line: bytes) -> None:
    assert list(Claude().reader()(line)) == []


@pytest.mark.parametrize("text", ["null", "7", '["x"]'])
def test_a_text_that_is_none_is_left_out_and_the_rest_of_its_line_is_kept(text: str) -> None:
    blocks = f'{{"type":"text","text":{text}}},{{"type":"text","text":"hello"}}'
    usage = '"model":"m","usage":{"input_tokens":5}'
    said, used = Claude().reader()(f'{{"type":"assistant","message":{{"content":[{blocks}],{usage}}}}}'.encode())
    assert (isinstance(said, Said) and said.text, isinstance(used, Used) and used.used) == ("hello", 5)
