"""The receipt: the successor's own statement, compared with the handoff. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from batonpass.facts.model import GitFacts
from batonpass.handoff.document import Handoff


@dataclass(frozen=True, slots=True)
class Expected:
    """What a true receipt must say."""

    branch: str | None
    required_files: frozenset[str]
    known_files: frozenset[str]
    constraints: frozenset[str]  # C ids
    open_items: frozenset[str]  # I and P ids
    next_steps: Mapping[str, str]  # N id to text
    task: str


def expected(handoff: Handoff, git: GitFacts | None) -> Expected:
    """What the successor of this handoff must know."""
    raise NotImplementedError


def find(text: str) -> dict[str, object] | None:
    """The first fenced JSON object with a `baton_receipt` in an answer."""
    raise NotImplementedError


def verify(receipt: Mapping[str, object], expected: Expected, cycle: str) -> tuple[str, ...]:
    """What is wrong with a receipt, one sentence each; empty when it is accepted."""
    raise NotImplementedError
