"""The user's own command line for opencode, taken apart so that a restart can repeat it."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from batonpass.agents.base import LaunchError
from batonpass.agents.options import once

PROGRAMS = ("opencode", "opencode.exe")
_VALUE = {
    "-m": "--model", "--model": "--model", "-s": "--session", "--session": "--session", "--prompt": "--prompt",
    "--agent": "--agent", "--port": "--port", "--hostname": "--hostname", "--mdns-domain": "--mdns-domain",
    "--cors": "--cors", "--log-level": "--log-level",
}  # fmt: skip
_SINGLE = frozenset(_VALUE.values()) - {"--cors"}
_CONVERSATION = frozenset({"--session", "--continue", "-c", "--fork", "--prompt"})  # they choose or begin one
_COMMANDS = frozenset({
    "acp", "agent", "attach", "auth", "completion", "console", "db", "debug", "export", "generate", "github", "import",
    "login", "logout", "mcp", "models", "plug", "plugin", "pr", "providers", "run", "serve", "session", "stats",
    "uninstall", "upgrade", "web", "workspace",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Option:
    """One option with its value, as the user wrote it."""

    name: str  # the long form
    tokens: tuple[str, ...]

    @property
    def value(self) -> str:
        return self.tokens[-1].removeprefix(f"{self.name}=")


@dataclass(frozen=True, slots=True)
class Arguments:
    """Options that hold for every start, those that choose the conversation, and the folder if one is named."""

    options: tuple[Option, ...]
    conversation: tuple[Option, ...]
    folder: str | None

    def value(self, name: str) -> str | None:
        return next((option.value for option in (*self.options, *self.conversation) if option.name == name), None)


def given(words: Sequence[str]) -> list[str]:
    """What follows the program's own name in a process's command line."""
    named = [n for n, word in enumerate(words[:2]) if os.path.basename(word) in PROGRAMS]
    return list(words[named[-1] + 1 :] if named else words)


def parse(args: Sequence[str]) -> Arguments:
    """Take a command line apart. Raises LaunchError for a command that begins no interactive session.

    >>> parse(["-m", "a/b", "-s", "ses_1", "--auto"])
    ... # doctest: +NORMALIZE_WHITESPACE
    Arguments(options=(Option(name='--model', tokens=('-m', 'a/b')), Option(name='--auto', tokens=('--auto',))),
      conversation=(Option(name='--session', tokens=('-s', 'ses_1')),), folder=None)
    """
    options: list[Option] = []
    words: list[str] = []
    rest = list(args)
    while rest:
        token = rest.pop(0)
        name = _VALUE.get(token.partition("=")[0])
        if token == "--":
            words += rest
            break
        if not token.startswith("-"):
            words.append(token)
        elif name and "=" not in token and rest:
            options.append(Option(name, (token, rest.pop(0))))
        else:
            options.append(Option(name or token.partition("=")[0], (token,)))
    if words and words[0] in _COMMANDS:
        raise LaunchError(f"`opencode {words[0]}` begins no session that Baton could watch; run it without Baton.")
    if any(option.name == "--mini" for option in options):
        raise LaunchError("opencode's minimal interface cannot be watched; start it without --mini.")
    given = once(options, _SINGLE)
    chosen = tuple(option for option in given if option.name in _CONVERSATION)
    return Arguments(tuple(o for o in given if o not in chosen), chosen, words[0] if words else None)
