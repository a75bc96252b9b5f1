"""Facts: what a machine can know without asking the agent."""

from batonpass.facts.gather import Followed, gather
from batonpass.facts.model import (
    Change,
    Command,
    Commit,
    Epic,
    Facts,
    GitFacts,
    Note,
    OpenItem,
    Reference,
    Subagent,
    Todo,
    Utterance,
    Value,
)

__all__ = [
    "Change", "Command", "Commit", "Epic", "Facts", "Followed", "GitFacts", "Note", "OpenItem", "Reference",
    "Subagent", "Todo", "Utterance", "Value", "gather",
]  # fmt: skip
