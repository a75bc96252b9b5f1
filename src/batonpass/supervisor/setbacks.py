"""Turns that a provider ended: wait where that is over soon, else go on with another agent, and come back later."""

import logging
import math
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import replace

from batonpass.agents.setbacks import OVERLOADED, QUOTA, RATE_LIMIT, SIGN_IN, TriesAgain, kind_of, resets_at
from batonpass.clock import iso
from batonpass.config.schema import Quota
from batonpass.cycle.giving import channel_of
from batonpass.delivery import Delivery, tag
from batonpass.handoff import prompts
from batonpass.session import State
from batonpass.store import CycleRecord
from batonpass.supervisor.act import Supervisor
from batonpass.supervisor.keys import NotReady
from batonpass.supervisor.promises import is_promised
from batonpass.supervisor.setback import (
    FIRST_SECONDS,
    Call,
    Phase,
    Setback,
    Switch,
    Wait,
    choose,
    is_near,
    kept,
    key,
    put_off,
    read,
    serves_again,
    told_by,
)
from batonpass.supervisor.signs import died_unserved, failure, is_back, refused_until, was_cut_off, went_on
from batonpass.supervisor.watch import Watch
from batonpass.transcripts.events import Failed

log = logging.getLogger(__name__)

_GIVE_SECONDS = 5.0
_AGAIN = "again"
_WORDS = {
    RATE_LIMIT: "its rate limit",
    QUOTA: "its quota",
    OVERLOADED: "an overloaded provider",
    SIGN_IN: "that it is not signed in",
}
# A delivery to an idle session, once: how to see that it has arrived, and how long to wait for it. Raises NotReady.
Give = Callable[[Watch, Delivery, Callable[[], bool], float], Awaitable[bool]]


