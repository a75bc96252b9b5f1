"""Claude Code's arguments as wishes, and wishes as its arguments."""

from collections.abc import Mapping, Sequence

from batonpass.agents.claude.arguments import Arguments, parse
from batonpass.agents.wishes import Approval, Size, Wishes, repeated, size_of

_SIZES = {"opus": Size.LARGE, "sonnet": Size.MEDIUM, "haiku": Size.SMALL}
_MODES = {
    "plan": Approval.PLAN,
    "default": Approval.ASK,
    "manual": Approval.ASK,
    "dontAsk": Approval.ASK,  # what it would ask for is refused
    "acceptEdits": Approval.EDITS,
    "auto": Approval.EDITS,
    "bypassPermissions": Approval.ALL,
}
SKIP, MAY_SKIP = "--dangerously-skip-permissions", "--allow-dangerously-skip-permissions"
_FLAGS = {
    Approval.PLAN: ("--permission-mode", "plan"),
    Approval.ASK: (),
    Approval.EDITS: ("--permission-mode", "acceptEdits"),
    Approval.ALL: (SKIP,),
}


def wishes(args: Sequence[str], model: str | None, mode: str | None) -> Wishes:
    given = parse(args)
    approval = _MODES.get(mode or given.value("--permission-mode") or "")
    if given.has(SKIP) and mode in (None, "bypassPermissions"):
        approval = Approval.ALL
    folders = tuple(word for option in given.options if option.name == "--add-dir" for word in _values(option.tokens))
    return Wishes(size_of(model or given.value("--model"), _SIZES), approval, folders)


def arguments(wanted: Wishes, models: Mapping[str, str]) -> tuple[str, ...]:
    known = {Size.LARGE: "opus", Size.MEDIUM: "sonnet", Size.SMALL: "haiku"}
    model = (models.get(wanted.size) or known[wanted.size]) if wanted.size else None
    return (
        *(("--model", model) if model else ()),
        *(_FLAGS[wanted.approval] if wanted.approval else ()),
        *repeated("--add-dir", wanted.folders),
    )


def approved(args: Arguments, approval: Approval) -> Arguments:
    """These arguments with this approval in place of their own, also the default: settings may say another.

    Who started it without any questions may go back to that by hand.
    """
    said = _FLAGS[approval] or ("--permission-mode", "default")
    still = (MAY_SKIP,) if args.has(SKIP) and approval is not Approval.ALL else ()
    added = parse((*still, *said)).options
    return Arguments((*args.without({"--permission-mode", SKIP}).options, *added), args.prompts)


def _values(tokens: Sequence[str]) -> Sequence[str]:
    first, *rest = tokens
    return rest or [first.partition("=")[2]]
