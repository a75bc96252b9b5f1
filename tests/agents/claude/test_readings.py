import json

import pytest

from batonpass.agents.claude import Claude
from tests.agents.claude.fixtures import VERSIONS, read

both = pytest.mark.parametrize("version", VERSIONS)


@both
@pytest.mark.parametrize(
    ("name", "used"),
    [
        ("01_before_first_message", None),
        ("02_after_first_response", 21_040),
        ("03_after_clear", None),
        ("04_after_auto_compact", 31_011),
        ("05_after_manual_compact_before_next_response", None),
        ("06_after_model_switch", 24_012),
        ("07_after_resume_before_first_message", 24_012),
    ],
)
def test_the_status_line_is_a_reading_and_unknown_is_not_zero(version: str, name: str, used: int | None) -> None:
    payload = read(version, "statusline", name)
    found = Claude().statusline(payload, 7.0, {})
    assert found is not None
    window, usable = {"2.1.197": (200_000, 167_000), "2.1.325": (1_000_000, 967_000)}[version]
    assert (found.used, found.window, found.usable) == (used, window, usable)
    assert (found.at, found.agent_session, found.confidence) == (7.0, payload["session_id"], 1.0)
    assert found.model == payload["model"]["id"]


@pytest.mark.parametrize("payload", [{}, {"session_id": "s"}, {"session_id": "s", "context_window": 7}])
def test_a_payload_without_figures_gives_no_reading(payload: dict[str, object]) -> None:
    assert Claude().statusline(payload, 0.0, {}) is None


def test_a_window_that_is_not_said_is_assumed_from_the_model() -> None:
    payload = {"session_id": "s", "context_window": {}, "model": {"id": "claude-opus-4-8[1m]"}}
    found = Claude().statusline(payload, 0.0, {})
    assert found is not None
    assert (found.used, found.window) == (None, 1_000_000)


@pytest.mark.parametrize(
    ("window", "env", "usable"),
    [
        (200_000, {}, 167_000),
        (1_000_000, {}, 967_000),
        (200_000, {"DISABLE_AUTO_COMPACT": "1"}, 177_000),
        (1_000_000, {"DISABLE_COMPACT": "true"}, 977_000),
        (200_000, {"DISABLE_AUTO_COMPACT": "0"}, 167_000),
        (1_000_000, {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "200000"}, 167_000),
        (200_000, {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "900000"}, 167_000),
        (200_000, {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "50000"}, 167_000),
        (200_000, {"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "50"}, 90_000),
        (200_000, {"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "99"}, 167_000),
        (200_000, {"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "none"}, 167_000),
        (200_000, {"CLAUDE_CODE_MAX_OUTPUT_TOKENS": "8000"}, 179_000),
        (10_000, {}, 0),
    ],
)
def test_the_usable_window_ends_where_the_program_compacts_or_refuses(
    window: int, env: dict[str, str], usable: int
) -> None:
    assert Claude().usable(window, env) == usable


@pytest.mark.parametrize(
    ("model", "env", "window"),
    [
        (None, {}, 200_000),
        ("claude-opus-4-8", {}, 200_000),
        ("claude-opus-4-8[1m]", {}, 1_000_000),
        ("claude-opus-5-5", {}, 1_000_000),
        ("claude-haiku-5-5", {}, 1_000_000),
        ("claude-opus-5-5", {"CLAUDE_CODE_DISABLE_1M_CONTEXT": "1"}, 200_000),
        ("local-model", {}, 200_000),
        ("local-model", {"CLAUDE_CODE_MAX_CONTEXT_TOKENS": "64000"}, 64_000),
        ("claude-opus-4-8", {"CLAUDE_CODE_MAX_CONTEXT_TOKENS": "64000"}, 200_000),
    ],
)
def test_the_window_to_assume(model: str | None, env: dict[str, str], window: int) -> None:
    assert Claude().window(model, env) == window


def test_what_the_hooks_print_is_what_the_program_expects() -> None:
    claude = Claude()
    assert json.loads(claude.render_ask("write")) == {"decision": "block", "reason": "write"}
    assert json.loads(claude.render_prime("part 1"))["hookSpecificOutput"] == {
        "hookEventName": "SessionStart",
        "additionalContext": "part 1",
    }
    assert json.loads(claude.render_note("remark"))["hookSpecificOutput"] == {
        "hookEventName": "UserPromptSubmit",
        "additionalContext": "remark",
    }
    assert json.loads(claude.render_permit())["hookSpecificOutput"] == {
        "hookEventName": "PermissionRequest",
        "decision": {"behavior": "allow"},
    }


@both
def test_the_path_of_a_permission_request_stands_where_it_is_said_to_stand(version: str) -> None:
    value: object = read(version, "hooks", "PermissionRequest.Write")
    for key in Claude.permit_path_at:
        assert isinstance(value, dict)
        value = value[key]
    assert value == "/home/dev/project/.claude/x.md"
    assert "Write" in Claude.permit_tools
