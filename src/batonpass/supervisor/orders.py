"""How a session's agents are started: what the user asked of the first, and what that means for each that follows."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from batonpass import agents
from batonpass.agents.wishes import Approval, Size, Wishes
from batonpass.config import Config
from batonpass.disk import write_private
from batonpass.session import Session

_FILE = "order.json"


@dataclass(frozen=True, slots=True)
class Start:
    """How one agent is started in a session; model and mode are those that it had when it was left."""

    args: tuple[str, ...]  # the user's own, with what was translated for it
    approval: Approval | None = None  # in place of what the arguments say
    configured: Approval | None = None  # by the user's configuration, for this agent and no other
    model: str | None = None
    permission_mode: str | None = None
    wanted: Wishes | None = None  # of the session when it was started, also what this agent has no words for


@dataclass(frozen=True, slots=True)
class Successor:
    """Another agent that is to take over in a session's pane."""

    agent: str
    args: tuple[str, ...] = ()  # the user's own for this agent, from the configuration
    models: Mapping[str, str] = field(default_factory=dict)  # by size


def successor(config: Config, agent: str, given: Sequence[str] = ()) -> Successor:
    """An agent as the user configured it, with these arguments behind the configured ones."""
    own = config.agents.get(agent)
    if own is None:
        return Successor(agent, tuple(given))
    return Successor(agent, (*own.args, *given), {str(size): model for size, model in own.models.items()})


@dataclass(frozen=True, slots=True)
class Order:
    """What a session was started with; `others` are the agents that took over since, and the first one come back."""

    agent: str
    args: tuple[str, ...]
    env: Mapping[str, str]
    others: Mapping[str, Start] = field(default_factory=dict)
    approval: Approval | None = None  # how much the session was allowed last, whoever stood in

    def start(self, agent: str) -> Start:
        """How this agent is started, one that never was here with the user's arguments for the first."""
        return self.others.get(agent) or Start(self.args)


def passed_on(order: Order, session: Session, to: Successor, *, anew: bool = False) -> Order:
    """The order with a start for the agent that takes over now, be it for the first time or again.

    It is made anew at every switch: the user may have changed model, mode or configuration since the last one.
    Only the first agent comes back with its own arguments, unless that is to be made `anew` as well.
    """
    left = _left(order, session)
    wanted, now = _wanted(session.agent, left), _approval(session.agent, left)
    # What is configured for a stand-in holds for that one alone: the session is still allowed what it was before.
    allowed = order.approval if left.configured and now is left.configured else now
    order = replace(order, approval=allowed, others={**order.others, session.agent: left})
    back = to.agent == order.agent and not anew
    start = _came_back(order) if back else _translated(wanted, allowed, to)
    return replace(order, others={**order.others, to.agent: start})


def carried(folder: Path, session: Session, to: Successor, *, anew: bool = False) -> Start:
    """How an agent is started in another session that goes on from this one, whoever had that last.

    What is configured for the agent is among its arguments already.
    """
    order = read(folder, session.agent)
    if to.agent != session.agent:
        return passed_on(order or Order(session.agent, (), {}), session, to, anew=anew).start(to.agent)
    if order is None:
        return Start(to.args)
    return _left(order, session)


def _left(order: Order, session: Session) -> Start:
    """The session's agent as it is now; what it has not told yet is as it was started with."""
    own = order.start(session.agent)
    return replace(
        own, model=session.model or own.model, permission_mode=session.permission_mode or own.permission_mode
    )


def _wanted(agent: str, left: Start) -> Wishes:
    """What the session wants now: what it wanted when this agent took over, for that may have no words for it.

    A model of another class than it was started with was chosen since. Where it was started with none, or with one
    that is configured for it alone, the class that it has is not the user's word. Folders are nobody's to add later.
    """
    asked = agents.get(agent)
    now = asked.wishes(left.args, left.model, left.permission_mode)
    if left.wanted is None:
        return now
    given = asked.wishes(left.args, None, None).size
    chosen = now.size if given and now.size is not given else None
    return replace(left.wanted, size=chosen or left.wanted.size or now.size)


def _translated(wanted: Wishes, allowed: Approval | None, to: Successor) -> Start:
    heir = agents.get(to.agent)
    said = heir.wishes(to.args, None, None)
    further = replace(wanted.besides(said), approval=None)
    approval = None if said.approval else allowed or (None if heir.asks else Approval.ASK)
    args = (*to.args, *heir.arguments(further, to.models))
    return Start(args, approval, said.approval, wanted=replace(wanted, approval=None))


def _came_back(order: Order) -> Start:
    """The first agent as it was left, unless less is allowed by now.

    Where nobody ever said how much it may do, only reading is less for certain.
    """
    left, allowed = order.start(order.agent), order.approval
    had = _approval(order.agent, left)
    if allowed is not None and (allowed.less_than(had) if had else allowed is Approval.PLAN):
        return replace(left, approval=allowed, permission_mode=None)
    return left


def _approval(agent: str, start: Start) -> Approval | None:
    """How much an agent may do: the mode that it is in says it best, then what Baton asked for, then the arguments."""
    asked = agents.get(agent)
    live = asked.wishes((), None, start.permission_mode).approval
    return live or start.approval or asked.wishes(start.args, None, None).approval


# -- on disk -------------------------------------------------------------------------------------------


def write(folder: Path, order: Order) -> None:
    """Keep the order, for its owner only: it holds the user's arguments and environment."""
    others = {agent: _plain(start) for agent, start in order.others.items()}
    content = {"agent": order.agent, "args": order.args, "env": order.env, "others": others}
    write_private(folder / _FILE, json.dumps({**content, "approval": order.approval}))


def _plain(start: Start) -> dict[str, object]:
    fields = {name: getattr(start, name) for name in Start.__dataclass_fields__}
    return {**fields, "wanted": asdict(start.wanted) if start.wanted else None}


def read(folder: Path, agent: str) -> Order | None:
    """The order of a session that now has this agent; None when it is not kept (any more)."""
    try:
        kept = json.loads((folder / _FILE).read_text(encoding="utf-8"))
        others = {name: _start(start) for name, start in kept.get("others", {}).items()}
        return Order(
            str(kept.get("agent") or agent),
            tuple(kept["args"]),
            dict(kept["env"]),
            others,
            _known(kept.get("approval")),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _start(kept: Any) -> Start:
    if isinstance(kept, list):  # as an earlier version wrote it
        return Start(tuple(kept))
    approvals = {name: _known(kept.get(name)) for name in ("approval", "configured")}
    return Start(**{**kept, **approvals, "args": tuple(kept["args"]), "wanted": _wishes(kept.get("wanted"))})


def _wishes(kept: Any) -> Wishes | None:
    if kept is None:
        return None
    size = Size(kept["size"]) if kept.get("size") else None
    return Wishes(size, folders=tuple(str(folder) for folder in kept.get("folders", ())))


def _known(approval: object) -> Approval | None:
    return Approval(str(approval)) if approval else None


def forget(folder: Path) -> None:
    """Remove what an ended session left in its folder: it holds the environment it was started with."""
    leftovers: Sequence[str] = (_FILE, "launch.json")
    for name in leftovers:
        (folder / name).unlink(missing_ok=True)
