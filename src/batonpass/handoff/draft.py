"""From facts to a document: without the agent, or around the agent's own words."""

from collections.abc import Sequence
from dataclasses import dataclass

from batonpass.facts.model import Facts
from batonpass.handoff.check import Gap
from batonpass.handoff.document import Handoff


@dataclass(frozen=True, slots=True)
class Meta:
    """What the header needs and the facts do not hold."""

    number: int
    previous: str | None
    created: float
    session: str
    agent: str
    agent_session: str | None
    project: str
    reason: str
    used: int | None = None
    usable: int | None = None
    window: int | None = None
    percent: float | None = None
    late_prompts: tuple[str, ...] = ()  # sent by the user after the agent had written its document
    checkpoint: str | None = None  # path of the full record


def from_facts(facts: Facts, meta: Meta) -> Handoff:
    """A complete document that needs no word of the agent."""
    raise NotImplementedError


def merge(agent_doc: Handoff, facts: Facts, gaps: Sequence[Gap], meta: Meta) -> Handoff:
    """The agent's prose, the recorded facts, and what the agent left out."""
    raise NotImplementedError
