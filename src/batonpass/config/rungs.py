"""The ladder that a configuration asks for: a preset or the user's own, with its rungs moved."""

from collections.abc import Iterator
from dataclasses import replace

from batonpass.config.problems import KeyPath, nearest
from batonpass.config.schema import CUSTOM, RungSetting, Settings
from batonpass.ladder import PRESETS, Action, Ladder, Rung

INTERACTIVE = "graduated"
HEADLESS = "staged"
_RUNGS: KeyPath = ("ladder", "rungs")


def build(settings: Settings, name: str) -> Ladder:
    """The ladder `name` as these settings change it: sizes and reminders, then single rungs, then places.

    The places come last because they move the rungs of whatever ladder is active.
    """
    if name == CUSTOM:
        ladder = Ladder(CUSTOM, tuple(_rung(setting) for setting in settings.ladder.rungs))
    else:
        changes = {setting.zone: setting for setting in settings.ladder.rungs if not _own(settings)}
        rungs = (_sized(rung, settings) for rung in PRESETS[name].rungs)
        ladder = Ladder(name, tuple(_changed(rung, changes.get(rung.zone)) for rung in rungs))
    return replace(_placed(ladder, settings), enabled=settings.enabled)


def faults(settings: Settings) -> Iterator[tuple[KeyPath, str, str | None]]:
    """What is wrong with the ladder's settings as a whole: where, what, and what was probably meant."""
    rungs = settings.ladder.rungs
    zones = [rung.zone for rung in rungs]
    for index, zone in enumerate(zones):
        if zone in zones[:index]:
            yield (*_RUNGS, index, "zone"), f"the zone '{zone}' is given twice", None
    yield from _custom_faults(rungs) if _own(settings) else _preset_faults(settings)


def _custom_faults(rungs: tuple[RungSetting, ...]) -> Iterator[tuple[KeyPath, str, str | None]]:
    for index, rung in enumerate(rungs):
        if rung.percent is None and rung.tokens is None:
            yield (*_RUNGS, index), f"the zone '{rung.zone}' needs percent or tokens", None
        if rung.actions is None:
            yield (*_RUNGS, index), f"the zone '{rung.zone}' needs actions", None
    if not any({Action.HAND_OFF, Action.FORCE} & set(rung.actions or ()) for rung in rungs):
        yield _RUNGS, "a custom ladder needs a rung with the action hand_off or force", None


def _preset_faults(settings: Settings) -> Iterator[tuple[KeyPath, str, str | None]]:
    names = [settings.ladder.preset] if settings.ladder.preset else [INTERACTIVE, HEADLESS]
    known = list(dict.fromkeys(rung.zone for name in names for rung in PRESETS[name].rungs))
    for index, rung in enumerate(settings.ladder.rungs):
        if rung.zone not in known:
            message = f"'{rung.zone}' is no zone of the ladder {' or '.join(names)}: {', '.join(known)}"
            yield (*_RUNGS, index, "zone"), message, nearest(rung.zone, known)


def _own(settings: Settings) -> bool:
    return settings.ladder.preset == CUSTOM


def _rung(setting: RungSetting) -> Rung:
    every = setting.every_minutes * 60 if setting.every_minutes is not None else None
    actions = setting.actions or ()
    return Rung(setting.percent, setting.tokens, setting.zone, actions, setting.admit, every)


def _changed(rung: Rung, change: RungSetting | None) -> Rung:
    if change is None:
        return rung
    if change.percent is not None or change.tokens is not None:
        rung = replace(rung, percent=change.percent, tokens=change.tokens)
    if change.actions is not None:
        rung = replace(rung, actions=change.actions)
    if change.admit is not None:
        rung = replace(rung, admit=change.admit)
    return replace(rung, every=change.every_minutes * 60) if change.every_minutes is not None else rung


def _sized(rung: Rung, settings: Settings) -> Rung:
    sizes = {"warning": settings.small_task_tokens, "critical": settings.tiny_task_tokens}
    if rung.admit is not None and rung.zone in sizes:
        rung = replace(rung, admit=sizes[rung.zone])
    return replace(rung, every=settings.reminder_minutes * 60) if rung.every is not None else rung


def _placed(ladder: Ladder, settings: Settings) -> Ladder:
    if settings.notify_user_at is not None:
        ladder = ladder.moved(Action.WARN, "warning", percent=settings.notify_user_at)
    if settings.remind_at is not None:
        ladder = ladder.moved(Action.NUDGE, "reminder", percent=settings.remind_at)
    due, tokens = settings.threshold, settings.context_threshold
    if due is None and tokens is None:
        return ladder
    ladder = ladder.moved(Action.HAND_OFF, "mandatory", percent=due, tokens=tokens)
    return _force_after(ladder, due) if due is not None else ladder


def _force_after(ladder: Ladder, due: float) -> Ladder:
    """Force only after the handoff was asked for: a rung at or below it goes half-way to the end."""
    return replace(
        ladder,
        rungs=tuple(
            replace(rung, percent=(due + 100) / 2)
            if Action.FORCE in rung.actions and rung.percent is not None and rung.percent <= due
            else rung
            for rung in ladder.rungs
        ),
    )
