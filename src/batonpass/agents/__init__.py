"""The agents that Baton can drive, by name. Each is loaded only when it is asked for."""

from importlib import import_module
from typing import Any

from batonpass.agents.base import Agent
from batonpass.agents.headless import Headless

_AGENTS = {
    "claude": "batonpass.agents.claude:Claude",
    "codex": "batonpass.agents.codex:Codex",
    "gemini": "batonpass.agents.gemini:Gemini",
    "opencode": "batonpass.agents.opencode:OpenCode",
    "scripted": "batonpass.agents.scripted:Scripted",
    "understudy": "batonpass.agents.scripted:Understudy",
}
_HEADLESS = {
    "claude": "batonpass.agents.claude.headless:ClaudeHeadless",
    "codex": "batonpass.agents.codex.headless:CodexHeadless",
    "gemini": "batonpass.agents.gemini.headless:GeminiHeadless",
    "opencode": "batonpass.agents.opencode.headless:OpenCodeHeadless",
    "scripted": "batonpass.agents.scripted.headless:ScriptedHeadless",
}
# Of the second tier: read, and run headless, but not supervised.
_EXPERIMENTAL = {
    "aider": "batonpass.agents.aider.headless:AiderHeadless",
    "copilot": "batonpass.agents.copilot.headless:CopilotHeadless",
    "qwen": "batonpass.agents.qwen.headless:QwenHeadless",
}


FIRST = next(iter(_AGENTS))  # the one that is started where nobody says which


class UnknownAgent(LookupError):
    """No agent of that name; `name` is what was asked for."""

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        super().__init__(f"There is no agent called {name!r}; choose one of: {', '.join(known)}.")
        self.name = name


def names() -> tuple[str, ...]:
    """Every name that `get` accepts."""
    return tuple(_AGENTS)


def headless_names() -> tuple[str, ...]:
    """Every name that `headless` accepts."""
    return (*_HEADLESS, *_EXPERIMENTAL)


def experimental_names() -> tuple[str, ...]:
    """Those among them that Baton only reads and runs headless, as far as that was tried."""
    return tuple(_EXPERIMENTAL)


def get(name: str) -> Agent:
    """The agent of that name. Raises UnknownAgent."""
    agent: Agent = _made(name, _AGENTS)
    return agent


def headless(name: str) -> Headless:
    """One headless run of the agent of that name. Raises UnknownAgent."""
    run: Headless = _made(name, {**_HEADLESS, **_EXPERIMENTAL})
    return run


def _made(name: str, known: dict[str, str]) -> Any:
    try:
        module, _, attribute = known[name].partition(":")
    except KeyError:
        raise UnknownAgent(name, tuple(known)) from None
    return getattr(import_module(module), attribute)()
