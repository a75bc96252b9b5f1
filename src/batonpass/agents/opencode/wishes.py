"""opencode's arguments as wishes, and wishes as its arguments."""

from collections.abc import Mapping, Sequence

from batonpass.agents.opencode.arguments import Arguments, parse
from batonpass.agents.wishes import Approval, Size, Wishes, size_of

_SIZES = {
    "nano": Size.SMALL, "mini": Size.SMALL, "haiku": Size.SMALL, "flash": Size.SMALL, "sonnet": Size.MEDIUM,
    "opus": Size.LARGE, "pro": Size.LARGE, "gpt": Size.LARGE,
}  # fmt: skip
_ALL = ("--auto", "--yolo", "--dangerously-skip-permissions")
_FLAGS = {Approval.PLAN: ("--agent", "plan"), Approval.ALL: ("--auto",)}


def wishes(args: Sequence[str], model: str | None, mode: str | None) -> Wishes:
    given = parse(args)
    approval = None
    if any(option.name in _ALL for option in given.options):
        approval = Approval.ALL
    elif given.value("--agent") == "plan":
        approval = Approval.PLAN
    return Wishes(size_of(model or given.value("--model"), _SIZES), approval)


def approved(args: Arguments, approval: Approval) -> Arguments:
    """These arguments with this approval in place of their own; what it asks about is said in its environment."""
    gone = (*_ALL, "--agent") if approval is Approval.PLAN else _ALL
    kept = (option for option in args.options if option.name not in gone)
    return Arguments((*kept, *parse(_FLAGS.get(approval, ())).options), args.conversation, args.folder)


def arguments(wanted: Wishes, models: Mapping[str, str]) -> tuple[str, ...]:
    """Without a model of the user's choice for that class, opencode takes its own default; it edits unasked anyway."""
    model = models.get(wanted.size) if wanted.size else None
    return (*(("--model", model) if model else ()), *(_FLAGS.get(wanted.approval, ()) if wanted.approval else ()))
