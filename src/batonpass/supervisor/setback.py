"""Turns that a provider ended: wait where that is over soon, else go on with another agent, and come back later.

A session is well, waits, or is away from its first choice. What it is, is kept in the store; `plan` is pure.
"""

import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any

from batonpass.agents.setbacks import OVERLOADED, QUOTA, RATE_LIMIT, kind_of, resets_at
from batonpass.clock import iso
from batonpass.config.schema import Quota
from batonpass.cycle.giving import channel_of
from batonpass.delivery import Delivery, DeliveryState, tag
from batonpass.handoff import prompts
from batonpass.supervisor.act import Supervisor
from batonpass.supervisor.keys import NotReady
from batonpass.supervisor.watch import Watch
from batonpass.transcripts.events import Failed, TurnEnded

log = logging.getLogger(__name__)

_FIRST_SECONDS = 30.0  # of the back-off where nobody says how long it lasts
_MOST_TRIES = 5
_GIVE_SECONDS = 5.0
_AGAIN = "again"
_WORDS = {RATE_LIMIT: "its rate limit", QUOTA: "its quota", OVERLOADED: "an overloaded provider"}
# A delivery to an idle session, once: how to see that it has arrived, and how long to wait for it. Raises NotReady.
Give = Callable[[Watch, Delivery, Callable[[], bool], float], Awaitable[bool]]


class Phase(StrEnum):
    WELL = "well"
    WAITING = "waiting"  # for the provider; then the agent is told to go on
    AWAY = "away"  # another agent does the work meanwhile
    STUCK = "stuck"  # only a person can help; told once


@dataclass(frozen=True, slots=True)
class Setback:
    """What a session suffers from, as the store keeps it."""

    phase: Phase = Phase.WELL
    at: float = 0.0  # of the failure that was acted on last
    kind: str = ""
    until: float | None = None
    tries: int = 0
    mark: str = ""  # of the prompt that is given after the wait
    first: str | None = None  # the agent to come back to
    down: Mapping[str, float] = field(default_factory=dict)  # agents that do not serve, and until when


@dataclass(frozen=True, slots=True)
class Wait:
    until: float


@dataclass(frozen=True, slots=True)
class Switch:
    to: str
    until: float  # when the first choice may be back


@dataclass(frozen=True, slots=True)
class Call:
    """A person has to help."""


def plan(
    kind: str, resets: float | None, tries: int, now: float, others: Sequence[str], limits: Quota
) -> Wait | Switch | Call:
    """What to do about a turn that the provider ended. `others` are agents that serve, by preference."""
    soon = now + 60 * limits.wait_minutes
    if resets is not None and resets <= soon:
        return Wait(resets)
    if kind in (RATE_LIMIT, OVERLOADED) and resets is None and tries < _MOST_TRIES:
        return Wait(min(now + _FIRST_SECONDS * 2**tries, soon))
    back = resets or now + 60 * limits.retry_minutes
    if others:
        return Switch(others[0], back)
    if kind in (RATE_LIMIT, OVERLOADED, QUOTA):
        return Wait(back)
    return Call()


