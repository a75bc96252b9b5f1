"""Codex's own rollout files, read line by line."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import pytest

from batonpass.agents.codex.record import parse
from batonpass.facts.tools import Tools
from batonpass.transcripts.events import (
    Compacted,
    Event,
    Failed,
    Interrupted,
    Origin,
    Permitted,
    Prompted,
    Said,
    ToolCalled,
    ToolReturned,
    TurnEnded,
    Used,
)
from batonpass.transcripts.whole import all_events, last

E = TypeVar("E", bound=Event)
STAMP = "2026-11-18T05:33:42.557Z"

FOLDER = Path(__file__).parents[1] / "fixtures" / "codex"

LAST_USED = {
    "tui-turns-and-tools": (120_040, 258_400),
    "tui-after-clear-then-compact": (23_040, 258_400),
    "tui-stop-hook": (31_040, 258_400),
    "exec-resume-autocompact": (23_040, 95_000),
    "subagent-parent": (27_040, 258_400),
    "subagent-child": (33_040, 258_400),
    "code-mode-model": (27_040, 258_400),
}


def rollout(name: str) -> Path:
    return FOLDER / f"rollout-{name}.jsonl"


def events(name: str) -> list[Event]:
    return list(all_events(rollout(name), parse))


def of(kind: type[E], found: Sequence[Event]) -> list[E]:
    return [event for event in found if isinstance(event, kind)]


@pytest.mark.parametrize("name", LAST_USED)
def test_the_last_usage_and_its_window_are_the_expected_figures(name: str) -> None:
    found = last(rollout(name), parse, Used)
    assert found is not None
    assert (found.used, found.window) == LAST_USED[name]


def test_usage_is_unknown_where_no_request_was_answered() -> None:
    assert of(Used, events("tui-interrupt-and-error")) == []


def test_a_turn_is_a_prompt_what_was_done_and_said_and_an_end() -> None:
    first = [event for event in events("tui-turns-and-tools") if not isinstance(event, Permitted)][:7]
    assert [type(event) for event in first] == [Prompted, ToolCalled, ToolReturned, Used, Said, Used, TurnEnded]
    prompt, called, returned, _, said, used, _ = first
    assert isinstance(prompt, Prompted)
    assert (prompt.text.splitlines()[0], prompt.origin) == ("List the files here.", Origin.HUMAN)
    assert isinstance(called, ToolCalled)
    assert (called.tool, called.arguments) == ("exec_command", {"cmd": "ls -la"})
    assert isinstance(returned, ToolReturned)
    assert (returned.call_id, returned.ok) == (called.call_id, True)
    assert isinstance(said, Said)
    assert said.text == "There are no files yet."
    assert isinstance(used, Used)
    assert (used.used, used.output) == (21_040, 40)


def test_what_codex_itself_puts_into_user_messages_is_nobodys_prompt() -> None:
    for name in LAST_USED:
        texts = [prompt.text for prompt in of(Prompted, events(name))]
        assert texts
        assert not [text for text in texts if text.startswith(("<", "# AGENTS.md"))]


def test_a_stop_hooks_request_is_a_prompt_of_the_same_turn_as_the_hook_gave_it() -> None:
    found = events("tui-stop-hook")
    typed, asked = of(Prompted, found)
    assert (typed.origin, asked.origin) == (Origin.HUMAN, Origin.HOOK)
    assert asked.text == '[baton 7f3a91c2 ask 1] Please write <x> & "it".\n@@say asked and done'
    assert len(of(TurnEnded, found)) == 1
    assert [said.text for said in of(Said, found)] == ["Said one.", "asked and done"]


def test_a_compaction_by_the_user_is_told_from_one_that_codex_decided_on() -> None:
    (by_hand,) = of(Compacted, events("tui-after-clear-then-compact"))
    (by_itself,) = of(Compacted, events("exec-resume-autocompact"))
    assert (by_hand.trigger, by_itself.trigger) == ("manual", "auto")


def test_the_summary_that_codex_writes_for_itself_is_not_said_to_anyone() -> None:
    for name in ("tui-after-clear-then-compact", "exec-resume-autocompact"):
        assert not [said.text for said in of(Said, events(name)) if "SUMMARY" in said.text]


def test_an_interrupted_turn_and_a_failed_one_are_told_apart() -> None:
    found = events("tui-interrupt-and-error")
    assert [type(e) for e in found if not isinstance(e, Permitted)] == [Prompted, Interrupted, Prompted, Failed]
    (failed,) = of(Failed, found)
    assert failed.kind == "overloaded"
    assert "high demand" in failed.text


def applied(**settings: object) -> list[Event]:
    payload = {"type": "thread_settings_applied", "thread_settings": {"model": "gpt-5.5", **settings}}
    return parse(json.dumps({"timestamp": STAMP, "type": "event_msg", "payload": payload}).encode())


def test_what_flags_and_files_allow_is_no_choice_of_the_users_within_the_session() -> None:
    assert {permitted.mode for permitted in of(Permitted, events("tui-turns-and-tools"))} == {None}


@pytest.mark.parametrize(
    ("policy", "reviewer", "profile", "mode"),
    [
        ("on-request", "user", ":read-only", "on-request user :read-only"),
        ("on-request", "auto_review", ":workspace", "on-request auto_review :workspace"),
        ("never", "user", ":danger-full-access", "never user :danger-full-access"),
        ("untrusted", "user", ":workspace", "untrusted user :workspace"),
        ({"granular": {"rules": True}}, "somebody", "mine", "untrusted user mine"),  # a person is asked
        ("never", "user", 'x" ]', "untrusted user :read-only"),  # what cannot be repeated is the narrowest
    ],
)
def test_permissions_that_were_chosen_within_codex_are_told(
    policy: object, reviewer: str, profile: str, mode: str | None
) -> None:
    (told,) = applied(approval_policy=policy, approvals_reviewer=reviewer, active_permission_profile={"id": profile})
    assert isinstance(told, Permitted)
    assert told.mode == mode


def test_files_and_commands_are_facts_whichever_way_the_model_calls_its_tools(tmp_path: Path) -> None:
    by_tools, by_code = Tools(tmp_path, lambda path: False), Tools(tmp_path, lambda path: False)
    for event in events("tui-turns-and-tools"):
        by_tools.see(event)
    for event in events("code-mode-model"):
        by_code.see(event)
    assert by_tools.touched == ("HANDOFF.md",)
    assert [(command.command, command.exit) for command in by_tools.commands] == [("ls -la", 0)]
    assert [(command.command, command.exit) for command in by_code.commands] == [("echo hi", 0)]


@pytest.mark.parametrize(
    ("output", "ok"),
    [
        ("Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 2\nOutput:\nno", False),
        ("Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nExit code: 1 in a log", True),
        ("Chunk ID: 1\nWall time: 9 seconds\nProcess running with session ID 7\nOutput:\n", True),
        ("apply_patch verification failed: no such line", False),
    ],
)
def test_a_tools_success_is_told_by_its_exit_code(output: str, ok: bool) -> None:
    line = '{"timestamp":"2026-11-15T19:28:21.430Z","type":"response_item","payload":{"type":"function_call_output",'
    (returned,) = parse(f'{line}"call_id":"c","output":{output!r}}}}}'.replace("'", '"').encode())
    assert isinstance(returned, ToolReturned)
    assert returned.ok is ok


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"null",
        b'{"type":"compacted"',
        b'{"timestamp":"yesterday","type":"event_msg","payload":{"type":"task_complete"}}',
        b'{"type":"event_msg","payload":{"type":"token_count","info":null}}',
        b'{"type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":[1]}}}',
        b'{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"UserMessage","content":7}}}',
        b'{"type":"event_msg","payload":["task_complete", {"type":"task_complete"}]}',
        b'{"type":"compacted' + b"[" * 5_000,
    ],
)
def test_lines_that_are_torn_or_that_nobody_foresaw_say_nothing(line: bytes) -> None:
    assert parse(line) == []


@pytest.mark.parametrize(
    ("info", "message", "kind"),
    [
        ("usage_limit_exceeded", "You have hit your usage limit.", "rate_limit"),
        ({"response_stream_disconnected": {"http_status_code": None}}, "stream disconnected", "other"),
        ("other", "unexpected status 401 Unauthorized: Incorrect API key provided.", "authentication"),
        ("other", '{"error": {"message": "too much", "code": "context_length_exceeded"}}', "too_long"),
        ("other", "unexpected status 429 Too Many Requests", "rate_limit"),
        ("other", "unexpected status 503 Service Unavailable", "overloaded"),
        ("bad_request", "no such model", "other"),
    ],
)
def test_errors_are_told_apart_by_name_or_else_by_their_words(info: object, message: str, kind: str) -> None:
    payload = {"type": "task_complete", "error": {"message": message, "codex_error_info": info}}
    line = {"timestamp": "2026-11-16T04:28:03.747Z", "type": "event_msg", "payload": payload}
    (event,) = parse(json.dumps(line).encode())
    assert isinstance(event, Failed)
    assert (event.kind, event.text) == (kind, message)
