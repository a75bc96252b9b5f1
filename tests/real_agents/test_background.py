"""Work that the agent has started in the background."""

import os
from pathlib import Path

import pytest

from batonpass.sim.anthropic import AnthropicModel
from batonpass.sim.brain import Reply, ToolUse
from tests.real_agents.baton import Baton
from tests.real_agents.checker import assert_passed
from tests.real_agents.users import user_settings

pytestmark = pytest.mark.long_on("2.1.197")


def test_a_background_shell_survives_the_clear_and_its_end_is_not_taken_for_the_receipt(
    baton: Baton, model: AnthropicModel, project: Path, claude_home: dict[str, str]
) -> None:
    gate = project / "gate"
    os.mkfifo(gate)
    # The shell ends as soon as the new conversation begins, so that its news come before Baton's kick.
    user_settings(claude_home, SessionStart=[{"matcher": "clear", "hooks": [_command(f"echo go > '{gate}'")]}])
    shell = {"command": "cat gate", "run_in_background": True, "description": "Long measurement"}
    model.script(Reply("I start it.", (ToolUse("Bash", shell),)), match="please begin")
    model.script(Reply("It runs."), match="please begin")
    model.script(Reply("The measurement is over."), match="<task-notification>")
    baton.run(prompt="please begin")
    (task,) = baton.wait_for(lambda status: status["background"])["background"]
    assert "cat gate" in task["description"]
    baton.command("handoff", "--no-wait")
    cycle = baton.cycle()
    assert_passed(baton, model, cycle)
    assert cycle.document is not None
    assert "cat gate" in cycle.document.read_text(encoding="utf-8")
    news = model.wait_for(lambda request: "<task-notification>" in request.context)
    assert news.session == cycle.new_agent_session
    assert task["id"] in news.context


def _command(command: str) -> dict[str, str]:
    return {"type": "command", "command": command}
