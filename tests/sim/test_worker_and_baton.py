"""The worker and Baton's own prompts, document and receipt: what one writes the other must accept."""

from pathlib import Path
from typing import Any

import pytest

from batonpass.cycle import receipt
from batonpass.delivery import tag
from batonpass.facts.model import Change, Facts, GitFacts, Utterance
from batonpass.handoff import prime, prompts
from batonpass.handoff.check import check
from batonpass.handoff.draft import Meta, merge
from batonpass.handoff.markdown import NotAHandoff, parse
from batonpass.handoff.seal import Sealed, seal
from batonpass.sim.brain import Asked
from batonpass.sim.worker import Worker, WorkerSettings

CYCLE = "7f3a91c2"
DRAFT = Path("/p/.bmad/handoffs/.draft/x.md")
FINAL = Path("/p/.bmad/handoffs/handoff.md")
FILES = ("src/a.py", "docs/my notes.md")
GIT = GitFacts(branch="feature/torn", head="0" * 40, changes=tuple(Change(path, "modified") for path in FILES))
# A prompt that quotes another handoff must not be taken for this one.
QUOTE = "Old one said:\n## Current Task\nSomething else.\n## Important Context\n- (C7) Old constraint"
FACTS = Facts(1.0, Path("/p"), "claude", None, None, GIT, prompts=(Utterance(1.0, QUOTE),))
META = Meta(1, None, 1.0, "s1", "claude", None, "p", "threshold")


def ask(worker: Worker, context: str, cycle: str = CYCLE) -> str:
    """The document that the worker writes when it is asked in Baton's words."""
    text = prompts.ask(tag(cycle, "ask", 1), DRAFT, percent=86.0, changed=FILES)
    (write,) = worker.reply(Asked(text, context + text, (), 2, 150_000)).tools
    assert write.arguments["path"] == str(DRAFT)
    return str(write.arguments["content"])


def sealed(document: str) -> Sealed:
    handoff = parse(document)
    return seal(merge(handoff, FACTS, check(handoff, FACTS, is_own=lambda path: False), META))


def primed(text: str) -> str:
    """The context of a successor; the parts arrive in the order in which their hooks were done."""
    parts = prime.parts(text, FINAL, 900, 20)
    assert len(parts) > 2
    return "\n".join(f"SessionStart hook additional context: {part}" for part in reversed(parts))


def take_over(worker: Worker, handoff: Sealed) -> tuple[str, ...]:
    """What is wrong with the worker's receipt."""
    kick = prompts.kick(tag(CYCLE, "kick", 1), CYCLE, FINAL)
    answer = worker.reply(Asked(kick, f"{kick}\n{primed(handoff.text)}", (), 1, 0))
    found = receipt.find(answer.text)
    return receipt.verify(found, receipt.expected(handoff.handoff, GIT), CYCLE) if found else ("none",)


def worker(**settings: Any) -> Worker:
    return Worker(WorkerSettings(**settings))


def test_the_workers_document_passes_the_check_with_no_gap() -> None:
    assert check(parse(ask(Worker(), "")), FACTS, is_own=lambda path: False) == ()


def test_the_workers_receipt_is_accepted() -> None:
    assert take_over(Worker(), sealed(ask(Worker(), ""))) == ()


def test_a_chain_of_handoffs_keeps_the_task_and_the_constraints() -> None:
    first = sealed(ask(worker(task="Teach the parrot to count."), ""))
    second = sealed(ask(Worker(), primed(first.text), cycle="00000002"))
    for title in ("Current Task", "Important Context"):
        assert second.handoff.section(title) == first.handoff.section(title)
    assert take_over(Worker(), second) == ()


def test_a_document_in_the_message_is_found_there() -> None:
    text = prompts.ask(tag(CYCLE, "ask", 1), DRAFT, percent=None, changed=FILES)
    message = worker(faults=frozenset({"message_instead"})).reply(Asked(text, text, (), 1, 0)).text
    assert prompts.document_from_message(message)


def test_a_correction_is_answered_with_a_receipt_too() -> None:
    handoff = sealed(ask(Worker(), ""))
    again = prompts.correct(tag(CYCLE, "correct", 2), CYCLE, FINAL, ["The branch is wrong."])
    answer = Worker().reply(Asked(again, f"{primed(handoff.text)}\n{again}", (), 2, 0))
    found = receipt.find(answer.text)
    assert found
    assert receipt.verify(found, receipt.expected(handoff.handoff, GIT), CYCLE) == ()


def test_what_is_missing_is_asked_for_again_and_written() -> None:
    gaps = check(parse(ask(worker(faults=frozenset({"careless"})), "")), FACTS, is_own=lambda path: False)
    text = prompts.missing(tag(CYCLE, "ask", 2), DRAFT, gaps, changed=FILES)
    (write,) = Worker().reply(Asked(text, text, (), 2, 150_000)).tools
    assert gaps
    assert check(parse(str(write.arguments["content"])), FACTS, is_own=lambda path: False) == ()


@pytest.mark.parametrize("fault", ["no_receipt", "parrot", "wrong_branch"])
def test_a_false_receipt_is_refused(fault: str) -> None:
    assert take_over(worker(faults=frozenset({fault})), sealed(ask(Worker(), ""))) != ()


def test_a_careless_document_has_gaps_and_garbage_is_none() -> None:
    careless = ask(worker(faults=frozenset({"careless"})), "")
    assert check(parse(careless), FACTS, is_own=lambda path: False)
    with pytest.raises(NotAHandoff):
        parse(ask(worker(faults=frozenset({"garbage"})), ""))
