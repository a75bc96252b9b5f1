"""How much of a corpus reached the successor, and what reached it that should not have."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from batonpass.sim.corpus import Corpus, Planted

_DONE = re.compile(r"\[x\]|\bcompleted\b|\bdone\b|\bfinished\b|\bpassed\b|\bkilled\b|\bended\b", re.IGNORECASE)
_OUTPUT = re.compile(r"^\s*git (?:checkout|restore)|: git (?:checkout|restore)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Measure:
    """`recall`: how much of what must survive did. `precision`: how much of what was superseded is gone."""

    recall: float
    precision: float
    by_kind: dict[str, float]
    lost: tuple[Planted, ...]
    stale: tuple[Planted, ...]


def measure(corpus: Corpus, text: str) -> Measure:
    """Compare a corpus with the text that its successor begins with."""
    lost = tuple(fact for fact in corpus.must if not all(needle in text for needle in fact.needles))
    stale = tuple(fact for fact in corpus.must_not if presented(fact, text))
    kinds = dict.fromkeys(fact.kind for fact in corpus.must)
    by_kind = {kind: _share([fact for fact in corpus.must if fact.kind == kind], lost) for kind in kinds}
    return Measure(_share(corpus.must, lost), _share(corpus.must_not, stale), by_kind, lost, stale)


def presented(fact: Planted, text: str) -> bool:
    """Whether a superseded fact stands in a text as if it held: neither its line nor its heading says otherwise."""
    heading = ""
    for line in text.split("\n"):
        if line.startswith("#"):
            heading = line
        told = _DONE.search(line) or _DONE.search(heading) or _OUTPUT.search(line)
        if not told and all(needle in line for needle in fact.needles):
            return True
    return False


def _share(of: Iterable[Planted], without: Iterable[Planted]) -> float:
    every, gone = list(of), list(without)
    return 1.0 if not every else 1 - sum(fact in gone for fact in every) / len(every)
