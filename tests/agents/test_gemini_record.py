"""Gemini CLI's own session files, replayed line by line."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import pytest

from batonpass.agents.gemini.record import Journal
from batonpass.facts.tools import Tools
from batonpass.supervisor.conversation import Conversation
from batonpass.transcripts.events import (
    Compacted,
    Event,
    Failed,
    Interrupted,
    Prompted,
    Rewound,
    Said,
    ToolCalled,
    ToolReturned,
    Used,
)
from batonpass.transcripts.tail import Tail
from batonpass.transcripts.whole import all_events

E = TypeVar("E", bound=Event)

FOLDER = Path(__file__).parents[1] / "fixtures" / "gemini"
WINDOW = 1_048_576

LAST_USED = {
    "session-tui-turns-and-tools": 310_050,
    "session-tui-after-clear-then-compress": 19_050,
    "session-tui-cancel-and-autocompress": 15_050,
    "session-headless-resume": 19_050,
    "session-subagent-parent": 15_050,
    "subagent/subagent-child": 19_050,
}


def journal(name: str) -> Path:
    return FOLDER / f"{name}.jsonl"


def events(name: str) -> list[Event]:
    return list(all_events(journal(name), Journal()))


def of(kind: type[E], found: Sequence[Event]) -> list[E]:
    return [event for event in found if isinstance(event, kind)]


def read(*entries: object) -> list[Event]:
    """The events of a journal with these entries behind its first line."""
    reader = Journal()
    header = {"sessionId": "s", "startTime": "2026-11-15T19:00:00.000Z", "kind": "main"}
    return [event for entry in (header, *entries) for event in reader(json.dumps(entry).encode())]


def user(identity: str, text: str) -> dict[str, object]:
    return {"id": identity, "timestamp": "2026-11-15T19:00:01.000Z", "type": "user", "content": [{"text": text}]}


def answer(identity: str, text: str, total: int | None, **more: object) -> dict[str, object]:
    tokens = {} if total is None else {"tokens": {"output": 10, "total": total}, "model": "gemini-2.5-pro"}
    return {
        "id": identity,
        "timestamp": "2026-11-15T19:00:02.000Z",
        "type": "gemini",
        "content": text,
        **tokens,
        **more,
    }


@pytest.mark.parametrize("name", LAST_USED)
def test_the_last_usage_and_its_window_are_the_expected_figures(name: str) -> None:
    last = [event for event in events(name) if isinstance(event, Used | Rewound)][-1]
    assert isinstance(last, Used)
    assert (last.used, last.window) == (LAST_USED[name], WINDOW)


@pytest.mark.parametrize("name", LAST_USED)
def test_a_file_that_grows_line_by_line_tells_the_same_as_a_whole_one(name: str, tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.touch()
    tail, found = Tail(path, Journal()), list[Event]()
    for line in journal(name).read_bytes().splitlines(keepends=True):
        with path.open("ab") as file:
            file.write(line[:9])
            file.flush()
            found += tail.read().events
            file.write(line[9:])
        found += tail.read().events
    assert found == events(name)


def test_a_file_that_is_read_again_from_its_start_tells_everything_again() -> None:
    reader, lines = Journal(), journal("session-headless-resume").read_bytes().splitlines()
    once = [event for line in lines for event in reader(line)]
    assert [event for line in lines for event in reader(line)] == once


def test_what_people_and_the_agent_said_is_told_once_and_without_what_the_program_puts_in() -> None:
    found = events("session-tui-turns-and-tools")
    assert [event.text.splitlines()[0] for event in of(Prompted, found)] == [
        "List the files here.",
        "Say hello.",
        "Write a handoff document to HANDOFF.md.",
    ]
    assert [event.text for event in of(Said, found)] == [
        "There are no files yet.",
        "Hello!",
        "Handoff written to HANDOFF.md.",
    ]


def test_a_hooks_context_beside_a_prompt_is_no_part_of_what_was_said() -> None:
    entry = user("1", "go on")
    entry["content"] = [{"text": "go on"}, {"text": "<hook_context>&lt;much&gt;</hook_context>"}]
    assert [event.text for event in of(Prompted, read(entry))] == ["go on"]


def test_a_text_that_comes_again_with_its_tool_calls_is_told_once() -> None:
    call = {"id": "c", "name": "run_shell_command", "args": {"command": "ls"}, "status": "success", "result": []}
    first = answer("1", "I look.", 500)
    found = read(first, {**first, "toolCalls": [call]}, {**first, "toolCalls": [call]})
    assert [event.text for event in of(Said, found)] == ["I look."]
    assert [event.used for event in of(Used, found)] == [500]
    assert len(of(ToolCalled, found)) == len(of(ToolReturned, found)) == 1


def test_tools_are_told_with_their_arguments_and_results() -> None:
    found = events("session-tui-turns-and-tools")
    assert [(event.tool, event.arguments) for event in of(ToolCalled, found)][1] == (
        "write_file",
        {"file_path": "/home/dev/project/HANDOFF.md", "content": "# Handoff\n\n- goal: demo"},
    )
    listed, written = of(ToolReturned, found)
    assert (listed.ok, written.ok) == (True, True)
    assert "Output: (empty)" in listed.text


@pytest.mark.parametrize(
    ("status", "output", "ok"), [("error", "no such file", False), ("success", "Exit Code: 2", False)]
)
def test_a_tool_that_failed_is_told_as_failed(status: str, output: str, ok: bool) -> None:
    result = [{"functionResponse": {"id": "c", "response": {"output": output}}}]
    call = {"id": "c", "name": "run_shell_command", "args": {}, "status": status, "result": result}
    (returned,) = of(ToolReturned, read(answer("1", "", 5, toolCalls=[call])))
    assert (returned.ok, returned.text) == (ok, output)


def test_files_that_gemini_wrote_are_facts_of_its_session() -> None:
    tools = Tools(Path("/home/dev/project"), lambda path: False)
    for event in events("session-tui-turns-and-tools"):
        tools.see(event)
    assert tools.touched == ("HANDOFF.md",)


def test_after_a_compression_the_usage_is_unknown_until_the_next_answer() -> None:
    found = [e for e in events("session-tui-cancel-and-autocompress") if isinstance(e, Used | Rewound | Compacted)]
    assert [type(event) for event in found] == [Used, Rewound, Compacted, Used]
    (compacted,) = of(Compacted, found)
    assert (compacted.trigger, compacted.before) == ("auto", 540_050)


def test_a_compression_that_the_user_asked_for_is_no_miss() -> None:
    (compacted,) = of(Compacted, events("session-tui-after-clear-then-compress"))
    assert (compacted.trigger, compacted.before) == ("manual", 90_050)


def test_after_a_resume_the_usage_is_unknown_until_the_next_answer() -> None:
    lines = journal("session-headless-resume").read_bytes().splitlines()
    resumed = next(n for n, line in enumerate(lines) if n and b'"startTime"' in line)
    reader = Journal()
    found = [event for line in lines[: resumed + 4] for event in reader(line)]
    assert isinstance([e for e in found if isinstance(e, Used | Rewound)][-1], Rewound)
    assert len(of(Prompted, found)) == 1, "the list of old messages is not said again"


def test_a_request_that_the_user_cancelled_is_an_interruption() -> None:
    assert len(of(Interrupted, events("session-tui-cancel-and-autocompress"))) == 1


def test_a_rewind_goes_back_to_the_usage_of_the_last_answer_that_is_left() -> None:
    said = (user("1", "one"), answer("2", "first", 100), user("3", "two"), answer("4", "second", 900))
    assert [e.used for e in of(Used, read(*said, {"$rewindTo": "3"}))] == [100, 900, 100]
    found = read(*said, {"$rewindTo": "1"})
    assert isinstance(found[-1], Rewound)
    assert isinstance(read(*said, {"$rewindTo": "nobody knows"})[-1], Rewound)


def test_a_rewritten_list_that_keeps_its_figures_keeps_the_usage() -> None:
    kept = answer("2", "first", 100)
    found = read(user("1", "one"), kept, {"$set": {"messages": [user("1", "one"), kept]}})
    assert not of(Rewound, found)
    assert [event.used for event in of(Used, found)] == [100]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("[API Error: 429 Resource exhausted]", "rate_limit"),
        ("[API Error: The model is overloaded. 503]", "overloaded"),
        ("[API Error: API key not valid]", "authentication"),
        ("[API Error: The input token count exceeds the maximum]", "too_long"),
        ("[API Error: something]", "other"),
    ],
)
def test_an_error_is_told_by_its_kind(text: str, kind: str) -> None:
    (failed,) = of(Failed, read({"id": "1", "type": "error", "content": text}))
    assert (failed.kind, failed.text) == (kind, text)


ODD = (
    b"",
    b"[]",
    b"7",
    b'{"id":',
    b'{"id": 7}',
    b'{"$set": 7}',
    b'{"$set": {"messages": 7}}',
    b'{"id": "x", "type": "gemini", "tokens": {"total": -1}, "toolCalls": 7}',
)


@pytest.mark.parametrize("line", ODD)
def test_lines_that_nobody_foresaw_tell_nothing(line: bytes) -> None:
    assert Journal()(line) == []


def test_a_conversation_forgets_its_usage_when_the_record_was_taken_back(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    lines = [user("1", "one"), answer("2", "first", 100), {"$rewindTo": "1"}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    news = Conversation("s", path, lambda transcript: Tail(transcript, Journal())).read()
    assert (news.used, news.unknown) == ((), True)


@pytest.mark.parametrize(
    "text", ["Unknown command: /quota", "Error connecting to MCP server 'github': 401 Unauthorized", ""]
)
def test_an_error_of_its_own_commands_and_servers_ends_no_turn(text: str) -> None:
    done = (user("1", "one"), answer("2", "first", 100))
    assert read(*done, {"id": "3", "type": "error", "content": text}) == read(*done)
