"""The user's own command line for Gemini CLI, taken apart so that a restart can repeat it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from batonpass.agents.base import LaunchError
from batonpass.agents.options import once

_VALUE = {
    "-m": "--model", "--model": "--model", "-p": "--prompt", "--prompt": "--prompt", "-i": "--prompt-interactive",
    "--prompt-interactive": "--prompt-interactive", "-w": "--worktree", "--worktree": "--worktree",
    "--approval-mode": "--approval-mode", "--policy": "--policy", "--admin-policy": "--admin-policy",
    "--allowed-mcp-server-names": "--allowed-mcp-server-names", "--allowed-tools": "--allowed-tools",
    "-e": "--extensions", "--extensions": "--extensions", "-r": "--resume", "--resume": "--resume",
    "--session-file": "--session-file", "--session-id": "--session-id", "--delete-session": "--delete-session",
    "--include-directories": "--include-directories", "-o": "--output-format", "--output-format": "--output-format",
}  # fmt: skip
_MANY = frozenset(
    {"--policy", "--admin-policy", "--allowed-mcp-server-names", "--allowed-tools", "--extensions"}
    | {"--include-directories"}
)
_SINGLE = frozenset(_VALUE.values()) - _MANY
_MAY_STAND_ALONE = frozenset({"--resume", "--worktree"})
_CONVERSATION = frozenset({"--resume", "--session-id", "--session-file"})
_NO_SESSION = frozenset(
    {"--prompt", "--output-format", "--delete-session", "--list-sessions", "-l", "--list-extensions", "--acp"}
    | {"--experimental-acp", "-h", "--help", "-v", "--version"}
)
_COMMANDS = frozenset({"mcp", "extensions", "extension", "skills", "skill", "hooks", "hook", "gemma"})
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class Option:
    """One option with its value, as the user wrote it."""

    name: str  # the long form
    tokens: tuple[str, ...]

    @property
    def value(self) -> str:
        return self.tokens[1] if len(self.tokens) > 1 else self.tokens[0].partition("=")[2]


@dataclass(frozen=True, slots=True)
class Arguments:
    """Options that hold for every start, those that choose a conversation, and the first prompt."""

    options: tuple[Option, ...]
    conversation: tuple[Option, ...]
    prompt: str | None

    def values(self, name: str) -> list[str]:
        return [option.value for option in self.options if option.name == name]

    @property
    def resumes(self) -> bool:
        """Whether the user takes up a conversation again, however it was named."""
        return any(option.name == "--resume" for option in self.conversation)

    @property
    def resumed(self) -> str | None:
        """The id of the conversation that the user takes up again, where it was given by its id."""
        given = [option.value for option in self.conversation if option.name == "--resume"]
        return given[-1] if given and _ID.fullmatch(given[-1]) else None

    @property
    def named(self) -> str | None:
        """The id that the conversation has for certain."""
        given = [option.value for option in self.conversation if option.name == "--session-id"]
        return given[-1] if given else self.resumed


def parse(args: Sequence[str]) -> Arguments:
    """Take a command line apart. Raises LaunchError for one that begins no interactive session.

    >>> parse(["-m", "gemini-2.5-pro", "-r", "please", "go on"])
    ... # doctest: +NORMALIZE_WHITESPACE
    Arguments(options=(Option(name='--model', tokens=('-m', 'gemini-2.5-pro')),),
      conversation=(Option(name='--resume', tokens=('-r', 'please')),), prompt='go on')
    """
    options: list[Option] = []
    words: list[str] = []
    rest = list(args)
    while rest:
        token = rest.pop(0)
        if token == "--":
            words += rest
            break
        name = _VALUE.get(token.partition("=")[0])
        if not token.startswith("-") or token == "-":
            words.append(token)
        elif name and "=" not in token and rest and not (name in _MAY_STAND_ALONE and rest[0].startswith("-")):
            options.append(Option(name, (token, rest.pop(0))))
        else:
            options.append(Option(name or token, (token,)))
    return _arranged(once(options, _SINGLE), words)


def _arranged(options: Sequence[Option], words: list[str]) -> Arguments:
    other = (
        words[0] if words and words[0] in _COMMANDS else next((o.name for o in options if o.name in _NO_SESSION), None)
    )
    if other is not None:
        raise LaunchError(f"`gemini {other}` begins no session that Baton could watch; run it without Baton.")
    asked = [option.value for option in options if option.name == "--prompt-interactive"]
    own = tuple(o for o in options if o.name not in _CONVERSATION and o.name != "--prompt-interactive")
    return Arguments(
        own, tuple(o for o in options if o.name in _CONVERSATION), asked[-1] if asked else " ".join(words) or None
    )
