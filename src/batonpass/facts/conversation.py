"""What people asked for, word for word, and what the agent said last."""

from collections import deque

from batonpass.delivery import tags_in
from batonpass.facts.model import Utterance
from batonpass.transcripts.events import Event, Origin, Prompted, Said

_LAST_TEXTS = 5


class Conversation:
    """Sees events one by one; holds every prompt of a person and the agent's last texts."""

    def __init__(self) -> None:
        self.prompts: list[Utterance] = []
        self.began: float | None = None  # the first event that has a time
        self._said: deque[Utterance] = deque(maxlen=_LAST_TEXTS)

    def see(self, event: Event) -> None:
        if self.began is None and event.at:
            self.began = event.at
        if isinstance(event, Prompted) and event.origin is Origin.HUMAN and not is_batons(event.text):
            self.prompts.append(Utterance(event.at, event.text))
        elif isinstance(event, Said) and event.text.strip():
            self._said.append(Utterance(event.at, event.text, "agent"))

    @property
    def said(self) -> tuple[Utterance, ...]:
        return tuple(self._said)


def is_batons(prompt: str) -> bool:
    """Whether Baton wrote this prompt: its tag comes first. A tag that a person quotes does not.

    >>> is_batons("[baton 7f3a91c2 ask 1] Write the handoff")
    True
    >>> is_batons("what is [baton 7f3a91c2 ask 1]?")
    False
    """
    tags = tags_in(prompt)
    return bool(tags) and prompt.lstrip().startswith(tags[0])