class Setbacks:
    """Looks at every session whose last turn failed, and at those that wait, change hands or are away.

    What a session is, is kept before anything is done about it, so that a later daemon goes on from there.
    """

    def __init__(self, supervisor: Supervisor, give: Give) -> None:
        self._supervisor, self._give = supervisor, give
        self._store, self._clock = supervisor.store, supervisor.clock
        self._known: dict[str, Setback] = {}
        supervisor.also_forget.append(self.forget)

    def forget(self, session: str) -> None:
        """Let go of a session that is not watched any more; the store still knows how it was."""
        self._known.pop(session, None)

    def of(self, session: str) -> Setback:
        if session not in self._known:
            self._known[session] = read(self._store.get(key(session)))
        return self._known[session]

    async def look(self) -> None:
        for watch in list(self._supervisor.watches.values()):
            known = self.of(watch.session.id)
            failed = failure(watch, known)
            new = failed is not None and (failed.at != known.at or is_back(watch, known))
            if (new or known.phase is not Phase.WELL) and self._at_rest(watch):
                await self._look_at(watch, known, failed, new)

    def _at_rest(self, watch: Watch) -> bool:
        """Whether nobody else acts on the session; a cycle that is taken up again is in the store before it acts."""
        if watch.gone and not self._left_for_dead(watch):
            return False
        if watch.step is not None or self._supervisor.starter.starting(watch.session.id):
            return False
        return self._store.running_cycle(watch.session.id) is None

    def _left_for_dead(self, watch: Watch) -> bool:
        """Whether a switch left nobody alive in the pane: the next agent can still go on from the handoff."""
        return watch.session.state is State.DEAD and self.of(watch.session.id).phase is Phase.SWITCHING

    async def _look_at(self, watch: Watch, known: Setback, failed: Failed | None, new: bool) -> None:
        match known.phase:
            case Phase.SWITCHING:
                await self._switching(watch, known, failed)
            case _ if failed is not None and new:
                if watch.tries_again is not None:
                    await self._refused(watch, known, watch.tries_again)
                elif watch.idle():
                    await self._struck(watch, known, failed)
            case Phase.WAITING if failed is None:
                if known.own or went_on(watch, known):
                    self._keep(watch, known.served(watch.session.agent))
            case Phase.WAITING if self._due(known) and (watch.idle() or watch.tries_again):
                await self._waited(watch, known)
            case Phase.AWAY if not known.away(watch.session.agent):  # a person has gone back
                self._keep(watch, known.served(watch.session.agent))
            case Phase.AWAY if self._due(known) and failed is None and known.first is not None:
                await self._switch(watch, known, known.first, silent=False)
            case Phase.STUCK if failed is None:
                self._keep(watch, known.served(watch.session.agent))

    def _due(self, known: Setback) -> bool:
        return known.due is not None and self._clock.now() >= known.due

    # -- a turn that failed ----------------------------------------------------------------------------

    async def _struck(self, watch: Watch, known: Setback, failed: Failed) -> None:
        """A turn has ended with an error of the provider's."""
        kind, now, agent = kind_of(failed.kind, failed.text) or "", self._clock.now(), watch.session.agent
        tries = known.tries if known.phase is Phase.WAITING else 0
        limits = self._limits(watch)
        back = serves_again(kind, resets_at(failed.text, failed.at or now), tries, now, limits)
        down = {name: until for name, until in known.down.items() if until > now}
        known = replace(known, own=False, talk="")
        struck = replace(known, at=failed.at, kind=kind, tries=tries + 1, down={**down, agent: back})
        await self._act(watch, struck, quiet=tries > 0)

    async def _refused(self, watch: Watch, known: Setback, again: TriesAgain) -> None:
        """A request has failed, and the agent will make it again: a time that is near is its own to wait for."""
        now, agent, limits = self._clock.now(), watch.session.agent, self._limits(watch)
        kind, back = kind_of(again.failed.kind, again.failed.text) or "", told_by(again, now)
        down = {name: until for name, until in known.down.items() if until > now}
        goes_on = known.phase is Phase.WAITING and known.own and known.kind == kind  # one more try, as was told
        if back is None:
            back = (down.get(agent) if goes_on else None) or serves_again(kind, None, 0, now, limits)
        known = replace(known, own=True, talk=watch.conversation.agent_session)
        refused = replace(known, at=again.failed.at, kind=kind, down={**down, agent: back})
        await self._act(watch, refused, quiet=goes_on or is_near(back, now, limits))

    async def _act(self, watch: Watch, known: Setback, *, quiet: bool = False) -> None:
        """Do what the dates say: wait, have another agent go on, or call a person."""
        agent, now, what = watch.session.agent, self._clock.now(), _WORDS.get(known.kind, "an error")
        back = math.inf if watch.gone else known.down.get(agent, now)  # the dead are not waited for
        limits = self._limits(watch)
        match choose(known.kind, back, now, self._others(watch, known), limits):
            case Wait(until) if not watch.gone:
                mark = tag(secrets.token_hex(4), _AGAIN, known.tries)
                self._keep(watch, replace(known, phase=Phase.WAITING, until=until, mark=mark, to=None, cycle=None))
                own = "it tries again by itself" if watch.tries_again else "it is told to go on"
                own = "its dialog can be answered" if watch.asks_of_it else own
                then = own if until >= back else "somebody else can go on"
                if not quiet and until != known.until:  # a later daemon does not tell it again
                    why = f", and {known.because}" if known.because else ""
                    await self._tell(watch, f"{agent} stopped because of {what}{why}; {then} at {iso(until)}")
            case Switch(to):
                await self._switch(watch, replace(known, first=known.first or agent), to, silent=True)
            case Wait() | Call():
                self._keep(watch, replace(known, phase=Phase.STUCK, until=None, to=None, cycle=None))
                if watch.gone:
                    return  # that the handoff is pending was told
                help_ = "sign in to it in its pane, then send it any prompt"
                nobody = known.because or "`agents:` names nobody else"
                await self._tell(watch, f"{agent} cannot go on: {what}, and {nobody}; {help_}")

    def _others(self, watch: Watch, known: Setback) -> dict[str, float]:
        """Who else can go on, and from when: the first choice, then as the user lists them."""
        if watch.session.adopted:
            return {}
        named = self._supervisor.config(watch.session.project).agents
        wanted = dict.fromkeys([*([known.first] if known.first else []), *named])
        return {name: known.down.get(name, 0.0) for name in wanted if name != watch.session.agent}

    async def _waited(self, watch: Watch, known: Setback) -> None:
        """The wait is over: for the agent itself, or for somebody else."""
        if known.kind != SIGN_IN and known.down.get(watch.session.agent, 0.0) <= self._clock.now():
            if watch.tries_again is None and not is_promised(self._store, watch.session.id):
                await self._again(watch, known)  # else it is about to ask by itself, or is told so already
        else:
            await self._act(watch, known, quiet=True)

    async def _again(self, watch: Watch, known: Setback) -> None:
        """The agent is told to go on, once for each wait, however often it is looked at."""
        mark, now = known.mark, self._clock.now()
        self._keep(watch, replace(known, until=now + FIRST_SECONDS))  # looked at again then, should it not arrive
        given = self._store.delivery(mark)
        if given is None:
            text = prompts.again(mark, _WORDS.get(known.kind, "the error"))
            given = Delivery.alone(mark, watch.session.id, channel_of(watch), text, now)
            self._store.save_delivery(given)
        watch.being_told = True
        try:
            await self._give(watch, given, lambda: watch.conversation.prompted(mark) is not None, _GIVE_SECONDS)
        except NotReady as obstacle:
            log.info("%s is not told to go on yet: %s", watch.session.name, obstacle)
        finally:
            watch.being_told = False

    # -- changing hands --------------------------------------------------------------------------------

    async def _switch(self, watch: Watch, known: Setback, to: str, *, silent: bool) -> None:
        """Have another agent take over: at once where this one cannot be asked, else at its next safe point."""
        cycle = secrets.token_hex(4)
        wanted = replace(known, phase=Phase.SWITCHING, until=None, to=to, cycle=cycle)
        self._keep(watch, wanted)
        await self._begin(watch, wanted, to, silent=silent)

    async def _begin(self, watch: Watch, known: Setback, to: str, *, silent: bool) -> None:
        starter, agent = self._supervisor.starter, watch.session.agent
        if not starter.may_start(watch):
            return  # looked at again
        starter.claim(watch)
        cause = f"{to} should serve again"
        if silent:
            back = iso(known.down.get(agent, self._clock.now()))
            cause = f"{agent} stopped because of {_WORDS.get(known.kind, 'an error')}, back at about {back}"
        begun = await starter.start(
            watch, f"{cause}, so {to} takes over", force=silent, to=to, silent=silent, cycle=known.cycle
        )
        if begun:
            await self._tell(watch, f"{cause}; {to} takes over")

    async def _switching(self, watch: Watch, known: Setback, failed: Failed | None) -> None:
        """No cycle is under way: it has changed hands, or the cycle ended otherwise, or it was never begun."""
        agent, to, tried = watch.session.agent, known.to or "", self._store.cycle(known.cycle or "")
        if failed is None and tried is not None and was_cut_off(watch, known, tried):
            known = replace(known, at=self._clock.now(), talk=watch.conversation.agent_session)
            failed = Failed(known.at, known.kind, "")
        if agent == to and not died_unserved(watch, tried):
            self._keep(watch, known.served(agent))
        elif tried is not None:
            await self._missed(watch, known, failed, tried)
        elif failed is not None or watch.gone or to == known.first:
            await self._begin(watch, known, to, silent=failed is not None or watch.gone)
        else:  # a person has set it to work again before anything was done
            self._keep(watch, known.served(agent))

    async def _missed(self, watch: Watch, known: Setback, failed: Failed | None, tried: CycleRecord) -> None:
        """The heir did not take over: whoever serves by the dates is next, and it is not this one for a while."""
        now, limits, to = self._clock.now(), self._limits(watch), known.to or ""
        heir_died = watch.session.agent == to
        if failed is None and not heir_died:
            self._keep(
                watch,
                _with_down(known.served(watch.session.agent), {to: refused_until(tried) or put_off(0, now, limits)}),
            )
            return
        if failed is not None and failed.at != known.at and not tried.data.get("started") and not watch.gone:
            # It was prompted meanwhile and therefore left alone: what its provider says now is acted on as at first.
            self._keep(watch, known.served(watch.session.agent))
            return
        later = refused_until(tried) or put_off(known.missed, now, limits)
        # One that was started can do nothing for the others; where none was, the reason holds for all of them.
        names = [to] if tried.data.get("started") else self._others(watch, known)
        missed = replace(_with_down(known, dict.fromkeys(names, later)), missed=known.missed + 1)
        await self._act(watch, replace(missed, because=tried.note or ""))

    def _limits(self, watch: Watch) -> Quota:
        return self._supervisor.config(watch.session.project).quota

    def _keep(self, watch: Watch, setback: Setback) -> None:
        self._store.put(key(watch.session.id), kept(setback))
        self._known[watch.session.id] = setback

    async def _tell(self, watch: Watch, text: str) -> None:
        await self._supervisor.tell(watch, f"{watch.session.name}: {text}")


def _with_down(known: Setback, more: dict[str, float]) -> Setback:
    """Those agents do not serve before these dates, at the least."""
    dates = {name: max(date, known.down.get(name, 0.0)) for name, date in more.items()}
    return replace(known, down={**known.down, **dates})
