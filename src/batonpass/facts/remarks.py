"""What else the agent said that carries something: nobody foresees every way to word a decision or a finding."""

import re
from functools import lru_cache

from batonpass.facts.model import Note
from batonpass.facts.wording import names, same, sentences, stems
from batonpass.transcripts.events import Event, Said

_MOST = 150
_LEAST = 0.6
_TIES = re.compile(
    r"\b(?:because|since|so|otherwise|instead|rather|but|however|although|though|not|never|no|nothing|only|too|than"
    r"|would|unless|until|cannot|without|either|still|needs?|must|should|keeps?|means|causes?|root cause|found)\b"
    r"|n['’]t\b|[:;]",
    re.IGNORECASE,
)
_NARRATES = re.compile(
    r"^(?:(?:okay|ok|good|great|perfect|right|now|next|then|so far|first|done|on to|half|one)\b"
    r"|let(?:'s| me| us)\b|looking\b|checking\b|running\b|reading\b|moving\b"
    r"|i(?:'ll| will| am going to|'m going to) (?:now |first |then )*(?:look|check|read|run|see|start|go|begin|turn"
    r"|move)"
    r"|i (?:start|read|look|looked|check|checked|turn|ran)\b)",
    re.IGNORECASE,
)
_QUESTION = re.compile(r"\?[\"')]*$")


class Remarks:
    """Sees events one by one; holds the sentences of the agent that carry most, oldest first."""

    def __init__(self) -> None:
        self._kept: list[Note] = []

    def see(self, event: Event) -> None:
        if isinstance(event, Said):
            for sentence in sentences(event.text):
                if substance(sentence) >= _LEAST:
                    self._keep(Note(event.at, sentence, "agent"))

    @property
    def all(self) -> tuple[Note, ...]:
        return tuple(self._kept)

    def _keep(self, note: Note) -> None:
        for old in [old for old in self._kept if same(old.text, note.text)]:
            self._kept.remove(old)
        self._kept.append(note)
        if len(self._kept) > _MOST:
            self._kept.remove(min(self._kept, key=lambda kept: (substance(kept.text), kept.at)))


@lru_cache(maxsize=1024)
def substance(sentence: str) -> float:
    """How much a sentence tells that cannot be seen elsewhere: names and reasons much, the course of the work little.

    >>> substance("Let me look at the tests.") < 1 < substance("The cache gets a lock, otherwise two runs would clash.")
    True
    """
    worth = 0.15 * min(8, len(stems(sentence))) + 0.6 * min(3, len(names(sentence)))
    worth += 0.5 * min(2, len(_TIES.findall(sentence)))
    if _NARRATES.match(sentence):
        worth -= 1.5
    return worth - 1.0 * bool(_QUESTION.search(sentence))
