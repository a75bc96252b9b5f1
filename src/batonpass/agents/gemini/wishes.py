"""Gemini CLI's arguments as wishes, and wishes as its arguments."""

from collections.abc import Mapping, Sequence

from batonpass.agents.gemini.arguments import Arguments, parse
from batonpass.agents.wishes import Approval, Size, Wishes, repeated, size_of

_SIZES = {"lite": Size.SMALL, "flash": Size.MEDIUM, "pro": Size.LARGE}
_MODES = {"plan": Approval.PLAN, "default": Approval.ASK, "auto_edit": Approval.EDITS, "yolo": Approval.ALL}
_FLAGS = {approval: ("--approval-mode", mode) for mode, approval in _MODES.items()} | {Approval.ASK: ()}


def wishes(args: Sequence[str], model: str | None) -> Wishes:
    """What was asked for: the model in its record may be one that it chose for a single prompt."""
    given = parse(args)
    named = given.values("--model")
    return Wishes(
        size_of(named[-1] if named else model, _SIZES),
        _approval(given.values("--approval-mode"), {option.name for option in given.options}),
        tuple(folder for value in given.values("--include-directories") for folder in value.split(",")),
    )


def _approval(modes: Sequence[str], flags: set[str]) -> Approval | None:
    if flags & {"--yolo", "-y"}:
        return Approval.ALL
    return _MODES.get(modes[-1]) if modes else None


def approved(args: Arguments, approval: Approval) -> Arguments:
    """These arguments with this approval in place of their own, also the default: settings may say another."""
    kept = (option for option in args.options if option.name not in ("--approval-mode", "--yolo", "-y"))
    said = _FLAGS[approval] or ("--approval-mode", "default")
    return Arguments((*kept, *parse(said).options), args.conversation, args.prompt)


def arguments(wanted: Wishes, models: Mapping[str, str]) -> tuple[str, ...]:
    known = {Size.LARGE: "gemini-2.5-pro", Size.MEDIUM: "gemini-2.5-flash", Size.SMALL: "gemini-2.5-flash-lite"}
    model = (models.get(wanted.size) or known[wanted.size]) if wanted.size else None
    return (
        *(("--model", model) if model else ()),
        *(_FLAGS[wanted.approval] if wanted.approval else ()),
        *repeated("--include-directories", wanted.folders),
    )
