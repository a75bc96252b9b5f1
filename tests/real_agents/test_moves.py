"""A person clears or resumes in the real agent while the baton is being passed; the agent is killed or stopped."""

import os
import re
import signal

import pytest

from batonpass.sim.anthropic import AnthropicModel
from batonpass.sim.brain import Reply, ToolUse
from tests.real_agents.baton import Baton
from tests.real_agents.checker import assert_passed
from tests.real_agents.harness import Gate

pytestmark = pytest.mark.long_on("2.1.197")

LONG = pytest.mark.long
_AT_WORK = re.compile(r"^\S [A-Z][\w-]+…", re.MULTILINE)  # its word for what it does, beside a star that turns


@LONG
def test_a_clear_while_the_agent_writes_leaves_the_new_conversation_alone(baton: Baton, model: AnthropicModel) -> None:
    look = ToolUse("Read", {"file_path": str(baton.project / "reader.py")})
    model.script(Reply("I look at the work first.", (look,)), match="ask 1")
    gate = Gate(model, match="ask 1")  # its second request: a turn that has said nothing gives the box its prompt back
    before = baton.run(prompt="please begin, and keep the public names")
    baton.rest()
    baton.command("handoff", "--no-wait")
    assert gate.reached.wait(30)
    baton.step("await")
    baton.until(lambda: _AT_WORK.search(baton.screen()), "the turn on its screen")  # sooner, Escape may not be heard
    baton.press("Escape")
    baton.until(lambda: "Interrupted" in baton.screen(), "its end there")
    baton.wait_for(lambda status: status["state"] == "idle")
    baton.say("/clear")
    mine = baton.wait_for(lambda status: status["agent_session"] != before["agent_session"])["agent_session"]
    gate.open()
    cycle = baton.cycle()
    assert (cycle.state, cycle.new_agent_session) == ("pending", None), baton.story()
    assert cycle.document is not None
    assert "please begin, and keep the public names" in cycle.document.read_text(encoding="utf-8")
    assert baton.status()["agent_session"] == mine
    assert not [request for request in model.main_requests() if request.session == mine]
    assert any(f"baton continue {cycle.document}" in text for text in baton.told())


@LONG
def test_an_agent_that_stood_still_while_it_wrote_passes_the_baton(baton: Baton, model: AnthropicModel) -> None:
    gate = Gate(model, match="ask 1")
    pid = baton.run(prompt="please begin")["pid"]
    baton.rest()
    baton.command("handoff", "--no-wait")
    assert gate.reached.wait(30)
    baton.step("await")
    terminal = baton.terminal_pid()  # it would wake up what runs in its panes
    for one in (terminal, pid):
        os.kill(one, signal.SIGSTOP)
    gate.open()
    assert baton.status()["cycle"]["step"] == "await"
    for one in (pid, terminal):
        os.kill(one, signal.SIGCONT)
    assert_passed(baton, model, baton.cycle())


@LONG
def test_a_successor_killed_before_its_receipt_is_replaced_in_its_pane(baton: Baton, model: AnthropicModel) -> None:
    gate = Gate(model, match="kick 1")
    before = baton.run(prompt="please begin")
    baton.rest()
    baton.command("handoff", "--no-wait")
    assert gate.reached.wait(60)
    os.kill(before["pid"], signal.SIGKILL)
    gate.open()
    cycle = baton.cycle()
    assert_passed(baton, model, cycle)
    after = baton.rest()
    assert (cycle.way, after["pane"], after["agent_session"]) == ("respawn", before["pane"], cycle.new_agent_session)
