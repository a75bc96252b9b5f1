"""The model fails in the turn that writes the handoff."""

from collections import Counter
from pathlib import Path

import pytest

from batonpass.agents import get
from batonpass.delivery import tags_in
from batonpass.sim.anthropic import AnthropicModel
from batonpass.sim.brain import Reply
from batonpass.store import Author
from batonpass.transcripts.events import Prompted
from batonpass.transcripts.whole import all_events
from tests.real_agents.baton import Baton
from tests.real_agents.checker import assert_passed

pytestmark = pytest.mark.long_on("2.1.197")

LONG = pytest.mark.long
IMPATIENT = {"CLAUDE_CODE_MAX_RETRIES": "1"}  # it would try for minutes before its turn ends with the error


@pytest.mark.parametrize(
    "error",
    [
        "overloaded",
        *(pytest.param(error, marks=(LONG, pytest.mark.newest)) for error in ("rate_limit", "cut_before", "cut_mid")),
    ],
)
def test_a_model_that_fails_for_a_moment_is_asked_again_by_the_agent_and_the_document_is_its_own(
    baton: Baton, model: AnthropicModel, error: str
) -> None:
    baton.run(prompt="please begin")
    baton.rest()
    model.script(Reply("torn words", error=error), match="ask 1")
    baton.command("handoff", "--no-wait")
    cycle = baton.cycle()
    assert_passed(baton, model, cycle)
    (handoff,) = baton.store.handoffs(session=baton.session)
    assert handoff.source is Author.AGENT


@LONG
def test_a_turn_that_ends_with_an_error_is_asked_for_once_more(
    baton: Baton, model: AnthropicModel, claude_home: dict[str, str]
) -> None:
    baton.env |= IMPATIENT
    baton.run(prompt="please begin")
    baton.rest()
    model.script(Reply(error="authentication"), match="ask 1", times=2)  # the turn's two tries
    baton.command("handoff", "--no-wait")
    cycle = baton.cycle()
    assert cycle.state == "done", baton.story()
    states = [step.state for step in baton.store.steps(cycle.id) if step.step == "await"]
    assert states == ["no_document", "ok"]
    (handoff,) = baton.store.handoffs(session=baton.session)
    assert handoff.source is Author.AGENT
    assert _arrived(claude_home) == {f"[baton {cycle.id} {what}]": 1 for what in ("ask 1", "ask 2", "kick 1")}


@LONG
def test_where_no_turn_of_the_handoff_succeeds_what_was_recorded_is_passed(
    baton: Baton, model: AnthropicModel, claude_home: dict[str, str]
) -> None:
    baton.env |= IMPATIENT
    baton.run(prompt="please begin, and keep the public names")
    baton.rest()
    model.script(Reply(error="authentication"), match=r"ask \d", times=1000)
    baton.command("handoff", "--no-wait")
    cycle = baton.cycle()
    assert cycle.state == "done", baton.story()
    (handoff,) = baton.store.handoffs(session=baton.session)
    assert handoff.source is Author.FACTS
    assert "please begin, and keep the public names" in handoff.path.read_text(encoding="utf-8")
    assert _arrived(claude_home) == {f"[baton {cycle.id} {what}]": 1 for what in ("ask 1", "ask 2", "kick 1")}


def _arrived(claude_home: dict[str, str]) -> Counter[str]:
    """How often the agent's own records have each of Baton's prompts. The model sees two unanswered ones as one."""
    parse = get("claude").reader()
    found: Counter[str] = Counter()
    for path in Path(claude_home["CLAUDE_CONFIG_DIR"]).glob("projects/*/*.jsonl"):
        found.update(t for e in all_events(path, parse) if isinstance(e, Prompted) for t in tags_in(e.text)[:1])
    return found
