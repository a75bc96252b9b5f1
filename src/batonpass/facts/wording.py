"""What texts are about: their sentences, their content words, and whether two mean the same thing."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise

from batonpass.handoff import fences
from batonpass.memory import Memory

Passages = tuple[tuple[str, frozenset[str]], ...]

REVOKED = "[left out: a sentence that was taken back later]"  # stands for it where its text is quoted
_SENTENCES = 2_048  # whose words are remembered: each new one is compared with those that its session holds
_ROOM = 200_000  # characters of the documents whose passages are remembered: these take many times the room
_MOST_CHARS = 40_000  # of one text: what is longer is a pasted log, and its ends say what it is
_LONGEST = 400
_ENTRY = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+(?:\[.\]\s+)?")
_END = re.compile(
    r"(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bvs\.)(?<!\betc\.)(?<!\bcf\.)(?<!\bno\.)(?<!\bca\.)(?<!\bresp\.)"
    r"(?<!\.\.\.)[\"')\]]*\s+(?=\S)"
)
_WORD = re.compile(r"[a-z][a-z'’]+|\w*\d\w*", re.IGNORECASE)
# Names that must be matched as they are: paths, code, numbers of two digits and more, words with inner signs.
_NAME = re.compile(r"`([^`\n]{1,120})`|([\w@~./][\w@~./:+-]*)")
_COMMON = """
a about above after again against all also am an and any anybody anyone anything are as at be because been
before being below between both but by can could did do does doing don down during each else ever every few for
from further get go going got had has have having he her here him his how i if in into is it its itself just
keep kept let like ll make me more most my myself no nor not now of off on once one only or other our out over
own part please put really s same say see shall she should since so some sort still such sure t than that the
their them then there these they thing things this those through to too under until up us use used using ve very
want was way we well were what when where which while who whom why will with without would yet you your yours
must never always don't dont doesn't isn't won't can't cannot didn't mustn't shouldn't may might need needs
needed i'm i've i'll i'd it's that's there's we're we've we'll let's you're you've whatever actually anymore
decide decided chose chosen choose picked switch switched tried try because reason thought second change changed
okay ok fine forget ignore scratch instead rather however
"""
_FUNCTION_WORDS = frozenset(_COMMON.split())


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text, word for word. Code fences and quoted lines are somebody else's words."""
    if len(text) > _MOST_CHARS:
        text = f"{text[: _MOST_CHARS // 2]}\n\n{text[-_MOST_CHARS // 2 :]}"
    for paragraph in _paragraphs(text):
        for sentence in _END.split(paragraph):
            whole = " ".join(sentence.split())
            if len(whole) > 3:
                yield whole if len(whole) <= _LONGEST else f"{whole[: _LONGEST - 1]}…"


def _paragraphs(text: str) -> Iterator[str]:
    """Wrapped lines joined; a list item is a paragraph of its own."""
    held: list[str] = []
    for line, plain in fences.marked(text.split("\n")):
        bare = line.strip()
        starts = not plain or not bare or bare.startswith((">", "#", "|")) or _ENTRY.match(line)
        if starts and held:
            yield " ".join(held)
            held = []
        if plain and bare and not bare.startswith((">", "#", "|")):
            held.append(_ENTRY.sub("", line).strip())
    if held:
        yield " ".join(held)


@lru_cache(maxsize=_SENTENCES)
def stems(text: str) -> frozenset[str]:
    """The content words of a text, each by its beginning, so that forms of one word are the same.

    >>> sorted(stems("Never touch the lockfiles"))
    ['lockf', 'touch']
    """
    words = (word.lower().replace("’", "'") for word in _WORD.findall(text))
    return frozenset(_stem(word) for word in words if word not in _FUNCTION_WORDS and (len(word) > 2 or word.isdigit()))


def _stem(word: str) -> str:
    if any(sign.isdigit() for sign in word):
        return word
    bare = word.removesuffix("'s")
    return bare[:5] if len(bare) > 5 else bare.removesuffix("s")


