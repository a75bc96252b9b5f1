"""The user's own command line for Claude Code, taken apart so that a restart can repeat it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


def _names(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


_ONE = _names("""
    --agent --agents --append-system-prompt --append-system-prompt-file --autocompact --debug-file --effort
    --environment --fallback-model --input-format --json-schema --max-budget-usd --max-turns --model --name
    --output-format --permission-mode --permission-prompt-tool --permission-prompts --plugin-dir
    --plugin-url --remote-control-session-name-prefix --session-id --setting-sources --settings
    --system-prompt --system-prompt-file --system-prompt-snapshot
""")
_MANY = _names("""
    --add-dir --allowedTools --allowed-tools --betas --disallowedTools --disallowed-tools --file
    --mcp-config --tools
""")
_MAYBE = _names("""
    --cloud --debug --from-pr --prompt-suggestions --remote-control --resume --teleport --worktree
""")
_NONE = _names("""
    --allow-dangerously-skip-permissions --ax-screen-reader --background --bare --bg --brief --chrome
    --continue --dangerously-skip-permissions --desktop --disable-slash-commands
    --exclude-dynamic-system-prompt-sections --fork-session --forward-subagent-text --help --ide
    --include-hook-events --include-partial-messages --no-chrome --no-session-persistence --print
    --replay-user-messages --restricted --safe-mode --strict-mcp-config --tmux --verbose --version
""")
_SHORT = {
    "-c": "--continue",
    "-d": "--debug",
    "-h": "--help",
    "-n": "--name",
    "-p": "--print",
    "-r": "--resume",
    "-v": "--version",
    "-w": "--worktree",
}

CONVERSATION = _names("--resume --continue --session-id --fork-session --from-pr --teleport")


@dataclass(frozen=True, slots=True)
class Option:
    """One option with its values, as the user wrote it."""

    name: str  # the long form
    tokens: tuple[str, ...]

    @property
    def value(self) -> str | None:
        first, *rest = self.tokens
        if rest:
            return rest[0]
        _, equals, value = first.partition("=")
        return value if equals else None


@dataclass(frozen=True, slots=True)
class Arguments:
    options: tuple[Option, ...]
    prompts: tuple[str, ...]  # positional: the initial prompt

    def has(self, *names: str) -> bool:
        return any(option.name in names for option in self.options)

    def value(self, name: str) -> str | None:
        """The value of an option; the last one given counts."""
        return next((option.value for option in reversed(self.options) if option.name == name), None)

    def without(self, names: Iterable[str]) -> "Arguments":
        gone = frozenset(names)
        return Arguments(tuple(option for option in self.options if option.name not in gone), self.prompts)

    def tokens(self) -> list[str]:
        """The options as the program reads them, without the prompt."""
        return [token for option in self.options for token in option.tokens]


def parse(args: Sequence[str]) -> Arguments:
    """Take a command line apart by what the program's own help says of each option.

    >>> parse(["--model", "opus", "--allowedTools", "Read", "Bash", "--", "go on"])
    ... # doctest: +NORMALIZE_WHITESPACE
    Arguments(options=(Option(name='--model', tokens=('--model', 'opus')),
      Option(name='--allowedTools', tokens=('--allowedTools', 'Read', 'Bash'))), prompts=('go on',))
    """
    options: list[Option] = []
    prompts: list[str] = []
    index = 0
    while index < len(args):
        token = args[index]
        if token == "--":
            prompts += args[index + 1 :]
            break
        if not token.startswith("-") or token == "-":
            prompts.append(token)
            index += 1
            continue
        name = token.partition("=")[0]
        name = _SHORT.get(name, name)
        count = 0 if "=" in token else _values(name, args[index + 1 :])
        options.append(Option(name, tuple(args[index : index + 1 + count])))
        index += 1 + count
    return Arguments(tuple(options), tuple(prompts))


def _values(name: str, rest: Sequence[str]) -> int:
    """How many of the tokens that follow belong to the option."""
    if name in _ONE:
        return min(1, len(rest))
    bare = 0
    while bare < len(rest) and not rest[bare].startswith("-"):
        bare += 1
    if name in _MANY:
        return bare
    if name in _MAYBE:
        return min(1, bare)
    if name in _NONE:
        return 0
    # An option of a newer version: one bare word is taken for its value, a phrase for the prompt.
    return 1 if bare and " " not in rest[0] else 0
