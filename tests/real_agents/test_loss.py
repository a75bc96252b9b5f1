"""An agent that does not write, or is gone: the handoff comes from what was recorded."""

import os
import signal
from pathlib import Path

import pytest

from batonpass.sim.anthropic import AnthropicModel
from batonpass.sim.worker import Worker, WorkerSettings
from batonpass.store import Author
from tests.real_agents.baton import Baton
from tests.real_agents.checker import assert_passed
from tests.real_agents.harness import Gate

pytestmark = pytest.mark.long_on("2.1.197")


def test_an_agent_that_writes_nothing_is_followed_from_what_was_recorded(
    baton: Baton, model: AnthropicModel, project: Path
) -> None:
    (project / "notes.txt").write_text("not committed\n", encoding="utf-8")
    model.brain = Worker(WorkerSettings(faults=frozenset({"silent"}), command="echo chore {n} of the day"))
    baton.run(prompt="please begin, and keep the public names")
    baton.rest()
    baton.say("and mind the tabs")
    model.wait_for(lambda request: request.text == "and mind the tabs")
    baton.rest()
    baton.command("handoff", "--no-wait")
    cycle = baton.cycle()
    assert_passed(baton, model, cycle)
    (handoff,) = baton.store.handoffs(session=baton.session)
    assert handoff.source is Author.FACTS
    text = handoff.path.read_text(encoding="utf-8")
    for fact in ("please begin, and keep the public names", "and mind the tabs", "notes.txt", "main",
                 "echo chore 1 of the day", "echo chore 2 of the day"):  # fmt: skip
        assert fact in text


def test_an_agent_killed_while_it_writes_is_started_again_in_its_pane_from_what_was_recorded(
    baton: Baton, model: AnthropicModel
) -> None:
    gate = Gate(model, match="ask 1")
    baton.run(prompt="please begin, and keep the public names")
    before = baton.rest()
    baton.command("handoff", "--no-wait")
    baton.step("await")
    assert gate.reached.wait(60)  # the request is with the model, and not only in the agent's record
    os.kill(before["pid"], signal.SIGKILL)
    cycle = baton.cycle()
    gate.open()
    assert cycle.way == "respawn"
    assert_passed(baton, model, cycle)
    after = baton.rest()
    assert after["pane"] == before["pane"]
    assert after["pid"] != before["pid"]
    assert cycle.document is not None
    assert "please begin, and keep the public names" in cycle.document.read_text(encoding="utf-8")