@lru_cache(maxsize=_SENTENCES)
def names(text: str) -> frozenset[str]:
    """What in a text is a name and not a word: paths, code, numbers, versions, addresses.

    >>> sorted(names("run `make e2e` on port 8443, then look at src/a.py."))
    ['8443', 'make e2e', 'src/a.py']
    """
    found = set()
    for match in _NAME.finditer(text):
        quoted, word = match[1], match[2]
        if quoted:
            found.add(quoted.strip())
        elif word and (re.search(r"\d\d", word) or re.search(r"\w[/_.:@]\w", word) or re.search(r"[a-z][A-Z]", word)):
            found.add(word.strip(".,:;"))
    return frozenset(name for name in found if name)


def overlap(one: str, other: str) -> float:
    """How much of the shorter text's content the other one shares, from 0 to 1."""
    first, second = stems(one), stems(other)
    if not first or not second:
        return 0.0
    return len(first & second) / min(len(first), len(second))


_ASIDE = re.compile(r"\b(?:instead of|rather than|not|no longer|from|away from|over) (.{1,60})", re.IGNORECASE)


def puts_aside(text: str, other: str) -> bool:
    """Whether a text names something of another one as what it is turning away from."""
    found = _ASIDE.search(text)
    return found is not None and bool(stems(other) & stems(found[1]) or names(other) & names(found[1]))


_NUMBERED = re.compile(r"\b([a-z][a-z-]{2,}) v?(\d[\w.]*\b)", re.IGNORECASE)
_COUNTED = re.compile(r"\b(\d[\d.,]*) ?([a-z%][a-z-]*)", re.IGNORECASE)


def renumbered(one: str, other: str) -> bool:
    """Whether two texts give different numbers to the same thing.

    >>> renumbered("Postgres 16 is fine", "Stick with Postgres 15 please"), renumbered("3 rows", "at most 5 rows")
    (True, True)
    """
    first, second = _numbers(one), _numbers(other)
    return any(second.get(name, number) != number for name, number in first.items())


def _numbers(text: str) -> dict[str, str]:
    counted = {unit.lower(): number for number, unit in _COUNTED.findall(text) if unit.lower() not in _FUNCTION_WORDS}
    return counted | {name.lower(): number for name, number in _NUMBERED.findall(text)}


def same(one: str, other: str) -> bool:
    """Whether two sentences say the same, in the same words but for their forms and their order."""
    return stems(one) == stems(other) and names(one) == names(other)


def says(text: str, wanted: str, *, share: float = 0.5, among: Iterable[str] = ()) -> bool:
    """Whether a text tells what another one does: its names exactly, enough of its words in one place.

    `among` are others of its kind: a word that several of them have says little about which one is meant.
    """
    need = stems(wanted)
    if not need:
        return " ".join(wanted.lower().split()) in " ".join(text.lower().split())
    others = [stems(other) for other in among]
    weight = {stem: 1 / max(1, sum(stem in other for other in others)) for stem in need}
    enough = share * sum(weight.values())
    named = {name.lower() for name in names(wanted)}
    return any(
        sum(weight[stem] for stem in need & told) >= enough and all(name in passage for name in named)
        for passage, told in _passages(text)
    )


def _passages(text: str) -> Passages:
    return _known.of(text, len(text), lambda: _cut(text))


def _cut(text: str) -> Passages:
    """The places of a document at which one thing can be told: its lines, and each with the next if that goes on.

    Each in small letters, and with its content words: they are compared with one text after the other.
    """
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    longer = (f"{one} {next_}" for one, next_ in pairwise(lines) if not _BEGINS.match(next_))
    return tuple((passage.lower(), stems(passage)) for passage in (*lines, *longer))


_known: Memory[Passages] = Memory(_ROOM)
_BEGINS = re.compile(r"[-*+•|#]|\d{1,3}[.)] ")
