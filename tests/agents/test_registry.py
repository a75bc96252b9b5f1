import pytest

from batonpass import agents
from batonpass.agents.base import Agent
from batonpass.agents.claude import Claude
from batonpass.agents.codex import Codex
from batonpass.agents.gemini import Gemini
from batonpass.agents.opencode import OpenCode
from batonpass.agents.scripted import Scripted

# Checked by mypy: whoever is driven has all that the protocol asks for. One that is added belongs here too.
EVERY: tuple[Agent, ...] = (Claude(), Codex(), Gemini(), OpenCode(), Scripted())


def test_every_agent_is_known_by_its_own_name() -> None:
    assert {agent.name for agent in EVERY} <= set(agents.names())
    assert {"claude", "codex", "gemini", "opencode", "scripted", "understudy"} <= set(agents.names())
    assert agents.FIRST == "claude"


def test_an_unknown_agent_is_an_error_that_names_the_known_ones() -> None:
    with pytest.raises(agents.UnknownAgent, match="no agent called 'clod'; choose one of: ") as unknown:
        agents.get("clod")
    assert set(agents.names()) == set(str(unknown.value).rstrip(".").partition("choose one of: ")[2].split(", "))
