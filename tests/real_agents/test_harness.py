"""The real Claude Code accepts the scripted model, with no dialog and nobody there."""

import json
import shlex
from pathlib import Path

import pytest

from batonpass.sim.anthropic import AnthropicModel
from batonpass.sim.brain import Reply
from batonpass.sim.model_wire import Kind
from batonpass.sim.worker import Worker, WorkerSettings
from tests.real_agents.harness import Bell, PrivateTmux

CYCLE = "7f3a91c2"

HANDOFF = """**Branch**: main

## Current Task
Make it survive.

## Files Modified
- README.md (changed)

## Next Steps
1. (N1) Run the tests

## Important Context
- (C1) Names stay
"""


def test_a_prompt_on_the_command_line_is_answered_with_no_dialog(
    claude_cli: Path,
    model: AnthropicModel,
    claude_home: dict[str, str],
    project: Path,
    tmux: PrivateTmux,
    bell: Bell,
) -> None:
    model.script(Reply("Good morning.", used=33_000))
    argv = [str(claude_cli), "--settings", bell.settings(), "--", 'say "good morning"']
    tmux.open(argv, project, claude_home)
    request = model.wait_for(lambda request: request.kind is Kind.MAIN)
    bell.wait("stop")
    assert request.user_texts == ['say "good morning"']
    assert model.user_texts() == ['say "good morning"']
    (state,) = (Path(claude_home["CLAUDE_CONFIG_DIR"]) / "sessions").glob("*.json")
    assert json.loads(state.read_text(encoding="utf-8"))["sessionId"] == request.session


def test_a_tool_call_of_the_worker_is_run_and_its_result_comes_back(
    claude_cli: Path,
    model: AnthropicModel,
    claude_home: dict[str, str],
    project: Path,
    tmux: PrivateTmux,
    bell: Bell,
) -> None:
    model.brain = Worker(WorkerSettings(steps=2, command="echo made >> step-{n}.txt"))
    argv = [str(claude_cli), "--settings", bell.settings(), "--allowedTools=Bash", "--", "work"]
    tmux.open(argv, project, claude_home)
    bell.wait("stop")
    assert sorted(path.name for path in project.glob("step-*")) == ["step-1.txt", "step-2.txt"]
    assert model.user_texts() == ["work"]
    assert len(model.main_requests()) == 3


@pytest.mark.long_on("2.1.197")
def test_an_ask_makes_the_worker_write_the_document_where_it_was_told(
    claude_cli: Path,
    model: AnthropicModel,
    claude_home: dict[str, str],
    project: Path,
    tmux: PrivateTmux,
    bell: Bell,
) -> None:
    draft = project / ".bmad" / "handoffs" / "draft.md"
    ask = f"[baton {CYCLE} ask 1] Hand over.\nWrite it to: {draft}\nChanged files:\n- README.md\n"
    argv = [str(claude_cli), "--settings", bell.settings(), "--permission-mode", "acceptEdits", "--", ask]
    tmux.open(argv, project, claude_home)
    bell.wait("stop")
    document = draft.read_text(encoding="utf-8")
    assert "## Current Task\n" in document
    assert "- README.md (changed" in document


@pytest.mark.long_on("2.1.197")
def test_a_kick_is_answered_with_a_receipt_from_the_context_of_a_session_start_hook(
    claude_cli: Path,
    model: AnthropicModel,
    claude_home: dict[str, str],
    project: Path,
    tmux: PrivateTmux,
    bell: Bell,
    tmp_path: Path,
) -> None:
    (tmp_path / "handoff.md").write_text(HANDOFF, encoding="utf-8")
    prime = {"type": "command", "command": f"cat {shlex.quote(str(tmp_path / 'handoff.md'))}"}
    settings = bell.settings(SessionStart=[{"hooks": [prime]}])
    argv = [str(claude_cli), "--settings", settings, "--", f"[baton {CYCLE} kick 1] You take over."]
    tmux.open(argv, project, claude_home)
    bell.wait("stop")
    answer = next(text for role, text in model.main_requests()[-1].messages if role == "assistant")
    receipt = json.loads(answer.split("```")[1].removeprefix("json"))
    assert receipt == {
        "baton_receipt": CYCLE,
        "task": "Make it survive.",
        "next_step": "N1",
        "branch": "main",
        "files": ["README.md"],
        "constraints": ["C1"],
        "open_items": ["N1"],
    }
    assert "Continuing with Run the tests" in answer


@pytest.mark.newest
@pytest.mark.long_on("2.1.325")
@pytest.mark.parametrize("error", ["overloaded", "rate_limit", "cut_before", "cut_mid"])
def test_a_failing_model_is_asked_again_and_the_prompt_stays_one_message(
    claude_cli: Path,
    model: AnthropicModel,
    claude_home: dict[str, str],
    project: Path,
    tmux: PrivateTmux,
    bell: Bell,
    error: str,
) -> None:
    model.script(Reply("torn words", error=error))
    tmux.open([str(claude_cli), "--settings", bell.settings(), "--", "hello"], project, claude_home)
    bell.wait("stop", timeout=60)
    assert model.user_texts() == ["hello"]
    assert len(model.main_requests()) > 2
