"""Ports, addresses, versions and names that were said, with what they stand for."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from batonpass.facts.conversation import is_batons
from batonpass.facts.model import Note, Value
from batonpass.facts.wording import sentences, stems
from batonpass.transcripts.events import Event, Origin, Prompted, Said

_MOST = 60
_KINDS = (
    ("url", re.compile(r"\bhttps?://[^\s<>\"'`)\]]+[^\s<>\"'`)\].,;:!?]")),
    (
        "port",
        re.compile(
            r"\bports?\b[^.\d]{0,24}?\b(\d{2,5})\b|\b(?:localhost|127\.0\.0\.1"
            r"|0\.0\.0\.0):(\d{2,5})\b|(?<=\s):(\d{4,5})\b|\b(?:is|are|answers|runs|listens) on (\d{3,5})\b(?!\.\d)",
            re.IGNORECASE,
        ),
    ),
    (
        "version",
        re.compile(
            r"\b(?:v|version |@|==?|>=|\^|~)?(\d+\.\d+(?:\.\d+)*(?:[-.]?(?:rc|beta|alpha"
            r"|dev|post)\.?\d*)?)(?![\w%])"
            r"|\b(?:version|node|python|java|go|php|ruby"
            r"|postgres(?:ql)?) (\d{1,3})\b(?!\.\d)",
            re.IGNORECASE,
        ),
    ),
    (
        "id",
        re.compile(
            r"\b([A-Z][A-Z0-9]{1,9}-\d{1,6})\b|(?<![\w/])(#\d{1,6})\b"
            r"|\b([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-"
            r"[0-9a-f]{12})\b|\b((?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40})\b"
            r"|\b([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\b"
            r"|`([\w.:@/-]{3,80})`|\b([a-z][a-z0-9]*(?:-[a-z0-9]+)*-\d[\w-]*)\b"
        ),
    ),
)
_CHANGE = re.compile(
    r"\b(?:moved?|chang(?:ed?|ing)|switch(?:ed|ing)?|instead|now|no longer|bump(?:ed|ing)?|upgrad(?:ed?"
    r"|ing)|downgrad(?:ed?|ing)"
    r"|replac(?:ed?|es|ing)|not|any ?more|renam(?:ed?|ing)|becomes?|updat(?:ed?|ing)|was|correction"
    r"|actually|retired|these days|from today|as of)\b",
    re.IGNORECASE,
)
_OLD = re.compile(
    r"\b(?:from|instead of|rather than|not|no longer|replac(?:e[sd]?|ing)|was|off|formerly|previously"
    r"|away from)"
    r" (?:the |port |version |on |at |v)*$",
    re.IGNORECASE,
)
_SAME = 0.5
_SAME_THING = 0.95  # without a word of change: said of the very same thing
_FEW = 3  # words: too few to know that it is the same


class Values:
    """Sees events one by one; holds each value with the sentence that it was last said in."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Value] = {}
        self.stale: dict[tuple[str, str], Value] = {}

    def see(self, event: Event) -> None:
        if isinstance(event, Said):
            self._hear(event.at, event.text, "agent")
        elif isinstance(event, Prompted) and event.origin is Origin.HUMAN and not is_batons(event.text):
            self._hear(event.at, event.text, "user")

    @property
    def current(self) -> tuple[Value, ...]:
        return tuple(self._known.values())

    def after(self, inherited: Iterable[Note]) -> "Values":
        """All values when these notes were known before the first event: what was said since then replaces theirs."""
        merged = Values()
        for note in inherited:
            merged._hear(note.at, note.text, note.source)
        for value in self.current:
            merged._hear(value.at, value.text, value.source)
        merged.stale |= self.stale
        return merged

    def _hear(self, at: float, text: str, source: str) -> None:
        for sentence in sentences(text):
            if any(sign.isdigit() or sign in "`_" for sign in sentence) or "://" in sentence:
                self._read(at, sentence, source)

    def _read(self, at: float, sentence: str, source: str) -> None:
        changed = bool(_CHANGE.search(sentence))
        found = _values(sentence)
        old = {(kind, value) for kind, value, start in found if changed and _OLD.search(sentence[:start])}
        old |= self._named_again(found, sentence) if changed else set()
        for key in old:
            self._retire(key)
        for kind, value, _ in found:
            key = (kind, value)
            if key in old:
                continue
            self._replaced_by(kind, value, sentence, _SAME if changed else _SAME_THING)
            self._known.pop(key, None)
            self.stale.pop(key, None)
            self._known[key] = Value(at, kind, value, sentence, source)
        while len(self._known) > _MOST:
            del self._known[next(iter(self._known))]

    def _named_again(self, found: Iterable[tuple[str, str, int]], sentence: str) -> set[tuple[str, str]]:
        """Values that were known of the same thing, in a sentence that gives it a new one of their kind."""
        fresh = {kind for kind, value, _ in found if (kind, value) not in self._known}
        known = [key for key in self._known if key[0] in fresh and re.search(rf"\b{re.escape(key[1])}\b", sentence)]
        return {key for key in known if _near(self._known[key].text, sentence) >= _SAME}

    def _replaced_by(self, kind: str, value: str, sentence: str, share: float) -> None:
        """The earlier value of the same thing: the same kind, said in so many of the same words."""
        others = [known for known in self._known.values() if known.kind == kind and known.value != value]
        others = [known for known in others if known.value not in sentence]
        best = max(others, key=lambda known: _near(known.text, sentence), default=None)
        if best is not None and _near(best.text, sentence) >= share:
            self._retire((kind, best.value))

    def _retire(self, key: tuple[str, str]) -> None:
        known = self._known.pop(key, None)
        if known is not None:
            self.stale[key] = known


def _near(one: str, other: str) -> float:
    """How much two sentences are about the same, whatever numbers they give it."""
    first, second = (frozenset(stem for stem in stems(text) if not stem[0].isdigit()) for text in (one, other))
    fewer = min(len(first), len(second))
    return len(first & second) / max(fewer, _FEW)


@lru_cache(maxsize=1024)
def _values(sentence: str) -> tuple[tuple[str, str, int], ...]:
    """Kind, value and place of each value; one that is part of another is not told twice."""
    return tuple(_each_value(sentence))


def _each_value(sentence: str) -> Iterator[tuple[str, str, int]]:
    taken: list[tuple[int, int]] = []
    for kind, pattern in _KINDS:
        for found in pattern.finditer(sentence):
            group = next((n for n, text in enumerate(found.groups(), 1) if text), 0)
            start, end = found.span(group)
            if kind != "port" and any(start < e and s < end for s, e in taken):
                continue
            taken.append((start, end))
            yield kind, found[group], start
