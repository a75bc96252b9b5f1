from pathlib import Path

import pytest

from batonpass.agents.base import BackgroundTask, HookKind, HookReport
from batonpass.agents.claude import Claude
from tests.agents.claude.fixtures import FOLDER, VERSIONS, read

both = pytest.mark.parametrize("version", VERSIONS)


def report(version: str, name: str) -> HookReport:
    found = Claude().report(read(version, "hooks", name))
    assert found is not None
    return found


KINDS = {
    "SessionStart": HookKind.SESSION_START,
    "SessionEnd": HookKind.SESSION_END,
    "UserPromptSubmit": HookKind.PROMPT,
    "Stop": HookKind.STOP,
    "StopFailure": HookKind.STOP_FAILED,
    "PostToolUse": HookKind.TOOL,
    "PostToolUseFailure": HookKind.TOOL,
    "PermissionRequest": HookKind.PERMISSION,
    "PreCompact": HookKind.COMPACT,
    "PostCompact": HookKind.COMPACT,
    "Notification": HookKind.NOTIFICATION,
    "SubagentStart": HookKind.SUBAGENT_START,
    "SubagentStop": HookKind.SUBAGENT_STOP,
}
FOREIGN = {"SubagentStart", "SubagentStop.internal_fork", "SubagentStop.subagent", "SessionStart.fork"}


@pytest.mark.parametrize(
    "path", sorted(FOLDER.glob("*/hooks/*.json")), ids=lambda path: f"{path.parts[-3]}-{path.stem}"
)
def test_every_payload_is_of_its_kind_and_only_those_of_others_are_foreign(path: Path) -> None:
    found = report(path.parts[-3], path.stem)
    assert found.kind is KINDS.get(path.stem.partition(".")[0], HookKind.OTHER)
    assert found.foreign is (path.stem in FOREIGN)
    assert found.transcript is not None
    assert found.transcript.stem == found.agent_session


@both
@pytest.mark.parametrize("source", ["startup", "resume", "clear", "compact"])
def test_a_session_start_tells_its_source(version: str, source: str) -> None:
    assert report(version, f"SessionStart.{source}").source == source


@both
def test_a_session_start_tells_the_model(version: str) -> None:
    assert report(version, "SessionStart.startup").model in ("claude-opus-4-8", "claude-opus-5-5")


@both
@pytest.mark.parametrize("reason", ["clear", "other", "prompt_input_exit"])
def test_a_session_end_tells_its_reason(version: str, reason: str) -> None:
    assert report(version, f"SessionEnd.{reason}").source == reason


@both
def test_a_stop_tells_the_last_message_and_whether_a_hook_had_asked(version: str) -> None:
    first, active = report(version, "Stop.first"), report(version, "Stop.active")
    assert (first.last_message, first.continued) == ("It parses the arguments.", False)
    assert (active.last_message, active.continued) == ("Handoff written.", True)
    assert first.background == ()
    assert first.permission_mode == "acceptEdits"
    assert first.prompt_id == report(version, "UserPromptSubmit").prompt_id


@pytest.mark.parametrize(
    ("version", "task"),
    [
        ("2.1.197", BackgroundTask("b38r4c9ao", "shell", "running", "wait: sleep 4; echo done")),
        ("2.1.325", BackgroundTask("a34b9586fe8be0856", "subagent", "running", "look around: general-purpose")),
    ],
)
def test_a_stop_tells_the_work_in_the_background(version: str, task: BackgroundTask) -> None:
    assert report(version, "Stop.with_background_task").background == (task,)


def test_a_schedule_counts_as_background_work() -> None:
    payload = read("2.1.325", "hooks", "Stop.first") | {"session_crons": [{"id": "c1", "cron": "*/5 * * * *"}]}
    found = Claude().report(payload)
    assert found is not None
    assert found.background == (BackgroundTask("c1", "cron", "scheduled", "*/5 * * * *"),)


@both
@pytest.mark.parametrize("error", ["rate_limit", "server_error", "authentication_failed", "invalid_request"])
def test_a_failed_stop_tells_the_error(version: str, error: str) -> None:
    assert report(version, f"StopFailure.{error}").error == error


@both
def test_tools_and_permission_requests_tell_the_tool(version: str) -> None:
    assert report(version, "PostToolUse.Bash").tool == "Bash"
    assert report(version, "PermissionRequest.Write").tool == "Write"


@both
def test_compactions_and_notifications_tell_what_they_are_about(version: str) -> None:
    assert report(version, "PreCompact.auto").source == "auto"
    assert report(version, "Notification.permission_prompt").source == "permission_prompt"


@pytest.mark.parametrize(
    ("prompt", "wanted"),
    [
        ("/handoff", ""),
        ("/handoff before lunch", "before lunch"),
        ("/handoff\nbefore\nlunch", "before\nlunch"),
        ("/baton:handoff now", "now"),
        ("/handoffs", None),
        ("/handoff-now", None),
        ("please /handoff", None),
        ("What does main.py do?", None),
    ],
)
def test_a_typed_handoff_command_is_a_request_with_its_arguments(prompt: str, wanted: str | None) -> None:
    payload = read("2.1.325", "hooks", "UserPromptSubmit") | {"prompt": prompt}
    found = Claude().report(payload)
    assert found is not None
    assert (found.prompt, found.handoff_requested) == (prompt, wanted)


@pytest.mark.parametrize("payload", [{}, {"session_id": 7}, {"hook_event_name": "Stop"}, {"session_id": "s"}])
def test_a_payload_of_something_else_says_nothing(payload: dict[str, object]) -> None:
    assert Claude().report(payload) is None
