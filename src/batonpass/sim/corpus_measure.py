"""How much of a corpus reached the successor, and what reached it that should not have.

The judge knows the facts and ordinary English, and nothing of how Baton writes: a fact is told where its signs stand
together, and something superseded is presented as current where neither its line nor its heading says otherwise.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from batonpass.sim.corpus import Corpus, Planted

_OVER = re.compile(
    r"\[x\]|~~|\b(?:complet\w*|done|finished|no longer|any ?more|tak\w+ back|revok\w*|revert\w*|withdr\w+|supersed\w*"
    r"|replac\w*|instead|rather than|dropped|abandoned|obsolete|outdated|stale|previous\w*|former\w*|used to|was|were"
    r"|fixed|mended|solved|resolved|pass(?:ed|es|ing)|ended|killed|stopped|forget|second thoughts?|changed my mind"
    r"|moved|switched|git (?:checkout|restore|stash))\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?]) +")


@dataclass(frozen=True, slots=True)
class Measure:
    """`recall`: how much of what must survive did. `precision`: how much of what is told as current is so.

    `gone`: how much of what was superseded is not told as current, a stricter figure for the same errors.
    """

    recall: float
    precision: float
    gone: float
    by_kind: dict[str, float]
    lost: tuple[Planted, ...]
    stale: tuple[Planted, ...]


def measure(corpus: Corpus, text: str) -> Measure:
    """Compare a corpus with the text that its successor begins with."""
    return measure_all([(corpus, text)])


def measure_all(pairs: Sequence[tuple[Corpus, str]]) -> Measure:
    """Several corpora, each with its text, counted as one."""
    must = [fact for corpus, _ in pairs for fact in corpus.must]
    must_not = [fact for corpus, _ in pairs for fact in corpus.must_not]
    lost = [fact for corpus, text in pairs for fact in corpus.must if not _told(fact, text)]
    stale = [fact for corpus, text in pairs for fact in corpus.must_not if presented(fact, text)]
    kept = len(must) - len(lost)
    by_kind = {kind: _share(_of(kind, must), _of(kind, lost)) for kind in dict.fromkeys(fact.kind for fact in must)}
    precision = kept / (kept + len(stale)) if kept + len(stale) else 1.0
    return Measure(_share(must, lost), precision, _share(must_not, stale), by_kind, tuple(lost), tuple(stale))


def presented(fact: Planted, text: str) -> bool:
    """Whether a superseded fact stands in a text as if it held: neither its line nor its heading says otherwise."""
    heading = ""
    for line in text.split("\n"):
        if line.startswith("#"):
            heading = line
        if _OVER.search(line) or _OVER.search(heading) or _any(fact.over, line):
            continue
        if any(_all(fact.signs, sentence) for sentence in _SENTENCE.split(line)):
            return True
    return False


def _told(fact: Planted, text: str) -> bool:
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    return any(_all(fact.signs, passage) for passage in _passages(lines, fact.lines))


def _passages(lines: Sequence[str], count: int) -> Iterator[str]:
    for at, line in enumerate(lines):
        if count > 1:
            yield " ".join(lines[at : at + count])
        else:
            yield from _SENTENCE.split(line)


def _all(signs: Iterable[str], text: str) -> bool:
    return all(re.search(sign, text, re.IGNORECASE) for sign in signs)


def _any(signs: Iterable[str], text: str) -> bool:
    return any(re.search(sign, text, re.IGNORECASE) for sign in signs)


def _of(kind: str, facts: Iterable[Planted]) -> list[Planted]:
    return [fact for fact in facts if fact.kind == kind]


def _share(of: Sequence[Planted], without: Sequence[Planted]) -> float:
    return 1 - len(without) / len(of) if of else 1.0
