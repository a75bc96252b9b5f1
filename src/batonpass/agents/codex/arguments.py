"""The user's own command line for Codex, taken apart so that a restart can repeat it."""

from collections.abc import Sequence
from dataclasses import dataclass

from batonpass.agents.base import LaunchError
from batonpass.agents.options import once

_VALUE = {
    "-c": "--config", "--config": "--config", "--enable": "--enable", "--disable": "--disable",
    "--remote": "--remote", "--remote-auth-token-env": "--remote-auth-token-env", "-i": "--image",
    "--image": "--image", "-m": "--model", "--model": "--model", "--local-provider": "--local-provider",
    "-p": "--profile", "--profile": "--profile", "-s": "--sandbox", "--sandbox": "--sandbox", "-C": "--cd",
    "--cd": "--cd", "--add-dir": "--add-dir", "-a": "--ask-for-approval", "--ask-for-approval": "--ask-for-approval",
}  # fmt: skip
_SINGLE = frozenset(_VALUE.values()) - {"--config", "--enable", "--disable", "--image", "--add-dir"}
_CONVERSATION = ("resume", "fork")
_PICKING = frozenset({"--last", "--all", "--include-non-interactive"})  # of these commands alone
_OTHER_COMMANDS = frozenset(
    [
        "agents",
        "exec",
        "e",
        "review",
        "login",
        "logout",
        "mcp",
        "plugin",
        "app-server",
        "remote-control",
        "completion",
        "update",
        "doctor",
        "sandbox",
        "debug",
        "apply",
        "a",
        "queue",
        "archive",
        "delete",
        "migrate-rollouts",
        "migrate-nfs-db",
        "unarchive",
        "cloud",
        "exec-server",
        "features",
        "help",
    ]
)


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
    """Options that hold for every start, the command that chooses a conversation, and the first prompt."""

    options: tuple[Option, ...]
    command: tuple[str, ...]  # resume or fork with what belongs to it; empty for a new conversation
    prompt: str | None

    def values(self, name: str) -> list[str]:
        return [option.value for option in self.options if option.name == name]


def parse(args: Sequence[str]) -> Arguments:
    """Take a command line apart. Raises LaunchError for a command that begins no interactive session.

    >>> parse(["-m", "gpt-5.5", "resume", "--last", "go on"])
    ... # doctest: +NORMALIZE_WHITESPACE
    Arguments(options=(Option(name='--model', tokens=('-m', 'gpt-5.5')),),
      command=('resume', '--last'), prompt='go on')
    """
    options: list[Option] = []
    picked: list[str] = []
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
        elif token in _PICKING:
            picked.append(token)
        elif name and "=" not in token and rest:
            options.append(Option(name, (token, rest.pop(0))))
        else:
            options.append(Option(name or token, (token,)))
    return _arranged(once(options, _SINGLE), picked, words)


def _arranged(options: tuple[Option, ...], picked: list[str], words: list[str]) -> Arguments:
    command: tuple[str, ...] = ()
    if words and words[0] in _OTHER_COMMANDS:
        raise LaunchError(f"`codex {words[0]}` begins no session that Baton could watch; run it without Baton.")
    if words and words[0] in _CONVERSATION:
        verb, *words = words
        chosen = [] if "--last" in picked else words[:1]
        words = words[len(chosen) :]
        command = (verb, *picked, *chosen)
    return Arguments(options, command, " ".join(words) or None)