class Setbacks:
    """Looks at every session whose last turn failed, and at those that wait or are away."""

    def __init__(self, supervisor: Supervisor, give: Give) -> None:
        self._supervisor, self._give = supervisor, give
        self._store, self._clock = supervisor.store, supervisor.clock
        self._known: dict[str, Setback] = {}

    def of(self, session: str) -> Setback:
        if session not in self._known:
            self._known[session] = read(self._store.get(key(session)))
        return self._known[session]

    async def look(self) -> None:
        for watch in list(self._supervisor.watches.values()):
            if not watch.gone and watch.step is None and not self._supervisor.starter.starting(watch.session.id):
                await self._look_at(watch)

    async def _look_at(self, watch: Watch) -> None:
        known, failed = self.of(watch.session.id), _failed(watch)
        if failed is not None and watch.idle() and failed.at != known.at:
            await self._struck(watch, known, failed)
        elif known.phase is Phase.WAITING and failed is None and _went_on(watch, known):
            self._keep(watch, replace(known, phase=Phase.AWAY if _is_away(watch, known) else Phase.WELL, tries=0))
        elif known.phase is Phase.WAITING and failed is not None and self._due(known) and watch.idle():
            await self._again(watch, known)
        elif known.phase is Phase.AWAY and not _is_away(watch, known):
            self._keep(watch, Setback(at=known.at))  # a person, or we, have gone back
        elif known.phase is Phase.AWAY and self._due(known) and failed is None:
            await self._return(watch, known)
        elif known.phase is Phase.STUCK and failed is None:
            self._keep(watch, Setback(at=known.at))

    def _due(self, known: Setback) -> bool:
        return known.until is not None and self._clock.now() >= known.until

    async def _struck(self, watch: Watch, known: Setback, failed: Failed) -> None:
        """A turn has ended with an error of the provider's."""
        kind = kind_of(failed.kind, failed.text)
        if kind is None:
            return
        now, agent, config = self._clock.now(), watch.session.agent, self._supervisor.config(watch.session.project)
        resets = resets_at(failed.text, failed.at or now)
        tries = known.tries if known.phase is Phase.WAITING else 0
        down = {name: until for name, until in known.down.items() if until > now}
        others = [name for name in config.agents if name not in (agent, *down) and not watch.session.adopted]
        chosen = plan(kind, resets, tries, now, others, config.quota)
        struck = replace(known, at=failed.at, kind=kind, tries=tries + 1)
        what = _WORDS.get(kind, "that it is not signed in")
        match chosen:
            case Wait(until):
                mark = tag(secrets.token_hex(4), _AGAIN, tries + 1)
                self._keep(watch, replace(struck, phase=Phase.WAITING, until=until, mark=mark))
                if tries == 0:
                    await self._tell(watch, f"{agent} stopped because of {what}; it is told to go on at {iso(until)}")
            case Switch(to, until):
                first = known.first or agent
                kept = replace(struck, phase=Phase.AWAY, until=until if first == agent else known.until, tries=0)
                self._keep(watch, replace(kept, first=first, down={**down, agent: until}))
                await self._switch(watch, to, f"{agent} stopped because of {what}, back at about {iso(until)}", True)
            case Call():
                self._keep(watch, replace(struck, phase=Phase.STUCK, until=None))
                help_ = "sign in to it in its pane, then send it any prompt"
                await self._tell(watch, f"{agent} cannot go on: {what}, and `agents:` names nobody else; {help_}")

    async def _switch(self, watch: Watch, to: str, cause: str, silent: bool) -> None:
        starter = self._supervisor.starter
        if not starter.may_start(watch):
            return
        await self._tell(watch, f"{cause}; {to} takes over")
        starter.claim(watch)
        await starter.start(watch, f"{cause}, so {to} takes over", force=silent, to=to, silent=silent)

    async def _again(self, watch: Watch, known: Setback) -> None:
        """The wait is over: the agent is told to go on, once for each wait, however often it is looked at."""
        mark, now = known.mark, self._clock.now()
        self._keep(watch, replace(known, until=now + _FIRST_SECONDS))  # looked at again then, should it not arrive
        given = self._store.delivery(mark)
        if given is None:
            cycle = mark.split()[1]  # no cycle is under way: it is one of its own
            text = prompts.again(mark, _WORDS.get(known.kind, "the error"))
            state, channel = DeliveryState.OFFERED, channel_of(watch)
            given = Delivery(mark, watch.session.id, cycle, _AGAIN, known.tries, channel, state, text, now)
            self._store.save_delivery(given)
        try:
            await self._give(watch, given, lambda: watch.conversation.prompted(mark) is not None, _GIVE_SECONDS)
        except NotReady as obstacle:
            log.info("%s is not told to go on yet: %s", watch.session.name, obstacle)

    async def _return(self, watch: Watch, known: Setback) -> None:
        """The first choice should serve again: pass the baton back at the next safe point."""
        assert known.first is not None
        wait = 60 * self._supervisor.config(watch.session.project).quota.retry_minutes
        self._keep(watch, replace(known, until=self._clock.now() + wait))  # should it not serve after all
        await self._switch(watch, known.first, f"{known.first} should serve again", False)

    def _keep(self, watch: Watch, setback: Setback) -> None:
        self._known[watch.session.id] = setback
        self._store.put(key(watch.session.id), {**asdict(setback), "phase": str(setback.phase)})

    async def _tell(self, watch: Watch, text: str) -> None:
        await self._supervisor.tell(watch, f"{watch.session.name}: {text}")


def _failed(watch: Watch) -> Failed | None:
    """The failure that the last turn ended with; None when it ended well, or another has begun since."""
    said = (event for event in reversed(watch.conversation.log) if not isinstance(event, TurnEnded))
    last = next(said, None)
    return last if isinstance(last, Failed) else None


def _went_on(watch: Watch, known: Setback) -> bool:
    return any(event.at > known.at for event in watch.conversation.log)


def _is_away(watch: Watch, known: Setback) -> bool:
    return known.first is not None and watch.session.agent != known.first


def key(session: str) -> str:
    """Under which the store keeps a session's setback."""
    return f"setback {session}"


def read(kept: object) -> Setback:
    """A setback as the store has it."""
    if not isinstance(kept, dict):
        return Setback()
    fields: dict[str, Any] = {name: value for name, value in kept.items() if name in Setback.__dataclass_fields__}
    try:
        return Setback(**{**fields, "phase": Phase(fields.get("phase", ""))})
    except ValueError:
        return Setback()
