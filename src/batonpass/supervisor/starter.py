"""Starting cycles: one at a time for each session, and not before the guards agree."""

import secrets
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from batonpass.clock import Clock, iso
from batonpass.cycle.moves import Policy, Step, Way
from batonpass.delivery import Channel, Delivery, DeliveryState, tag
from batonpass.handoff.redact import patterns, redact
from batonpass.session import State
from batonpass.store import CycleRecord, CycleState, Store
from batonpass.supervisor.guards import BREAKER, COOLING, Limits, Verdict, judge
from batonpass.supervisor.settings import Settings
from batonpass.supervisor.watch import Watch

PassBaton = Callable[[str, str, Policy], Awaitable[bool]]
_LOOKED_AT = 20  # past cycles that the guards are shown


class Starter:
    """Opens cycles and hands them to the engine. `pass_baton` is the engine's, once it runs."""

    def __init__(self, store: Store, clock: Clock, config: Settings) -> None:
        self._store, self._clock, self._config = store, clock, config
        self.pass_baton: PassBaton | None = None
        self._starting: set[str] = set()

    def starting(self, session: str) -> bool:
        return session in self._starting

    # -- guards --------------------------------------------------------------------------------------

    def verdict(self, watch: Watch) -> Verdict:
        """What the guards say about another handoff of this session, from the store, so that it outlives restarts."""
        config = self._config(watch.session.project)
        reset = self._store.get(_reset_key(watch.session.id))
        return judge(
            self._store.cycles(session=watch.session.id, limit=_LOOKED_AT),
            self._clock.now(),
            Limits(config.cooldown_minutes, config.breaker_per_hour),
            float(reset) if isinstance(reset, int | float) else 0.0,
        )

    def reset(self, session: str) -> None:
        """A person has looked: count anew from now."""
        self._store.put(_reset_key(session), self._clock.now())

    def pause_to_tell(self, watch: Watch, verdict: Verdict) -> str | None:
        """The sentence about a guard that holds the session back, once for each time it closes."""
        if verdict.free or verdict.guard == COOLING:
            return None
        cycles = self._store.cycles(session=watch.session.id, limit=1)
        mark = f"{verdict.guard}:{cycles[-1].id if cycles else ''}"
        if self._store.get(_told_key(watch.session.id)) == mark:
            return None
        self._store.put(_told_key(watch.session.id), mark)
        until = f"until {iso(verdict.until)}" if verdict.until else "until you reset it"
        return (
            f"{watch.session.name}: no further handoff by itself {until}: {verdict.why}; nothing was lost. "
            f"When the cause is mended, run: baton breaker reset {watch.session.name}"
        )

    # -- starting ------------------------------------------------------------------------------------

    def may_start(self, watch: Watch) -> bool:
        """Whether a cycle can be started at all: none is under way, and the session lives."""
        session = watch.session
        if session.id in self._starting or self.pass_baton is None or session.state is State.ENDED:
            return False
        return watch.step is None and self._store.running_cycle(session.id) is None

    def claim(self, watch: Watch) -> None:
        """Note that a start is on its way, before anything is awaited."""
        self._starting.add(watch.session.id)

    async def hand_off(self, watch: Watch, cause: str, *, force: bool = False, to: str | None = None) -> str | None:
        """A cycle that a person asked for; the running one when there is one, None when none can be started.

        With `to`, the baton is passed to that agent; a cycle that is under way to somebody else is none such.
        """
        running = self._store.running_cycle(watch.session.id)
        if running is not None:
            return running.id if running.data.get("to") == to else None
        if not self.may_start(watch):
            return None
        self.claim(watch)
        return await self.start(watch, cause, force=force, by_person=True, to=to)

    async def start(
        self,
        watch: Watch,
        cause: str,
        *,
        force: bool,
        by_person: bool = False,
        to: str | None = None,
        silent: bool = False,
        cycle: str | None = None,
    ) -> str | None:
        """Open a cycle for a claimed session and hand it to the engine; with `to`, another agent takes over.

        `silent` when the agent cannot be asked any more; `cycle` is an id that was noted down beforehand.
        """
        try:
            record = self._open(watch, cause, by_person, {"to": to, "silent": silent} if to else None, cycle)
            return await self._begin(watch, record, force=force)
        finally:
            self._starting.discard(watch.session.id)

    async def rescue(self, watch: Watch, cause: str) -> str | None:
        """A cycle for a claimed session that cannot be asked any more: it ends when the handoff is sealed."""
        try:
            return await self._begin(watch, self._open(watch, cause, True, {"only_seal": True}))
        finally:
            self._starting.discard(watch.session.id)

    async def go_on(self, watch: Watch, cycle: str, document: Path, kick: str, began: float) -> str | None:
        """A cycle that follows a session just started from a handoff, until its receipt is right."""
        session, mark = watch.session, tag(cycle, "kick", 1)
        record = CycleRecord(
            id=cycle, session=session.id, host=session.host, cause=f"continued from {document.name}", started=began,
            way=Way.START, document=document, new_agent_session=session.agent_session,
            data={"sealed": str(document), "counted": True, "by_person": True},
        )  # fmt: skip
        given = Delivery(mark, session.id, cycle, "kick", 1, Channel.ARGV, DeliveryState.SENT, kick, began)
        self._store.start_cycle(record)
        self._store.save_delivery(given)
        watch.step = Step.PRIME
        return await self._begin(watch, record)

    async def _begin(self, watch: Watch, cycle: CycleRecord, *, force: bool = False) -> str | None:
        """Hand a cycle to the engine; None when the session has another one under way."""
        assert self.pass_baton is not None
        policy = policy_of(cycle, auto_continue=self._config(watch.session.project).auto_continue_cli, force=force)
        if await self.pass_baton(cycle.id, watch.session.id, policy):
            return cycle.id
        self._store.update_cycle(
            cycle.id, state=CycleState.POSTPONED, ended=self._clock.now(), note="another one is under way"
        )
        watch.step = None
        return None

    def _open(
        self,
        watch: Watch,
        cause: str,
        by_person: bool,
        more: Mapping[str, object] | None = None,
        id: str | None = None,
    ) -> CycleRecord:
        reading, now = watch.reading, self._clock.now()
        cause = redact(cause, allow=patterns(self._config(watch.session.project).redact_allow))[0]
        cycle = CycleRecord(
            id=id or secrets.token_hex(4),
            session=watch.session.id,
            host=watch.session.host,
            cause=cause,
            started=now,
            percent=reading.percent if reading else None,
            used=reading.used if reading else None,
            old_agent_session=watch.conversation.agent_session or None,
            data={
                "usable": reading.usable if reading else None,
                "window": reading.window if reading else None,
                "by_person": by_person,
                "transcript": str(watch.conversation.transcript) if watch.conversation.transcript else None,
                **(more or {}),
            },
        )
        self._store.start_cycle(cycle)
        watch.step = Step.PREPARE
        details = {"cause": cause, "percent": cycle.percent, "by_person": by_person}
        self._store.add_event("HANDOFF_DECISION", now, watch.session.id, cycle.id, details)
        return cycle


def policy_of(cycle: CycleRecord, *, auto_continue: bool, force: bool = False) -> Policy:
    """What a cycle is run by, from its own record: the same at its start and when it is taken up again."""
    if cycle.way == Way.START:
        return Policy(way=Way.START, max_backs=0)
    if cycle.data.get("only_seal"):
        return Policy(auto_continue=False, why_not="it was rescued from its record")
    if cycle.data.get("to"):
        silent = cycle.data.get("silent") is True
        attended = cycle.data.get("by_person") is True
        return Policy(
            way=Way.SWITCH, force=force or silent, auto_continue=auto_continue, silent=silent, attended=attended
        )
    return Policy(force=force, auto_continue=auto_continue)


def _reset_key(session: str) -> str:
    return f"{BREAKER} reset {session}"


def _told_key(session: str) -> str:
    return f"{BREAKER} told {session}"
