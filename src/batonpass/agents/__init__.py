"""The agents that Baton can drive, by name. Each is loaded only when it is asked for."""

from importlib import import_module

from batonpass.agents.base import Agent

_AGENTS = {
    "claude": "batonpass.agents.claude:Claude",
    "codex": "batonpass.agents.codex:Codex",
    "scripted": "batonpass.agents.scripted:Scripted",
}


class UnknownAgent(LookupError):
    """No agent of that name; `name` is what was asked for."""

    def __init__(self, name: str) -> None:
        super().__init__(f"There is no agent called {name!r}; choose one of: {', '.join(names())}.")
        self.name = name


def names() -> tuple[str, ...]:
    """Every name that `get` accepts."""
    return tuple(_AGENTS)


def get(name: str) -> Agent:
    """The agent of that name. Raises UnknownAgent."""
    try:
        module, _, attribute = _AGENTS[name].partition(":")
    except KeyError:
        raise UnknownAgent(name) from None
    agent: Agent = getattr(import_module(module), attribute)()
    return agent
