import pytest

from batonpass import agents


def test_every_agent_is_known_by_its_own_name() -> None:
    assert agents.names() == ("claude", "codex", "gemini", "scripted", "understudy")


def test_an_unknown_agent_is_an_error_that_names_the_known_ones() -> None:
    with pytest.raises(
        agents.UnknownAgent, match="no agent called 'clod'; choose one of: claude, codex, gemini, scripted"
    ):
        agents.get("clod")
