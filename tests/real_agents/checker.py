"""What must hold of every baton that was passed, whatever the test is about."""

import json
import re
from itertools import pairwise

from batonpass.cycle.moves import WORKED_ON
from batonpass.delivery import Channel, DeliveryState, tags_in
from batonpass.handoff.seal import checksum_ok
from batonpass.sim.model_wire import Kind
from batonpass.sim.scripted_model import Recorded, ScriptedModel
from batonpass.store import Author, CycleRecord
from tests.real_agents.baton import Baton

_INTERRUPTED = r"\[Request interrupted by user[^\]]*\]"  # what the agent itself puts before the next prompt


def assert_passed(
    baton: Baton, model: ScriptedModel, cycle: CycleRecord, *, receipt: bool = True, worked_on: bool = False
) -> None:
    """The cycle ended well, in the right order, and its successor has the handoff and works.

    `worked_on`: its agent did something after the seal. Nobody else is taken for one who did.
    """
    wanted = "done" if receipt else "unverified"
    assert cycle.state == wanted, f"cycle {cycle.id} is {cycle.state}: {cycle.note}\n{baton.story()}"
    assert (WORKED_ON in {step.state for step in baton.store.steps(cycle.id)}) == worked_on, baton.story()
    first = _successors_requests(model, cycle)[0]
    _sealed_before_the_pass(baton, cycle, first)
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


def _sealed_before_the_pass(baton: Baton, cycle: CycleRecord, first: Recorded) -> None:
    steps = baton.store.steps(cycle.id)
    sealed = [step.ended for step in steps if step.step == "seal" and step.state == "ok" and step.ended]
    passed = [step.started for step in steps if step.step == "pass"]
    assert sealed
    assert all(any(end <= start for end in sealed) for start in passed)
    (began,) = [e.at for e in baton.events("SESSION_STARTED") if e.data["agent_session"] == cycle.new_agent_session]
    assert cycle.document is not None
    assert checksum_ok(cycle.document.read_text(encoding="utf-8")) is True
    written = cycle.document.stat()
    assert written.st_mtime < began
    assert written.st_ctime < first.at, "by the disk's own date of its name, before the successor was heard of"


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
        found = [text for text in texts if tag in tags_in(text)]
        expected = 0 if delivery.state is DeliveryState.WITHDRAWN else 1
        assert len(found) == expected, f"{tag} ({delivery.state}) is {len(found)} user messages"
        for text in found:
            assert text.count(tag) == delivery.text.count(tag), f"{tag} stands in one message more than once"
            if delivery.channel is Channel.KEYS:
                alone = re.sub(_INTERRUPTED, "", text).split() == delivery.text.split()
                assert alone, f"{tag} was sent with something else in the box: {text}"
    arrived = {tag for text in texts for tag in tags_in(text) if tag.split()[1] == cycle.id}
    assert arrived <= set(given), "a prompt arrived that was never given"


def assert_works(model: ScriptedModel, cycle: CycleRecord) -> None:
    """After the receipt the model is asked again, with the result of the tool that the successor called.

    It is the kick that it works from: nobody has prompted it since.
    """

    def went_on(request: Recorded) -> bool:
        said = [text for role, text in request.messages if role == "assistant"]
        ours = request.kind is Kind.MAIN and _is_successors(request, cycle)
        by_itself = f"[baton {cycle.id} kick " in request.text
        return ours and by_itself and any("Step " in text for text in said)

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
