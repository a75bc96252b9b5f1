"""A real session that cannot write its handoff any more: what its transcript and its project hold goes on."""

import os
import signal
from pathlib import Path

import pytest

from batonpass.sim.anthropic import AnthropicModel
from batonpass.sim.worker import Worker, WorkerSettings
from tests.real_agents.baton import Baton
from tests.real_agents.checker import rescued

pytestmark = pytest.mark.long

TOLD = "never touch the ledger table"
TASK = f"please begin, and {TOLD}"


def test_a_session_that_was_killed_is_continued_from_its_transcript(baton: Baton, model: AnthropicModel) -> None:
    baton.run(prompt=TASK)
    before = baton.rest()
    os.kill(before["pid"], signal.SIGKILL)
    baton.wait_for(lambda status: status["state"] == "dead")
    rescued(baton, model, TOLD, baton.session)
    after = baton.rest()
    assert after["pane"] != before["pane"]
    assert after["model"] == before["model"], "the same arguments, so the same model"


@pytest.mark.newest
def test_a_session_that_is_stuck_at_its_limit_is_continued_from_its_transcript(
    baton: Baton, model: AnthropicModel
) -> None:
    baton.env["DISABLE_COMPACT"] = "1"  # it would shorten its context, and Baton would hand that off by itself
    baton.run(prompt=TASK)
    before = baton.rest()
    model.brain = Worker(WorkerSettings(window=1))  # from now on every prompt is too long
    baton.say("and mind the tabs")
    baton.until(lambda: "/clear" in (shown := baton.screen()) or "too long" in shown, "the refusal on the screen")
    baton.wait_for(lambda status: status["state"] == "idle" and not status["cycle"])
    model.brain = Worker()
    cycle = rescued(baton, model, TOLD, before["name"])
    assert cycle.document is not None
    assert "and mind the tabs" in cycle.document.read_text(encoding="utf-8")
    os.kill(before["pid"], 0)  # the old process was not touched


@pytest.mark.newest
def test_a_conversation_that_baton_never_watched_is_continued_by_its_id(
    baton: Baton, model: AnthropicModel, project: Path
) -> None:
    baton.run(prompt=TASK)
    before = baton.rest()
    os.kill(before["pid"], signal.SIGKILL)
    baton.wait_for(lambda status: status["state"] == "dead")
    conversation = str(before["agent_session"])
    with baton.store._db.write() as connection:  # as if it had been somebody else's
        connection.exec_driver_sql("delete from sessions")
    baton.command("daemon", "stop")
    rescued(baton, model, TOLD, conversation, "--agent", "claude", "--", "--model", "claude-sonnet-4-6",
            "--permission-mode", "acceptEdits", "--allowedTools=Bash")  # fmt: skip


def test_what_init_adds_is_in_the_first_request_of_a_session_without_hooks(
    baton: Baton, model: AnthropicModel, project: Path
) -> None:
    (project / "CLAUDE.md").write_bytes(b"Use tabs.")
    baton.command("init")
    baton.run(prompt="please begin")
    baton.rest()
    first = model.main_requests()[0]
    assert "Use tabs." in first.context
    assert ".bmad/handoffs/HANDOFF_PENDING.md" in first.context
    baton.command("uninstall")
    assert (project / "CLAUDE.md").read_bytes() == b"Use tabs."
