"""Planted sessions: as events and as a transcript the same, and a handoff carries what they hold."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from batonpass.agents.claude.record import parse
from batonpass.facts import Facts, gather
from batonpass.handoff.check import check
from batonpass.handoff.draft import Meta, from_facts, merge
from batonpass.handoff.fit import MAX_CHARS
from batonpass.handoff.markdown import parse as parse_document
from batonpass.handoff.seal import seal
from batonpass.sim import corpus_written as written
from batonpass.sim.corpus import Corpus, Planted, events, transcript
from batonpass.sim.corpus_acted import laid_out
from batonpass.sim.corpus_made import made
from batonpass.sim.corpus_measure import measure, presented
from batonpass.sim.corpus_seen import SEEN
from batonpass.sim.corpus_seen_too import SEEN_TOO
from batonpass.sim.corpus_unseen import UNSEEN
from batonpass.sim.corpus_words import Words
from batonpass.transcripts.events import Event, Origin, Prompted, Said, ToolCalled, ToolReturned

META = Meta(1, None, 1_769_100_000, "s1", "claude", None, "p", "threshold", checkpoint="/p/tmp/x.json.gz")


def facts_of(corpus: Corpus, folder: Path) -> Facts:
    return gather(laid_out(corpus, folder), "claude", None, None, events(corpus), (), at=9e9, is_own=lambda _: False)


def handed_over(corpus: Corpus, facts: Facts, manner: str) -> str:
    """The sealed document of an agent of this manner, as a cycle makes it: asked, checked, asked again, sealed."""
    if manner == "silent":
        return seal(from_facts(facts, META)).text
    known = written.remembered(corpus)
    careless = manner == "careless"
    first = parse_document(written.document(known, careless=careless))
    gaps = check(first, facts, is_own=lambda _: False)
    added = [] if careless else [gap.message for gap in gaps]
    last = parse_document(written.document(known, added=added, careless=careless))
    return seal(merge(last, facts, check(last, facts, is_own=lambda _: False), META)).text


def shape(found: list[Event]) -> list[object]:
    kept = [event for event in found if isinstance(event, Prompted | Said | ToolCalled | ToolReturned)]
    return [(type(e), getattr(e, "text", None), getattr(e, "arguments", None), getattr(e, "ok", None)) for e in kept]


def said(words: Words) -> Iterator[str]:
    for plain in (words.rules, words.decisions, words.failures, words.values):
        yield from (wording.said for wording in plain)
    for turned in (words.revoked, words.reversed, words.replaced):
        yield from (text for wording in turned for text in (wording.said, wording.later))


def test_a_corpus_is_large_and_always_the_same() -> None:
    corpus = made(1)
    assert corpus == made(1) != made(3)
    assert len(corpus.turns) >= 40
    assert len(corpus.must) >= 60
    assert len(corpus.must_not) >= 12
    assert {fact.kind for fact in corpus.must} == {
        "constraint", "decision", "failure", "value", "todo", "file", "commit", "stash", "test", "error", "subagent",
        "process", "epic", "request", "branch",
    }  # fmt: skip


def test_the_sets_of_wordings_share_no_sentence() -> None:
    sets = [list(said(words)) for words in (SEEN, SEEN_TOO, UNSEEN)]
    assert len({sentence for each in sets for sentence in each}) == sum(map(len, sets))


def test_what_is_remembered_is_told_in_other_words_and_the_judge_knows_it_all_the_same() -> None:
    for seed in range(6):
        corpus = made(seed)
        for fact in corpus.must:
            if fact.kind in ("constraint", "decision", "failure"):
                assert fact.told not in fact.said
            if fact.kind not in ("subagent", "process"):  # an id is known to the program only
                assert measure(Corpus(seed, (), (fact,), (), ""), fact.told).recall == 1.0, fact


def test_the_transcript_tells_the_same_as_the_events() -> None:
    corpus = made(3)
    read = [event for line in transcript(corpus).splitlines() for event in parse(line)]
    assert shape(read) == shape(list(events(corpus)))


@pytest.mark.parametrize("seed", [1, 2, 4, 7])
def test_a_handoff_carries_what_was_planted_and_not_what_was_taken_back(tmp_path: Path, seed: int) -> None:
    corpus = made(seed)
    facts = facts_of(corpus, tmp_path)
    for manner, least in (("cooperative", 0.99), ("careless", 0.97), ("silent", 0.95)):
        text = handed_over(corpus, facts, manner)
        found = measure(corpus, text)
        assert len(text) <= MAX_CHARS + 120
        assert found.recall >= least, (manner, [fact.said for fact in found.lost])
        assert found.precision >= 0.95, (manner, [fact.said for fact in found.stale])


def test_the_agents_own_document_alone_carries_less() -> None:
    corpus = made(1)
    found = measure(corpus, written.document(written.remembered(corpus)))
    assert 0.6 < found.recall < 0.9
    assert measure(corpus, written.document(written.remembered(corpus), careless=True)).recall < found.recall


def test_the_measure_sees_what_is_lost_and_what_is_stale() -> None:
    corpus = made(1)
    everything = "\n".join(f"{turn.prompt}\n" + "\n".join(str(part) for part in turn.answer) for turn in corpus.turns)
    assert measure(corpus, everything).gone < 0.8
    assert measure(corpus, "").recall == 0.0
    todo = next(fact for fact in corpus.must_not if fact.kind == "todo")
    assert presented(todo, f"- [ ] {todo.said}")
    assert not presented(todo, f"- [x] {todo.said}")
    assert not presented(todo, f"### Completed\n- {todo.said}")


def test_signs_count_in_one_passage_only() -> None:
    fact = Planted("constraint", "Never touch the tariff feed.", (r"tariff feed", r"never"))
    corpus = Corpus(0, (), (fact,), (), "")
    assert measure(corpus, "- the tariff feed is never to be touched").recall == 1.0
    assert measure(corpus, "- the tariff feed\n- never mind").recall == 0.0


def test_something_superseded_is_told_right_where_what_took_its_place_stands_beside_it() -> None:
    fact = Planted("value", "It is on 4000.", (r"\b4000\b",), over=(r"\b5000\b",))
    assert presented(fact, "It is on 4000.")
    assert not presented(fact, "It is on 4000. (said later: It is on 5000.)")


def test_a_chain_of_silent_agents_still_knows_at_its_third_link_what_was_said_before_the_first(tmp_path: Path) -> None:
    corpus = made(2)
    (tmp_path / "project").mkdir()
    facts = facts_of(corpus, tmp_path / "project")
    path = tmp_path / "handoff-1.md"
    path.write_text(seal(from_facts(facts, META)).text, encoding="utf-8")
    for link in (2, 3):
        later = [Prompted(META.created + link, f"Go on with part {link}.", Origin.HUMAN, "p")]
        facts = gather(facts.project, "claude", None, None, later, (), at=9e9, is_own=lambda _: False, previous=path)
        path = tmp_path / f"handoff-{link}.md"
        text = seal(from_facts(facts, replace(META, number=link, created=META.created + link * 100))).text
        path.write_text(text, encoding="utf-8")
    said = [fact for fact in corpus.must if fact.kind in ("constraint", "decision", "failure", "value", "todo")]
    found = measure(replace(corpus, must=tuple(said)), text)
    assert found.recall >= 0.95, [fact.said for fact in found.lost]
    assert found.precision >= 0.95, [fact.said for fact in found.stale]
    assert len(text) <= MAX_CHARS + 120
