"""What was decided and why, and which ways were tried and failed."""

import re
from collections.abc import Iterable

from batonpass.facts.conversation import is_batons
from batonpass.facts.model import Note
from batonpass.facts.wording import names, overlap, puts_aside, same, sentences
from batonpass.transcripts.events import Event, Origin, Prompted, Said

_MOST = 40
_DECIDED = re.compile(
    r"\b(?:decid(?:ed|e|ing)|decision|cho(?:se|sen|osing|ice)|opt(?:ed|ing) (?:for|to)|pick(?:ed|ing)"
    r"|settl(?:ed|ing) (?:on|for)"
    r"|(?:going|went|go|gone) with|i'?(?:ll| will) (?:use|keep|take|stick|store)|we'?(?:ll| will) (?:use"
    r"|keep|take|store)"
    r"|because|instead of|rather than|trade-?off|switch(?:ed|ing) (?:to|from)|agreed (?:on|to)|prefer(?:red)?"
    r"|the reason|reasoning|rationale|so that|in favou?r of|ruled out|rejected)\b",
    re.IGNORECASE,
)
_FAILED = re.compile(
    r"\b(?:did ?n[o']?t (?:work|help|fix|solve)|does ?n[o']?t (?:work|help|fix)|not working|no luck"
    r"|dead[- ]end|gave up"
    r"|giv(?:e|ing) up|abandon(?:ed|ing)?|reverted|rolled? (?:it )?back|backed (?:it )?out|fail(?:ed"
    r"|s) because"
    r"|tried .{3,200}\b(?:but|fail|broke|no)|attempt(?:ed)? .{3,200}\b(?:but|fail)|turn(?:s"
    r"|ed) out .{0,80}(?:not|n't|wrong|slower)"
    r"|made (?:it|things) worse|without success|broke(?:n)? .{0,60}\b(?:so|and|when)|hit a wall|fruitless"
    r"|in vain)\b",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"^(?:because|the reason|reason:|that way|this (?:way|keeps|avoids|gives|means)"
    r"|so that|it (?:keeps|"
    r"avoids|gives|means))\b",
    re.IGNORECASE,
)
_REVERSED = re.compile(
    r"\b(?:chang(?:ed|ing) my mind|on second thoughts?|after all|revert(?:ed|ing)|back(?:ed|ing) out"
    r"|no longer|switch(?:ed|ing)"
    r"|drop(?:ped|ping)|abandon(?:ed|ing)?|replac(?:ed|ing|es)|instead of|rather than|supersed\w+"
    r"|reconsider\w*|actually"
    r"|mov(?:ed|ing) (?:away|off|from)|scrapp\w+|turn(?:s|ed) out|now|these days|from today|as of)\b",
    re.IGNORECASE,
)
_QUESTION = re.compile(r"\?[\"')]*$")
_SAME = 0.5


class Choices:
    """Sees events one by one; holds decisions that still stand and ways that failed, each in its own words."""

    def __init__(self) -> None:
        self.decisions: list[Note] = []
        self.failures: list[Note] = []
        self.reversed: list[Note] = []

    def see(self, event: Event) -> None:
        if isinstance(event, Said):
            self._hear(event.at, event.text, "agent")
        elif isinstance(event, Prompted) and event.origin is Origin.HUMAN and not is_batons(event.text):
            self._hear(event.at, event.text, "user")

    def standing(self, inherited: Iterable[Note]) -> tuple[Note, ...]:
        """Those of an earlier conversation's notes that nothing said in this one turns round or says again."""
        now = [note.text for note in (*self.decisions, *self.failures)]
        return tuple(
            note
            for note in inherited
            if not any(
                same(note.text, text) or (_REVERSED.search(text) and _near(text, note.text) >= _SAME) for text in now
            )
        )

    def _hear(self, at: float, text: str, source: str) -> None:
        last: Note | None = None
        for sentence in sentences(text):
            if _QUESTION.search(sentence):
                last = None
            elif last is not None and _REASON.match(sentence):
                last = self._longer(last, sentence)
            elif _FAILED.search(sentence):
                last = _keep(self.failures, Note(at, sentence, source))
                self._reverse(sentence)
            elif self._reverse(sentence) or _DECIDED.search(sentence):
                last = _keep(self.decisions, Note(at, sentence, source))
            else:
                last = None

    def _longer(self, note: Note, reason: str) -> Note:
        """A decision with the sentence that gives its reason."""
        longer = Note(note.at, f"{note.text} {reason}", note.source)
        for notes in (self.decisions, self.failures):
            if note in notes:
                notes[notes.index(note)] = longer
        return longer

    def _reverse(self, sentence: str) -> bool:
        """What this sentence turns round is no decision any more; whether there was such a thing."""
        if not _REVERSED.search(sentence) or not self.decisions:
            return False
        best = max(self.decisions, key=lambda note: (_near(sentence, note.text), note.at))
        if _near(sentence, best.text) >= _SAME:
            self.decisions.remove(best)
            self.reversed.append(best)
            return True
        return False


def _near(one: str, other: str) -> float:
    return overlap(one, other) + 0.15 * bool(names(one) & names(other)) + 0.15 * puts_aside(one, other)


def _keep(notes: list[Note], note: Note) -> Note:
    for old in [old for old in notes if same(old.text, note.text)]:
        notes.remove(old)
    notes.append(note)
    del notes[:-_MOST]
    return note
