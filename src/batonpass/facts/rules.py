"""What the user demanded, in the user's words, and what was taken back since."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from batonpass.facts.conversation import is_batons
from batonpass.facts.model import Note
from batonpass.facts.wording import names, overlap, puts_aside, renumbered, same, sentences, stems
from batonpass.transcripts.events import Event, Origin, Prompted

_RULE = re.compile(
    r"\b(?:must(?:n't)?|never|always|don'?t|do not|only|cannot|can'?t|may not|shall|should(?:n't)?|has to|have to"
    r"|needs? to|avoid|without|ensure|make sure|remember|prefer|keep(?! \w+ing\b)|stick (?:to|with)|stays?|remains?"
    r"|leave .{1,60} (?:alone|as|untouched|out|to (?:me|us))|no (?:more|less|fewer|later|longer) than"
    r"|at (?:most|least)|off[- ]limits|forbidden|(?:not|n't) allowed|required?|hands off|refrain|frozen|not to"
    r"|under no circumstances|limit(?:ed)? to|instead of|rather than|by default|from now on|whatever you do"
    r"|important|is fixed|exactly|unless|every|each|everywhere|insists?|demands?|mandatory|prohibited|banned"
    r"|read-only|rather (?:you|we) did ?n.t)\b"
    r"|^(?:please )?(?:no|use|write|run|name|target|put|treat|assume|follow|pin|skip|ask|commit|stop|wait|support)\b"
    r"|^(?:everything|every|each|all|any|nothing|nobody|none)\b"
    r"|,? not [`\w]+[\w.` -]*$",
    re.IGNORECASE,
)
_STRICT = re.compile(
    r"\b(?:must|never|always|don'?t|do not|only"
    r"|no)\b",
    re.IGNORECASE,
)  # one word more is enough
_QUESTION = re.compile(r"\?[\"')]*$")
_POLITE = re.compile(r"^(?:please[, ]+)?(?:can|could|would|will) you\b", re.IGNORECASE)
_NARRATED = re.compile(
    r"^(?:i|we|he|she|they) (?:never|only|always|must (?:say|admit|confess)"
    r"|don'?t (?:know|see|think|"
    r"remember|understand|mind|care)|can'?t (?:tell|see|remember|wait))\b",
    re.IGNORECASE,
)
_TAKES_BACK = re.compile(
    r"\b(?:forget|scratch|never ?mind|disregard|ignore (?:what|my|the (?:rule|request|constraint))"
    r"|drop the|lift(?:ed|ing)?"
    r"|withdraw|revoke[ds]?|take (?:that |it )?back|scrap|call off|called off|is off|no longer|any ?more"
    r"|no need to"
    r"|(?:is|are|was|were)n'?t needed|is history|obsolete|does ?n'?t (?:apply|matter|hold)|is over|is gone|void)\b",
    re.IGNORECASE,
)
_ALLOWS = re.compile(
    r"\b(?:you (?:may|can|are allowed|are free)|(?:is|are|it's|that's) (?:now |also )?(?:ok(?:ay)?|fine"
    r"|allowed|permitted)"
    r"|feel free|go ahead|after all|is (?:lifted|gone|void)|free to)\b",
    re.IGNORECASE,
)
_CHANGES = re.compile(
    r"\b(?:instead|from now on|actually|change of plans?|chang(?:ed|ing) my mind|rather than"
    r"|switch(?:ed)? (?:to|from)"
    r"|now|these days|from today|as of|make (?:that|it)|correction|on second thoughts?|update|not .{1,40} any ?more"
    r"|supersedes?|replaces?)\b",
    re.IGNORECASE,
)
_ADDS = re.compile(r"\b(?:also|too|as well|in addition|additionally|besides|plus|likewise)\b", re.IGNORECASE)
_ABOUT_BEFORE = frozenset({"rule", "const", "said", "earli", "reque", "requi", "restr", "befor", "thing", "last"})
_SAME = 0.4
_REPLACED = 0.5


@dataclass(frozen=True, slots=True)
class _Turn:
    """A sentence that takes back or replaces what was said before it."""

    at: float
    text: str
    replaces: bool  # it says what holds instead


class Rules:
    """Sees events one by one; holds what the user demands now, and what no longer holds."""

    def __init__(self) -> None:
        self.current: list[Note] = []
        self.revoked: list[Note] = []
        self._turns: list[_Turn] = []

    def see(self, event: Event) -> None:
        if not isinstance(event, Prompted) or event.origin is not Origin.HUMAN or is_batons(event.text):
            return
        for sentence in sentences(event.text):
            self._hear(event.at, sentence)

    def inherit(self, earlier: Iterable[Note]) -> tuple[tuple[Note, ...], tuple[Note, ...]]:
        """What holds and what does not, when these notes held before the first event."""
        held, gone = list(earlier), list[Note]()
        for turn in self._turns:
            if (old := _meant(turn, held, self.current)) is not None:
                held.remove(old)
                gone.append(old)
        fresh = [note for note in held if not any(overlap(note.text, now.text) > 0.8 for now in self.current)]
        return (*fresh, *self.current), (*gone, *self.revoked)

    def _hear(self, at: float, sentence: str) -> None:
        asks = bool(_QUESTION.search(sentence)) and not _POLITE.match(sentence)
        if asks or _NARRATED.match(sentence):
            return
        adds = bool(_ADDS.search(sentence))
        backs, allows = bool(_TAKES_BACK.search(sentence)), bool(_ALLOWS.search(sentence))
        changes = bool(_CHANGES.search(sentence)) or any(_other_number(sentence, note) for note in self.current)
        is_rule = bool(_RULE.search(sentence)) or allows
        if (backs or allows or changes) and not (adds and not backs):
            turn = _Turn(at, sentence, replaces=not (backs or allows))
            self._turns.append(turn)
            if (old := _meant(turn, self.current)) is not None:
                self.current.remove(old)
                self.revoked.append(old)
                is_rule = allows or changes or (is_rule and not backs)
            elif backs and not stems(sentence) - _ABOUT_BEFORE:
                is_rule = False
        if is_rule and (len(stems(sentence)) > 1 or names(sentence) or _STRICT.search(sentence)):
            self._add(Note(at, sentence, "user"))

    def _add(self, note: Note) -> None:
        """A rule said twice is one rule, in its latest words."""
        for old in [old for old in self.current if same(old.text, note.text)]:
            self.current.remove(old)
        self.current.append(note)


def _other_number(sentence: str, note: Note) -> bool:
    return renumbered(sentence, note.text) and overlap(sentence, note.text) >= _REPLACED


def _meant(turn: _Turn, notes: list[Note], newer: Iterable[Note] = ()) -> Note | None:
    """The one rule that a sentence takes back; None when it is about none of them."""
    about = stems(turn.text) - _ABOUT_BEFORE
    if not about:
        return notes[-1] if notes and not list(newer) else None
    common = Counter(stem for note in notes for stem in stems(note.text))
    scored = [(_score(turn, note, common), n, note) for n, note in enumerate(notes)]
    best = max(scored, default=(0.0, 0, None), key=lambda each: each[:2])
    return best[2] if best[0] >= (_REPLACED if turn.replaces else _SAME) else None


def _score(turn: _Turn, note: Note, common: Counter[str]) -> float:
    score = overlap(turn.text, note.text)
    if turn.text == note.text:
        return 0.0
    if sum(common[stem] == 1 for stem in stems(turn.text) & stems(note.text)) > 1:
        score += 0.1  # two words that no other rule has
    if puts_aside(turn.text, note.text):
        score += 0.25
    if names(turn.text) & names(note.text):
        score += 0.2
    if renumbered(turn.text, note.text):
        score += 0.3
    return score
