"""Codex's arguments as wishes, and wishes as its arguments."""

from collections.abc import Mapping, Sequence

from batonpass.agents.codex.arguments import parse
from batonpass.agents.wishes import Approval, Size, Wishes, repeated, size_of

_SIZES = {"nano": Size.SMALL, "mini": Size.SMALL, "gpt": Size.LARGE}
_ALL = "--dangerously-bypass-approvals-and-sandbox"
_FLAGS = {
    Approval.PLAN: ("--sandbox", "read-only", "--ask-for-approval", "on-request"),
    Approval.ASK: (),
    Approval.EDITS: ("--sandbox", "workspace-write", "--ask-for-approval", "on-request"),
    Approval.ALL: (_ALL,),
}


def wishes(args: Sequence[str], model: str | None, mode: str | None) -> Wishes:
    given = parse(args)
    named = [*given.values("--model"), *([model] if model else [])]
    return Wishes(
        size_of(named[-1] if named else None, _SIZES),
        _approval(_last(given.values("--sandbox")), _last(given.values("--ask-for-approval")), given.values(_ALL)),
        tuple(given.values("--add-dir")),
    )


def _approval(sandbox: str | None, asking: str | None, without_any: Sequence[str]) -> Approval | None:
    """What it may do is the sandbox's word; that it never asks widens nothing inside of one."""
    if without_any or (sandbox == "danger-full-access" and asking == "never"):
        return Approval.ALL
    if sandbox == "read-only":
        return Approval.PLAN
    if sandbox == "workspace-write":
        return Approval.EDITS
    return Approval.ASK if sandbox or asking else None


def _last(values: Sequence[str]) -> str | None:
    return values[-1] if values else None


def arguments(wanted: Wishes, models: Mapping[str, str]) -> tuple[str, ...]:
    """Without a model of the user's choice for that class, Codex takes its own default."""
    model = models.get(wanted.size) if wanted.size else None
    return (
        *(("--model", model) if model else ()),
        *(_FLAGS[wanted.approval] if wanted.approval else ()),
        *repeated("--add-dir", wanted.folders),
    )
