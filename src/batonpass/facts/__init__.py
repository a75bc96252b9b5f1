"""Facts: what a machine can know without asking the agent."""

from batonpass.facts.gather import gather
from batonpass.facts.model import Change, Command, Commit, Epic, Facts, GitFacts, Todo, Utterance

__all__ = ["Change", "Command", "Commit", "Epic", "Facts", "GitFacts", "Todo", "Utterance", "gather"]
