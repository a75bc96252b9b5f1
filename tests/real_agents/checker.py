"""What must hold of every baton that was passed, whatever the test is about."""

import json
from itertools import pairwise

from batonpass.delivery import DeliveryState, tags_in
from batonpass.sim.model_wire import Kind
from batonpass.sim.scripted_model import Recorded, ScriptedModel
from batonpass.store import Author, CycleRecord
from tests.real_agents.baton import Baton


def assert_passed(baton: Baton, model: ScriptedModel, cycle: CycleRecord, *, receipt: bool = True) -> None:
    """The cycle ended well, in the right order, and its successor has the handoff and works."""
    wanted = "done" if receipt else "unverified"
    assert cycle.state == wanted, f"cycle {cycle.id} is {cycle.state}: {cycle.note}\n{baton.story()}"
    _sealed_before_the_pass(baton, cycle)
    first = _successors_requests(model, cycle)[0]
    _handoff_is_in(first, cycle)
    _each_prompt_arrived_once(baton, model, cycle)
    if receipt:
        assert [s.note for s in baton.store.steps(cycle.id) if s.step == "verify"][-1] == "receipt accepted"
        assert_works(model, cycle)
    assert_chain(baton)


def rescued(baton: Baton, model: ScriptedModel, told: str, *words: str) -> CycleRecord:
    """Continue a session that cannot write any more, given by these words; the cycle of its successor.

    The document is made from facts and has what its user told, the successor's first request has all of it, the
    receipt is accepted, and it works.
    """
    old = baton.session
    started = json.loads(baton.command("continue", "--json", "--from", *words))
    handoff = baton.store.handoffs(session=started["predecessor"])[-1]
    assert (str(handoff.path), handoff.source) == (started["document"], Author.FACTS)
    assert told in handoff.path.read_text(encoding="utf-8")
    baton.follow(started)
    assert baton.session != old
    cycle = baton.cycle()
    assert (cycle.state, cycle.way) == ("done", "start"), f"{cycle.note}\n{baton.story()}"
    assert [s.note for s in baton.store.steps(cycle.id) if s.step == "verify"][-1] == "receipt accepted"
    assert baton.status()["agent_session"] == cycle.new_agent_session
    _handoff_is_in(_successors_requests(model, cycle)[0], cycle)
    assert_works(model, cycle)
    assert_chain(baton)
    return cycle


def _sealed_before_the_pass(baton: Baton, cycle: CycleRecord) -> None:
    steps = baton.store.steps(cycle.id)
    sealed = [step for step in steps if step.step == "seal" and step.state == "ok"][-1]
    passed = [step for step in steps if step.step == "pass"][-1]
    assert sealed.ended is not None
    assert sealed.ended <= passed.started
    (began,) = [e.at for e in baton.events("SESSION_STARTED") if e.data["agent_session"] == cycle.new_agent_session]
    assert cycle.document is not None
    assert cycle.document.stat().st_mtime < began


def _successors_requests(model: ScriptedModel, cycle: CycleRecord) -> list[Recorded]:
    return [request for request in model.main_requests() if _is_successors(request, cycle)]


def _is_successors(request: Recorded, cycle: CycleRecord) -> bool:
    """By its session, or where requests name none, by the kick that its conversation began with."""
    if request.session is None:
        return f"[baton {cycle.id} kick " in next(iter(request.user_texts), "")
    return request.session == cycle.new_agent_session


def _handoff_is_in(request: Recorded, cycle: CycleRecord) -> None:
    assert cycle.document is not None
    lines = [line for line in cycle.document.read_text(encoding="utf-8").splitlines() if line.strip()]
    lost = [line for line in lines if line not in request.context]
    assert not lost, f"the successor's first request lacks {len(lost)} of {len(lines)} lines, such as {lost[0]!r}"
    assert lines[0].startswith("# ")
    assert any("(N1)" in line for line in lines)


def _each_prompt_arrived_once(baton: Baton, model: ScriptedModel, cycle: CycleRecord) -> None:
    given = {d.tag: d for d in baton.store.deliveries(cycle=cycle.id)}
    texts = model.user_texts()
    for tag, delivery in given.items():
        count = sum(1 for text in texts if tag in tags_in(text))
        expected = 0 if delivery.state is DeliveryState.WITHDRAWN else 1
        assert count == expected, f"{tag} ({delivery.state}) is {count} user messages"
    arrived = {tag for text in texts for tag in tags_in(text) if tag.split()[1] == cycle.id}
    assert arrived <= set(given), "a prompt arrived that was never given"


def assert_works(model: ScriptedModel, cycle: CycleRecord) -> None:
    """After the receipt the model is asked again, with the result of the tool that the successor called."""

    def went_on(request: Recorded) -> bool:
        said = [text for role, text in request.messages if role == "assistant"]
        ours = request.kind is Kind.MAIN and _is_successors(request, cycle)
        return ours and any("Step " in text for text in said)

    model.wait_for(went_on)


def assert_chain(baton: Baton) -> None:
    """Handoffs are numbered without a gap and each names the one before it."""
    handoffs = baton.store.handoffs(project=baton.project.resolve())
    assert handoffs
    assert [h.number for h in handoffs] == list(range(1, len(handoffs) + 1))
    assert handoffs[0].previous is None
    for before, after in pairwise(handoffs):
        assert after.previous is not None
        assert before.path.name in after.previous
