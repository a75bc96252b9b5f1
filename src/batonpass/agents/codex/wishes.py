"""Codex's arguments as wishes, and wishes as its arguments."""

import re
from collections.abc import Mapping, Sequence

from batonpass.agents.codex.arguments import Arguments, Option, parse
from batonpass.agents.wishes import Approval, Size, Wishes, repeated, size_of

_SIZES = {"nano": Size.SMALL, "mini": Size.SMALL, "gpt": Size.LARGE}
_ALL = "--dangerously-bypass-approvals-and-sandbox"
_FLAGS = {
    Approval.PLAN: ("--sandbox", "read-only", "--ask-for-approval", "on-request"),
    Approval.ASK: (),
    Approval.EDITS: ("--sandbox", "workspace-write", "--ask-for-approval", "on-request"),
    Approval.ALL: (_ALL,),
}
_REVIEWED = "--approve-for-me"  # by a model, within the workspace
_APPROVING = frozenset({"--sandbox", "--ask-for-approval", _ALL, _REVIEWED})
_SETTINGS = ("sandbox_mode", "approval_policy")
_REVIEWER, _PERSON, _MODEL = "approvals_reviewer", "user", "auto_review"
_PROFILE = "default_permissions"
_SANDBOXES = {":read-only": "read-only", ":workspace": "workspace-write", ":danger-full-access": "danger-full-access"}
_ALWAYS = "untrusted"  # asks about all but what only reads
_POLICIES = (_ALWAYS, "on-request", "never")
_MODE = re.compile(rf"({'|'.join(_POLICIES)}) ({_PERSON}|{_MODEL}) ([\w:.-]+)")


def wishes(args: Sequence[str], model: str | None, mode: str | None) -> Wishes:
    given = parse(args)
    named = [*given.values("--model"), *([model] if model else [])]
    sandbox, asking = (
        _last([*_set(given, setting), *given.values(flag)])
        for setting, flag in zip(_SETTINGS, ("--sandbox", "--ask-for-approval"), strict=True)
    )
    if given.values(_REVIEWED):
        sandbox = "workspace-write"
    without_any = given.values(_ALL)
    if chosen := _MODE.fullmatch(mode or ""):
        sandbox, asking, without_any = _SANDBOXES.get(chosen[3]), chosen[1], []
    return Wishes(
        size_of(named[-1] if named else None, _SIZES),
        _approval(sandbox, asking, without_any),
        tuple(given.values("--add-dir")),
    )


def mode_of(settings: Mapping[str, object]) -> str | None:
    """What the session may do by the settings in its record; None where they name no profile, as flags do not.

    A policy or a reviewer that Baton does not know becomes a question to a person, which lets nothing through, and a
    profile whose name cannot be repeated becomes the narrowest one.

    >>> mode_of({"approval_policy": "never", "active_permission_profile": {"id": ":danger-full-access"}})
    'never user :danger-full-access'
    """
    active, policy = settings.get("active_permission_profile"), settings.get("approval_policy")
    if not isinstance(active, dict):
        return None
    asking = policy if policy in _POLICIES else _ALWAYS
    reviewer = _MODEL if settings.get(_REVIEWER) == _MODEL else _PERSON
    mode = f"{asking} {reviewer} {active.get('id')}"
    return mode if _MODE.fullmatch(mode) else f"{_ALWAYS} {_PERSON} :read-only"


def as_left(args: Arguments, mode: str) -> Arguments:
    """These arguments with what its user chose since; as they are where that is not told."""
    chosen = _MODE.fullmatch(mode)
    if chosen is None:
        return args
    asking, reviewer, profile = chosen.groups()
    said = {"approval_policy": asking, _REVIEWER: reviewer, _PROFILE: profile}
    flags = (word for name, value in said.items() for word in ("-c", f'{name}="{value}"'))
    return Arguments((*_unapproved(args), *parse(tuple(flags)).options), args.command, args.prompt)


def _set(given: Arguments, setting: str) -> list[str]:
    """What `-c` says of a setting."""
    pairs = (value.partition("=") for value in given.values("--config"))
    return [value.strip().strip("\"'") for name, _, value in pairs if name.strip() == setting]


def _approval(sandbox: str | None, asking: str | None, without_any: Sequence[str]) -> Approval | None:
    """What it may do is the sandbox's word; that it never asks widens nothing inside of one."""
    if without_any or (sandbox == "danger-full-access" and asking == "never"):
        return Approval.ALL
    if sandbox == "read-only":
        return Approval.PLAN
    if sandbox == "workspace-write" and asking != _ALWAYS:
        return Approval.EDITS
    return Approval.ASK if sandbox or asking else None


def approved(args: Arguments, approval: Approval) -> Arguments:
    """These arguments with this approval in place of their own, also the default: settings may say another.

    One who asks may read, and must ask for the rest.
    """
    said = _FLAGS[approval] or _FLAGS[Approval.PLAN]
    return Arguments(
        (*_unapproved(args), *parse((*said, *_reviewer(args, approval))).options), args.command, args.prompt
    )


def _reviewer(args: Arguments, approval: Approval) -> tuple[str, ...]:
    """Who is asked, said outright: settings, and a conversation that is resumed, may name a model.

    A model that the user chose for that stays only where it was asked within the workspace; else it could let
    through what a person was to be asked about.
    """
    if approval is Approval.ALL:
        return ()  # nobody is
    chosen = args.values(_REVIEWED) or _last(_set(args, _REVIEWER)) not in (None, _PERSON)
    who = _MODEL if chosen and approval is Approval.EDITS else _PERSON
    return ("-c", f'{_REVIEWER}="{who}"')


def _unapproved(args: Arguments) -> list[Option]:
    """The options that say nothing of approval."""
    return [o for o in args.options if o.name not in _APPROVING and not _sets_approval(o.name, o.value)]


def _sets_approval(name: str, value: str) -> bool:
    return name == "--config" and value.partition("=")[0].strip() in (*_SETTINGS, _REVIEWER, _PROFILE)


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
