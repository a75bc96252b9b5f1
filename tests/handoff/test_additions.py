"""What the agent left out is in the sealed document all the same: with an id where it can have one, and in budget."""

from dataclasses import replace
from pathlib import Path

import pytest

from batonpass.facts import Change, Command, Facts, GitFacts, Note, OpenItem, Subagent, Todo, Utterance, Value
from batonpass.facts.wording import REVOKED
from batonpass.handoff import names, record
from batonpass.handoff.check import check, check_text
from batonpass.handoff.document import Handoff
from batonpass.handoff.draft import Meta, from_facts, merge
from batonpass.handoff.fit import MAX_CHARS, MAX_TOKENS
from batonpass.handoff.items import items
from batonpass.handoff.markdown import parse
from batonpass.handoff.seal import seal

META = Meta(2, "handoff-1.md", 1e9, "s1", "claude", None, "p", "threshold", checkpoint="/p/tmp/x.json.gz")
DOCUMENT = """\
## Current Task
Build the ledger import, because the old system is switched off in spring; the bank sends its files each night.

## Progress Summary
### Completed
- The reader of old bookings

## Recent Decisions
- Amounts are integers in cents, because floats lose money.

## Files Modified
- src/ledger.py (import)

## Next Steps
1. Go on with the mapping

## Important Context
- The bank's files are in latin-1.
"""


@pytest.fixture
def facts(tmp_path: Path) -> Facts:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "ledger.py").write_text("", encoding="utf-8")
    return Facts(
        at=1.0,
        project=tmp_path,
        agent="claude",
        agent_session=None,
        transcript=None,
        git=GitFacts("ledger", "abc", changes=(Change("src/ledger.py", "modified"),)),
        prompts=(Utterance(1, "Never edit the lockfile. Never use the old queue. Import it."), Utterance(2, "Go on.")),
        todos=(Todo("Round half to even", "in_progress"), Todo("Measure a million rows", "pending")),
        subagents=(Subagent("a34b", "survey the parsers", "running", 1.0),),
        failing=("tests/test_ledger.py::test_rounding",),
        constraints=(Note(1, "Never edit the lockfile.", "user"),),
        revoked=(Note(1, "Never use the old queue.", "user"),),
        decisions=(Note(1, "I chose a bulk insert because single rows took an hour.", "agent"),),
        failures=(Note(1, "Threads didn't work: the driver locks.", "agent"),),
        errors=(Command(1, "make lint", False, 2, "E501", False),),
        values=(Value(1, "port", "5672", "The broker is on port 5672.", "user"),),
        carried=(OpenItem("P1", "Write the guide for operators", False, "handoff-1.md"),),
    )


def merged(text: str, facts: Facts) -> Handoff:
    document = parse(text)
    return seal(merge(document, facts, check(document, facts, is_own=lambda _: False), META)).handoff


def test_what_was_left_out_gets_an_id_and_is_marked(facts: Facts) -> None:
    found = {item.id: item.text for item in items(merged(DOCUMENT, facts))}
    assert found["C2"] == "Failing test: `tests/test_ledger.py::test_rounding` (recorded by Baton)"
    assert found["C3"] == "Never edit the lockfile. (recorded by Baton)"
    assert found["I1"] == "Round half to even (recorded by Baton)"
    assert {found["P1"], found["P2"]} == {
        "Measure a million rows (recorded by Baton)",
        "Write the guide for operators (recorded by Baton)",
    }


def test_the_agents_words_stay_above_what_was_added(facts: Facts) -> None:
    handoff = merged(DOCUMENT, facts)
    assert (handoff.section(names.CONTEXT) or "").startswith("- (C1) The bank's files are in latin-1.")
    assert (handoff.section(names.PROGRESS) or "").startswith("### Completed\n- The reader of old bookings")
    assert "a34b" in (handoff.section(names.SUBAGENTS) or "")


@pytest.mark.parametrize("written", [DOCUMENT, None, DOCUMENT.split("## Recent Decisions")[0]])
def test_every_fact_is_in_the_sealed_document_once_and_what_was_revoked_is_not(
    facts: Facts, written: str | None
) -> None:
    handoff = merged(written, facts) if written else seal(from_facts(facts, META)).handoff
    text = seal(handoff).text
    for fact in (
        "Never edit the lockfile.", "Round half to even", "Measure a million rows",
        "tests/test_ledger.py::test_rounding",
        "I chose a bulk insert because single rows took an hour.",
        "Threads didn't work: the driver locks.", "make lint",
        "E501", "The broker is on port 5672.", "Write the guide for operators", "a34b", "src/ledger.py", "Go on.",
    ):  # fmt: skip
        assert fact in text
    assert "old queue" not in text
    assert text.count("I chose a bulk insert") == 1
    assert check_text(seal(handoff).text, facts, is_own=lambda _: False) == ()


def test_a_document_with_far_too_many_facts_keeps_to_the_budget_and_to_what_must_not_go(facts: Facts) -> None:
    many = replace(
        facts,
        prompts=tuple(Utterance(n, f"Request {n}: " + "more words " * 60) for n in range(60)),
        said=tuple(Utterance(n, "An answer. " * 200) for n in range(5)),
        commands=tuple(Command(n, f"make step{n}", True, 0, "output " * 150) for n in range(15)),
        values=tuple(
            Value(n, "id", f"ID-{n}", f"The account of unit {n} is ID-{n} in the ledger.", "user") for n in range(60)
        ),
        constraints=tuple(Note(n, f"Never touch module{n}.", "user") for n in range(25)),
    )
    sealed = seal(merge(parse(DOCUMENT), many, check(parse(DOCUMENT), many, is_own=lambda _: False), META))
    assert len(sealed.text) <= MAX_CHARS + 120  # the checksum's line
    assert MAX_CHARS <= MAX_TOKENS * 4
    assert all(f"Never touch module{n}." in sealed.text for n in range(25))
    assert "Request 59" in sealed.text
    assert "see the checkpoint under Sources" in sealed.text


def test_prompts_are_quoted_without_what_was_taken_back(facts: Facts) -> None:
    body = next(part.body for part in from_facts(facts, META).recorded if part.title == record.PROMPTS)
    assert f"Never edit the lockfile. {REVOKED} Import it." in body
