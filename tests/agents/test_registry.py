import pytest

from batonpass import agents
from batonpass.agents.base import Agent
from batonpass.agents.claude import Claude
from batonpass.agents.codex import Codex
from batonpass.agents.gemini import Gemini
from batonpass.agents.opencode import OpenCode
from batonpass.agents.scripted import Scripted

# Checked by mypy: whoever is driven has all that the protocol asks for.
EVERY: tuple[Agent, ...] = (Claude(), Codex(), Gemini(), OpenCode(), Scripted())


def test_every_agent_is_known_by_its_own_name() -> None:
    assert {agent.name for agent in EVERY} <= set(agents.names())
    assert agents.names() == ("claude", "codex", "gemini", "opencode", "scripted", "understudy")


def test_an_unknown_agent_is_an_error_that_names_the_known_ones() -> None:
    with pytest.raises(
        agents.UnknownAgent, match="no agent called 'clod'; choose one of: claude, codex, gemini, opencode, scripted"
    ):
        agents.get("clod")
