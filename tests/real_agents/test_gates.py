"""A user's own stop hook that sends the agent back to work: what it does then is not lost."""

import json
from pathlib import Path

import pytest

from batonpass.sim.anthropic import AnthropicModel
from batonpass.sim.brain import Asked, Reply, ToolUse
from tests.real_agents.baton import Baton
from tests.real_agents.checker import assert_passed

_GATE = """#!/bin/sh
grep -q '"stop_hook_active":true' && exit 0
echo 'Run the linter before you stop.' >&2
exit 2
"""
# But for the first time it is done only when the handoff is sealed.
_LINT = """n=$(ls lint-* 2>/dev/null | wc -l)
for look in $(seq 1200); do
  [ "$n" = 0 ] || ls .bmad/handoffs/handoff-* >/dev/null 2>&1 && break
  sleep 0.05
done
echo linted > lint-$n.log"""


def _lints(asked: Asked) -> Reply:
    if asked.tool_results:
        return Reply("The linter has nothing to say.")
    return Reply("I run it.", tools=(ToolUse("Bash", {"command": _LINT, "description": "Run the linter"}),))


@pytest.mark.long_on("2.1.197")
def test_what_the_agent_does_at_a_gate_of_the_users_after_it_wrote_is_in_the_handoff(
    baton: Baton, model: AnthropicModel, project: Path
) -> None:
    gate = project / ".claude" / "gate.sh"
    gate.parent.mkdir()
    gate.write_text(_GATE, encoding="utf-8")
    gate.chmod(0o755)
    hooks = {"Stop": [{"hooks": [{"type": "command", "command": str(gate)}]}]}
    (project / ".claude" / "settings.json").write_text(json.dumps({"hooks": hooks}), encoding="utf-8")
    model.script(_lints, match="Run the linter", times=100)
    baton.run(prompt="please begin")
    baton.rest()
    baton.command("handoff", "--no-wait")
    cycle = baton.cycle()
    assert_passed(baton, model, cycle, worked_on=True)
    assert cycle.document is not None
    sealed = cycle.document.read_text(encoding="utf-8")
    assert "- lint-1.log (untracked; recorded by Baton)" in sealed
    assert "The linter has nothing to say." in sealed
    assert "no result yet" not in sealed
