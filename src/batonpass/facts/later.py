"""What was said later about the same thing: shown beside it where nobody can tell by rule whether it still holds."""

from collections import Counter
from collections.abc import Sequence

from batonpass.facts.model import Facts, Note
from batonpass.facts.wording import names, overlap, sentences, stems

_NEAR = 0.5
_RARE = 4  # sentences of a session that have a word in them: beyond, it says little about what is meant


class Later:
    """The words of a session by when they were said; tells what came after a note and is about the same."""

    def __init__(self, facts: Facts) -> None:
        heard = [Note(prompt.at, text, "user") for prompt in facts.prompts for text in sentences(prompt.text)]
        self._user = [note for note in heard if not note.text.endswith("?")]
        self._all = sorted([*self._user, *facts.remarks, *facts.failures], key=lambda note: note.at)
        self._count = Counter(stem for note in self._all for stem in stems(note.text))
        self._known = {note.text for note in (*facts.constraints, *facts.decisions)}

    def of_user(self, note: Note) -> str | None:
        """The user's last sentence about what this note is about; None when there is none."""
        return self._last(note, self._user)

    def of_anyone(self, note: Note) -> str | None:
        """The last sentence of user or agent about it."""
        return self._last(note, self._all)

    def _last(self, note: Note, said: Sequence[Note]) -> str | None:
        if not note.at:
            return None
        after = (other for other in reversed(said) if other.at > note.at and other.text not in self._known)
        return next((other.text for other in after if other.text not in note.text and self._same(note, other)), None)

    def _same(self, note: Note, other: Note) -> bool:
        shared = stems(note.text) & stems(other.text)
        rare = [stem for stem in shared if self._count[stem] <= _RARE]
        return overlap(note.text, other.text) >= _NEAR and (len(rare) > 1 or bool(names(note.text) & names(other.text)))


def beside(text: str, later: str | None) -> str:
    """A sentence with the later one."""
    return f"{text} (said later: {later})" if later else text
