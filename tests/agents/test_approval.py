"""How much an agent may do is said when it takes over from another: neither flags nor settings widen it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from batonpass import agents
from batonpass.agents.base import Launch, LaunchOrder
from batonpass.agents.opencode.permissions import VARIABLE
from batonpass.agents.wishes import Approval

Start = Callable[..., Launch]
FREE = {
    "claude": ("--dangerously-skip-permissions",),
    "codex": ("-a", "never", "-c", 'sandbox_mode="danger-full-access"', "-c", "model_verbosity=low"),
    "gemini": ("--yolo",),
    "opencode": ("--auto", "--agent", "mine"),
}
CODEX_ASKS = ["--sandbox", "read-only", "--ask-for-approval", "on-request", "-c", 'approvals_reviewer="user"']
SAID = {
    ("claude", Approval.PLAN): ["--allow-dangerously-skip-permissions", "--permission-mode", "plan"],
    ("claude", Approval.ASK): ["--allow-dangerously-skip-permissions", "--permission-mode", "default"],
    ("claude", Approval.EDITS): ["--allow-dangerously-skip-permissions", "--permission-mode", "acceptEdits"],
    ("claude", Approval.ALL): ["--dangerously-skip-permissions"],
    ("codex", Approval.PLAN): ["-c", "model_verbosity=low", *CODEX_ASKS],
    ("codex", Approval.ASK): ["-c", "model_verbosity=low", *CODEX_ASKS],
    ("codex", Approval.EDITS): ["-c", "model_verbosity=low", "--sandbox", "workspace-write", *CODEX_ASKS[2:]],
    ("codex", Approval.ALL): ["-c", "model_verbosity=low", "--dangerously-bypass-approvals-and-sandbox"],
    ("gemini", Approval.PLAN): ["--approval-mode", "plan"],
    ("gemini", Approval.ASK): ["--approval-mode", "default"],
    ("gemini", Approval.EDITS): ["--approval-mode", "auto_edit"],
    ("gemini", Approval.ALL): ["--approval-mode", "yolo"],
    ("opencode", Approval.PLAN): ["--agent", "plan"],
    ("opencode", Approval.ASK): ["--agent", "mine"],
    ("opencode", Approval.EDITS): ["--agent", "mine"],
    ("opencode", Approval.ALL): ["--agent", "mine", "--auto"],
}


@pytest.fixture
def start(tmp_path: Path) -> Start:
    for name in ("bin", "home", "project", "session"):
        (tmp_path / name).mkdir()
    for agent in FREE:
        program = tmp_path / "bin" / agent
        program.write_text("#!/bin/sh\n", encoding="utf-8")
        program.chmod(0o755)

    def started(agent: str, *args: str, env: dict[str, str] | None = None, **changes: Any) -> Launch:
        order = LaunchOrder(
            session="s1", folder=tmp_path / "session", project=tmp_path / "project", args=args,
            env={"PATH": str(tmp_path / "bin"), "HOME": str(tmp_path / "home"), **(env or {})},
            draft_dir=tmp_path / "project" / "drafts", hook=("baton", "hook"), statusline=("baton", "statusline"),
            **changes,
        )  # fmt: skip
        return agents.get(agent).launch(order)

    return started


def _contains(argv: tuple[str, ...], words: list[str]) -> bool:
    return any(list(argv[n : n + len(words)]) == words for n in range(len(argv)))


@pytest.mark.parametrize(("agent", "approval"), SAID)
def test_an_approval_stands_in_place_of_what_the_arguments_say(agent: str, approval: Approval, start: Start) -> None:
    argv = start(agent, *FREE[agent], kick="go", approval=approval).argv
    assert _contains(argv, SAID[agent, approval]), argv
    if approval is not Approval.ALL:
        assert agents.get(agent).wishes(argv[1:], None, None).approval is not Approval.ALL
        assert not set(argv) & {"never", 'sandbox_mode="danger-full-access"', "--yolo", "--auto"}


@pytest.mark.parametrize("agent", FREE)
def test_without_an_approval_the_arguments_are_the_users(agent: str, start: Start) -> None:
    found = start(agent, *FREE[agent], kick="go")
    assert _contains(found.argv, list(FREE[agent]))
    assert VARIABLE not in found.env


def test_a_mode_that_the_user_switched_to_since_wins_over_what_it_was_started_with(start: Start) -> None:
    argv = start("claude", kick="go", approval=Approval.ASK, permission_mode="acceptEdits").argv
    assert _contains(argv, ["--permission-mode", "acceptEdits"])
    assert "default" not in argv


# -- opencode, which has no flag for it ----------------------------------------------------------------


def _rules(found: Launch) -> dict[str, list[tuple[str, str]]]:
    """For each tool its rules in their order, of which the last that fits counts."""
    return {name: list(rules.items()) for name, rules in json.loads(found.env[VARIABLE]).items()}


@pytest.mark.parametrize(
    ("approval", "asked"),
    [
        (Approval.ASK, {"edit*", "bash*", "webfetch*", "websearch*"}),
        (Approval.EDITS, {"bash*", "webfetch*", "websearch*"}),
        (Approval.PLAN, {"bash*", "webfetch*", "websearch*"}),
    ],
)
def test_opencode_is_told_by_its_environment_what_to_ask_about(
    start: Start, approval: Approval, asked: set[str]
) -> None:
    assert _rules(start("opencode", kick="go", approval=approval)) == {tool: [("*", "ask")] for tool in asked}
    assert VARIABLE not in start("opencode", kick="go", approval=Approval.ALL).env


def test_what_the_user_denied_or_wants_to_be_asked_about_in_opencode_stays(start: Start, tmp_path: Path) -> None:
    config = tmp_path / "home" / ".config" / "opencode" / "opencode.jsonc"
    config.parent.mkdir(parents=True)
    config.write_text(
        '{"permission": {"edit": "deny", // never\n "bash": {"git *": "allow", "git push *": "deny"},}}',
        encoding="utf-8",
    )
    (tmp_path / "project" / "opencode.json").write_text('{"tools": {"webfetch": false}}', encoding="utf-8")
    assert _rules(start("opencode", kick="go", approval=Approval.ASK)) == {
        "edit*": [("*", "deny")],
        "bash*": [("*", "ask"), ("git *", "ask"), ("git push *", "deny")],
        "webfetch*": [("*", "deny")],
        "websearch*": [("*", "ask")],
    }


@pytest.mark.parametrize(
    ("permission", "bash"),
    [
        ('"allow"', [("*", "ask")]),
        ('{"*": "deny", "bash": {"ls": "allow"}}', [("*", "deny"), ("ls", "ask")]),
        ('{"bash": {"ls": "allow"}, "*": "deny"}', [("ls", "ask"), ("*", "deny")]),
    ],
)
def test_rules_for_every_tool_count_for_opencodes_commands_in_their_order(
    start: Start, permission: str, bash: list[tuple[str, str]]
) -> None:
    theirs = {"OPENCODE_CONFIG_CONTENT": f'{{"permission": {permission}}}'}
    assert _rules(start("opencode", kick="go", approval=Approval.ASK, env=theirs))["bash*"] == bash


def test_what_the_users_own_variable_says_to_opencode_is_kept(start: Start) -> None:
    found = start("opencode", kick="go", approval=Approval.ASK, env={VARIABLE: '{"mcp_x": "deny", "bash": "deny"}'})
    rules = json.loads(found.env[VARIABLE])
    assert (rules["mcp_x"], rules["bash"], rules["bash*"]) == ("deny", "deny", {"*": "deny"})


def test_edits_that_the_user_allows_in_opencode_are_asked_about_while_it_plans(start: Start) -> None:
    free = {"OPENCODE_CONFIG_CONTENT": '{"permission": {"edit": "allow"}}'}
    assert _rules(start("opencode", kick="go", approval=Approval.PLAN, env=free))["edit*"] == [("*", "ask")]


@pytest.mark.parametrize("chosen", [("--approve-for-me",), ("-c", "approvals_reviewer=auto_review"), ()])
@pytest.mark.parametrize("approval", Approval)
def test_a_model_that_reviews_for_codex_stays_within_the_workspace_and_nowhere_else(
    chosen: tuple[str, ...], approval: Approval, start: Start
) -> None:
    argv = start("codex", *chosen, resume="01a1ec7e-b471-7250-8821-b698320294cc", approval=approval).argv
    reviewer = [word.partition("=")[2] for word in argv if word.startswith("approvals_reviewer")]
    if approval is Approval.ALL:
        assert not reviewer
    else:
        assert reviewer == ['"auto_review"' if chosen and approval is Approval.EDITS else '"user"']
    assert "--approve-for-me" not in argv  # Codex takes it beside no other approval


@pytest.mark.parametrize("chosen", [("--approve-for-me",), ("-c", "approvals_reviewer=auto_review")])
@pytest.mark.parametrize("way", [{"kick": "go"}, {"resume": "01a1ec7e-b471-7250-8821-b698320294cc"}])
def test_who_reviews_for_codex_is_kept_when_it_is_started_again(
    chosen: tuple[str, ...], way: dict[str, str], start: Start
) -> None:
    assert _contains(start("codex", *chosen, **way).argv, list(chosen))
