"""The check: the agent's document against the facts, before anything is cleared."""

from collections.abc import Callable
from dataclasses import dataclass

from batonpass.facts.model import Facts
from batonpass.handoff.document import Handoff


@dataclass(frozen=True, slots=True)
class Gap:
    """One thing that the document leaves out. `message` can be put before the agent or a person as it is."""

    kind: str  # unreadable, short, template, section, placeholder, file
    subject: str
    message: str


def check(document: Handoff | None, facts: Facts, *, is_own: Callable[[str], bool]) -> tuple[Gap, ...]:
    """What is missing, in the order of the document; empty when nothing is."""
    raise NotImplementedError
