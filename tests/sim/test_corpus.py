"""Planted sessions: as events and as a transcript the same, and a silent agent's handoff carries what they hold."""

import subprocess
from pathlib import Path

import pytest

from batonpass.agents.claude.record import parse
from batonpass.facts import gather
from batonpass.facts.model import Facts
from batonpass.handoff.draft import Meta, from_facts
from batonpass.handoff.fit import MAX_CHARS
from batonpass.handoff.seal import seal
from batonpass.sim.corpus import Corpus, events, transcript
from batonpass.sim.corpus_made import made
from batonpass.sim.corpus_measure import measure, presented
from batonpass.transcripts.events import Event, Prompted, Said, ToolCalled, ToolReturned

META = Meta(1, None, 1_769_100_000, "s1", "claude", None, "p", "threshold", checkpoint="/p/tmp/x.json.gz")


def project_of(corpus: Corpus, folder: Path) -> Path:
    git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for path, text in corpus.committed.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    dates = {
        "GIT_COMMITTER_DATE": "2020-01-01T00:00:00Z",
        "GIT_AUTHOR_DATE": "2020-01-01T00:00:00Z",
        "PATH": "/usr/bin:/bin",
    }
    for words in (["init", "-q", "-b", corpus.branch], ["add", "-A"], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], check=True, capture_output=True, env=dates)
    for path, text in corpus.changed.items():
        (folder / path).write_text(text, encoding="utf-8")
    return folder


def facts_of(corpus: Corpus, folder: Path) -> Facts:
    return gather(project_of(corpus, folder), "claude", None, None, events(corpus), (), at=9e9, is_own=lambda _: False)


def shape(found: list[Event]) -> list[object]:
    kept = [event for event in found if isinstance(event, Prompted | Said | ToolCalled | ToolReturned)]
    return [(type(e), getattr(e, "text", None), getattr(e, "arguments", None), getattr(e, "ok", None)) for e in kept]


def test_a_corpus_is_large_and_always_the_same() -> None:
    corpus = made(1)
    assert corpus == made(1) != made(2)
    assert len(corpus.turns) >= 40
    assert len(corpus.must) >= 60
    assert len(corpus.must_not) >= 12
    assert len({fact.kind for fact in corpus.must}) >= 10


def test_the_transcript_tells_the_same_as_the_events() -> None:
    corpus = made(3)
    read = [event for line in transcript(corpus).splitlines() for event in parse(line)]
    assert shape(read) == shape(list(events(corpus)))


@pytest.mark.parametrize("seed", range(6))
def test_a_silent_agents_handoff_carries_what_was_planted_and_not_what_was_taken_back(
    tmp_path: Path, seed: int
) -> None:
    corpus = made(seed)
    sealed = seal(from_facts(facts_of(corpus, tmp_path), META))
    found = measure(corpus, sealed.text)
    assert len(sealed.text) <= MAX_CHARS + 120
    assert found.recall >= 0.95, [fact.said for fact in found.lost]
    assert found.precision >= 0.95, [fact.said for fact in found.stale]


def test_the_measure_sees_what_is_lost_and_what_is_stale() -> None:
    corpus = made(1)
    everything = "\n".join(turn.prompt for turn in corpus.turns) + "\n".join(n for f in corpus.must for n in f.needles)
    whole = measure(corpus, everything)
    assert whole.recall == 1.0
    assert whole.precision < 1.0
    assert measure(corpus, "").recall == 0.0
    todo = next(fact for fact in corpus.must_not if fact.kind == "todo")
    assert presented(todo, f"- [ ] {todo.said}")
    assert not presented(todo, f"- [x] {todo.said} (completed)")
