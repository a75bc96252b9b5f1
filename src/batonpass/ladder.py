"""The ladder: at what usage which action is due. Pure: facts in, a Decision out.

Rungs stand in order of severity, the mildest first. Their places on the scale need not be in that
order (a project may set the handoff below a preset's critical zone): the severest rung that has been
reached names the zone.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Literal

from batonpass.reading import Forecast, Reading

Status = Literal["ok", "warning", "critical"]

UNKNOWN = "unknown"
NORMAL = "normal"

# What the handoff's own turn needs, at the least: the ask, the document and the answer.
RESERVE = 15_000


class Action(StrEnum):
    """What a rung does, mildest first."""

    LOG = "log"
    WARN = "warn"
    RESTRICT = "restrict"
    NUDGE = "nudge"
    CHECKPOINT = "checkpoint"
    HAND_OFF = "hand_off"
    FORCE = "force"


_SEVERITY = {action: order for order, action in enumerate(Action)}
_STATUS: dict[Action, Status] = {
    Action.LOG: "ok",
    Action.WARN: "warning",
    Action.RESTRICT: "warning",
    Action.NUDGE: "critical",
    Action.CHECKPOINT: "critical",
    Action.HAND_OFF: "critical",
    Action.FORCE: "critical",
}


@dataclass(frozen=True, slots=True)
class Rung:
    """A place on the scale and what is due there; with both percent and tokens, whichever comes first.

    `admit` is the size below which new tasks may still start; `every` repeats a nudge, in seconds.
    """

    percent: float | None
    tokens: int | None
    zone: str
    actions: tuple[Action, ...]
    admit: int | None = None
    every: float | None = None

    def __post_init__(self) -> None:
        if self.percent is None and self.tokens is None:
            raise ValueError(f"the rung '{self.zone}' needs a percentage or a number of tokens")

    def place(self, usable: int) -> int:
        """Where it stands, in tokens. No rung lies above `usable`, where it would never be reached."""
        places = [usable]
        if self.percent is not None:
            # Rounded first, so that a float's last bit never moves a rung off its exact token.
            places.append(math.ceil(round(self.percent * usable / 100, 6)))
        if self.tokens is not None:
            places.append(self.tokens)
        return min(places)

    @property
    def severity(self) -> int:
        return max((_SEVERITY[action] for action in self.actions), default=0)


@dataclass(frozen=True, slots=True)
class Ladder:
    """Rungs, mildest first. A ladder that is not enabled tells zones and logs them, and does nothing else."""

    name: str
    rungs: tuple[Rung, ...]
    enabled: bool = True

    def first(self, action: Action) -> int | None:
        """The index of the mildest rung with this action."""
        return next((index for index, rung in enumerate(self.rungs) if action in rung.actions), None)

    def moved(self, action: Action, zone: str, *, percent: float | None, tokens: int | None = None) -> "Ladder":
        """The ladder with its first rung of that action somewhere else; added as `zone` where it has none."""
        rungs = list(self.rungs)
        index = self.first(action)
        if index is not None:
            rungs[index] = replace(rungs[index], percent=percent, tokens=tokens)
        else:
            milder = [rung for rung in rungs if rung.severity <= _SEVERITY[action]]
            admit = 0 if action is Action.HAND_OFF else None
            rungs.insert(len(milder), Rung(percent, tokens, zone, (action,), admit))
        return replace(self, rungs=tuple(rungs))


def _preset(name: str, *rungs: Rung) -> Ladder:
    return Ladder(name, rungs)


PRESETS: dict[str, Ladder] = {
    ladder.name: ladder
    for ladder in (
        _preset(
            "early",
            Rung(50, None, "warning", (Action.WARN,)),
            Rung(60, None, "reminder", (Action.NUDGE,)),
            Rung(70, None, "mandatory", (Action.HAND_OFF,), admit=0),
            Rung(90, None, "forced", (Action.FORCE,), admit=0),
        ),
        _preset(
            "graduated",
            Rung(30, None, "monitoring", (Action.LOG,)),
            Rung(50, None, "warning", (Action.WARN, Action.RESTRICT), admit=5_000),
            Rung(70, None, "critical", (Action.RESTRICT, Action.NUDGE), admit=2_000, every=600),
            Rung(85, None, "mandatory", (Action.HAND_OFF,), admit=0),
            Rung(95, None, "forced", (Action.FORCE,), admit=0),
        ),
        _preset(
            "tokens",
            Rung(None, 100_000, "mandatory", (Action.HAND_OFF,), admit=0),
            Rung(95, None, "forced", (Action.FORCE,), admit=0),
        ),
        _preset(
            "staged",
            Rung(80, None, "monitoring", (Action.LOG,)),
            Rung(90, None, "checkpoint", (Action.CHECKPOINT,)),
            Rung(95, None, "fallback", (Action.CHECKPOINT,)),
            Rung(98, None, "forced", (Action.FORCE,), admit=0),
        ),
    )
}


@dataclass(frozen=True, slots=True)
class History:
    """What has been done in this conversation so far. A new conversation starts with `History()`."""

    growth: int | None = None  # tokens that the last turn added
    nudged: float | None = None  # when the agent was last reminded
    passed: frozenset[int] = field(default_factory=frozenset)  # rungs whose actions have been taken
    suspended: bool = False  # the way back is being walked: look, and do nothing
    raised: float = 0.0  # percent points by which the handoff is put off after too many in a row

    def after(self, decision: "Decision", now: float) -> "History":
        """The history once the decision has been acted on."""
        nudged = now if decision.nudge else self.nudged
        return replace(self, passed=self.passed | set(decision.crossed), nudged=nudged)


@dataclass(frozen=True, slots=True)
class Decision:
    """What is due now.

    `actions` and `crossed` hold what is new with this reading, for the record; `hand_off`, `force` and
    `nudge` say what to do, and the first two stay true for as long as the session is above the rung.
    `admit` is the size below which a task may start (None: any), `room` what is left of the usable window.
    """

    zone: str
    status: Status
    actions: tuple[Action, ...]
    hand_off: bool
    force: bool
    nudge: bool
    admit: int | None
    reason: str
    at_tokens: int | None  # where the handoff is due
    room: int | None = None
    crossed: tuple[int, ...] = ()


def reserve(usable: int, growth: float | None) -> int:
    """Tokens kept free for the handoff's own turn; never more than a quarter of the usable window.

    >>> reserve(167_000, None), reserve(167_000, 12_000), reserve(40_000, None)
    (15000, 24000, 10000)
    """
    return min(max(RESERVE, math.ceil(2 * (growth or 0))), usable // 4)


def decide(reading: Reading, forecast: Forecast | None, history: History, ladder: Ladder, now: float) -> Decision:
    """What the ladder asks for at this reading. An unknown reading asks for nothing."""
    used, usable = reading.used, reading.usable
    if not usable:
        return _nothing("The size of the window is not known yet.", None)
    places = _places(ladder, usable, _growth(history, forecast), history.raised)
    due = _first_of(ladder, places, Action.HAND_OFF, Action.FORCE)
    if used is None:
        return _nothing("The usage is not known yet.", due)

    reached = [index for index, place in enumerate(places) if used >= place]
    top = ladder.rungs[reached[-1]] if reached else None
    seen = Decision(
        zone=top.zone if top else NORMAL,
        status=_worst(action for index in reached for action in ladder.rungs[index].actions),
        actions=(),
        hand_off=False,
        force=False,
        nudge=False,
        admit=min((size for i in reached if (size := ladder.rungs[i].admit) is not None), default=None),
        reason=_reason(used, usable, due, top),
        at_tokens=due,
        room=max(0, usable - used),
    )
    if history.suspended:
        return replace(seen, admit=None, reason=f"{seen.reason} Suspended.")
    return _act(seen, ladder, reached, history, now)


def admit(tokens: int, decision: Decision) -> bool:
    """Whether a task of this size may start now."""
    if decision.room is not None and tokens > decision.room:
        return False
    return decision.admit is None or tokens < decision.admit


def _act(seen: Decision, ladder: Ladder, reached: list[int], history: History, now: float) -> Decision:
    crossed = tuple(index for index in reached if index not in history.passed)
    actions = tuple(action for index in crossed for action in ladder.rungs[index].actions)
    if not ladder.enabled:
        off = replace(seen, admit=None, reason=f"{seen.reason} Switched off.")
        return replace(off, actions=(Action.LOG,) if crossed else (), crossed=crossed)
    standing = {action for index in reached for action in ladder.rungs[index].actions}
    force = Action.FORCE in standing
    hand_off = force or Action.HAND_OFF in standing
    # An agent that is about to be asked for its handoff needs no reminder of it.
    nudge = not hand_off and _nudge_due(ladder, reached, history, now)
    if nudge and Action.NUDGE not in actions:
        actions = (*actions, Action.NUDGE)
    return replace(seen, actions=actions, crossed=crossed, hand_off=hand_off, force=force, nudge=nudge)


def _nudge_due(ladder: Ladder, reached: list[int], history: History, now: float) -> bool:
    nudging = [index for index in reached if Action.NUDGE in ladder.rungs[index].actions]
    if not nudging:
        return False
    every = ladder.rungs[nudging[-1]].every
    if every is None:
        return nudging[-1] not in history.passed
    return history.nudged is None or not 0 <= now - history.nudged < every


def _growth(history: History, forecast: Forecast | None) -> float | None:
    if history.growth is not None:
        return history.growth
    return forecast.tokens_per_message if forecast else None


def _places(ladder: Ladder, usable: int, growth: float | None, raised: float) -> list[int]:
    """Every rung in tokens; a handoff is put off by `raised`, then pulled down to leave the reserve."""
    latest = usable - reserve(usable, growth)
    put_off = math.ceil(max(0.0, raised) * usable / 100)
    return [
        min(rung.place(usable) + put_off, latest) if Action.HAND_OFF in rung.actions else rung.place(usable)
        for rung in ladder.rungs
    ]


def _first_of(ladder: Ladder, places: list[int], *actions: Action) -> int | None:
    """The lowest place among the rungs with any of these actions."""
    wanted = set(actions)
    return min(
        (place for place, rung in zip(places, ladder.rungs, strict=True) if wanted & set(rung.actions)),
        default=None,
    )


def _worst(actions: Iterable[Action]) -> Status:
    severest = max(actions, key=lambda action: _SEVERITY[action], default=Action.LOG)
    return _STATUS[severest]


def _reason(used: int, usable: int, due: int | None, top: Rung | None) -> str:
    zone = top.zone if top else NORMAL
    share = f"{used:,} of {usable:,} usable tokens ({100 * used / usable:.1f} %), zone {zone}"
    return f"{share}; the handoff is due at {due:,}." if due is not None else f"{share}; no handoff is set."


def _nothing(reason: str, due: int | None) -> Decision:
    return Decision(UNKNOWN, "ok", (), False, False, False, None, reason, due)
