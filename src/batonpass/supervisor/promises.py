"""Prompts that were promised to sessions which could not hear them yet: kept in the store until they are given.

A conversation that was cut off in its turn and brought back is told to go on. One that stands at a dialog hears that
once a person has answered, be it days later and by another daemon. A promise is noted before the agent is started, and
holds for the one conversation that it was made for.
"""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from batonpass.cycle.giving import Untold, channel_of
from batonpass.delivery import Channel, Delivery, DeliveryState
from batonpass.store import Store
from batonpass.supervisor.act import Supervisor
from batonpass.supervisor.watch import Watch

log = logging.getLogger(__name__)

STEP = "restored"  # in the tags of such prompts
_GIVE_SECONDS = 5.0
_TRIES = 2  # that end with no proof; then a person is told
_OPEN = (DeliveryState.OFFERED, DeliveryState.SENT)
# Gives a prompt to a conversation that was resumed, once it rests; None when it has arrived, else why not.
GiveResumed = Callable[[Watch, Delivery, str | None, float], Awaitable[Untold | None]]


@dataclass(frozen=True, slots=True)
class _Promise:
    given: Delivery
    conversation: str  # nobody else is told
    tries: int = 0  # how often it was typed or sent, and no proof came


class Promises:
    """One open promise for each session at most; `look` carries out those whose time has come."""

    def __init__(self, supervisor: Supervisor, give: GiveResumed) -> None:
        self._supervisor, self._give = supervisor, give
        self._store, self._clock = supervisor.store, supervisor.clock
        self._looked_up: set[str] = set()
        self._open: dict[str, _Promise] = {}
        self._giving: set[str] = set()
        supervisor.also_forget.append(self.forget)

    def forget(self, session: str) -> None:
        """Let go of a session that is not watched any more; the store still has what it was promised."""
        self._looked_up.discard(session)
        self._open.pop(session, None)

    def of(self, watch: Watch) -> Delivery | None:
        """What a session is still to be told, also by an earlier daemon's promise.

        None as soon as its record shows it, a person has set it to work, or it follows another conversation.
        """
        promise = self._still_open(watch)
        return promise.given if promise else None

    def make(self, watch: Watch, given: Delivery) -> None:
        """Keep a prompt for the conversation that a session follows, before that is started again.

        It is given when the session rests, unless it goes along on the command line.
        """
        state = DeliveryState.SENT if given.channel is Channel.ARGV else DeliveryState.OFFERED
        promise = _Promise(replace(given, state=state), watch.conversation.agent_session)
        self._store.save_delivery(promise.given)
        self._keep(promise)

    def withdraw(self, watch: Watch) -> None:
        """Whatever it was to be told: the work has gone on elsewhere."""
        if promise := self._kept(watch.session.id):
            self._end(promise, DeliveryState.WITHDRAWN)

    async def look(self) -> None:
        for watch in list(self._supervisor.watches.values()):
            if watch.step is not None or watch.gone or watch.session.id in self._giving:
                continue
            given = self.of(watch)
            if given is None or given.channel is Channel.ARGV or not watch.idle():
                continue
            if why := await self.carry_out(watch, _GIVE_SECONDS):
                log.info("%s is not told to go on yet: %s", watch.session.name, why)

    async def carry_out(self, watch: Watch, seconds: float) -> str | None:
        """Give it now; None when nothing more is to be done, else why it is not seen to have arrived."""
        session = watch.session.id
        if session in self._giving:
            return "it is being told"
        self._giving.add(session)
        watch.being_told = True
        try:
            promise = self._still_open(watch)
            return await self._carry_out(watch, promise, seconds) if promise else None
        finally:
            self._giving.discard(session)
            watch.being_told = False

    async def _carry_out(self, watch: Watch, promise: _Promise, seconds: float) -> str | None:
        given = self._now(promise)
        if given.state is DeliveryState.OFFERED:  # what was sent once is only waited for
            given = replace(given, channel=channel_of(watch))
            self._store.save_delivery(given)
        untold = await self._give(watch, given, promise.conversation, seconds)
        if untold is None:
            self._end(promise, DeliveryState.SEEN)
            return None
        if self._still_open(watch) is None:  # it shows by now, or a person was faster
            return None
        if untold.tried:
            await self._tried(watch, replace(promise, tries=promise.tries + 1), untold.why)
        return untold.why

    async def _tried(self, watch: Watch, promise: _Promise, why: str) -> None:
        """No proof came: it is looked at once more, and then a person is told."""
        self._keep(promise)
        if promise.tries < _TRIES:
            return
        name = watch.session.name
        help_ = "look at its pane, and tell it yourself if it stands still"
        await self._supervisor.tell(
            watch, f"{name} was to go on after its restart, and may not have heard: {why}; {help_}"
        )
        sent = self._now(promise).state is DeliveryState.SENT  # then its record may still show it
        self._end(promise, DeliveryState.SENT if sent else DeliveryState.WITHDRAWN)

    # -- what is kept --------------------------------------------------------------------------------

    def _still_open(self, watch: Watch) -> _Promise | None:
        promise, conversation = self._kept(watch.session.id), watch.conversation
        if promise is None:
            return None
        watch.read()
        if conversation.agent_session != promise.conversation:
            self._end(promise, DeliveryState.WITHDRAWN)
        elif conversation.prompted(promise.given.tag) is not None:
            self._end(promise, DeliveryState.SEEN)
        elif not conversation.waits_since(promise.given.offered):  # a person has set it to work
            self._end(promise, DeliveryState.WITHDRAWN)
        else:
            return promise
        return None

    def _kept(self, session: str) -> _Promise | None:
        if session not in self._looked_up:
            noted = self._store.get(_key(session))
            if isinstance(noted, dict):
                given = self._store.delivery(str(noted.get("tag")))
                if given is not None and given.state in _OPEN:
                    self._open[session] = _Promise(given, str(noted.get("conversation")), int(noted.get("tries") or 0))
            self._looked_up.add(session)
        return self._open.get(session)

    def _now(self, promise: _Promise) -> Delivery:
        return self._store.delivery(promise.given.tag) or promise.given

    def _keep(self, promise: _Promise) -> None:
        session = promise.given.session
        noted = {"tag": promise.given.tag, "conversation": promise.conversation, "tries": promise.tries}
        self._store.put(_key(session), noted)
        self._looked_up.add(session)
        self._open[session] = promise

    def _end(self, promise: _Promise, state: DeliveryState) -> None:
        self._store.save_delivery(self._now(promise).become(state, self._clock.now()))
        self._store.put(_key(promise.given.session), {})
        self._open.pop(promise.given.session, None)


def is_promised(store: Store, session: str) -> bool:
    """Whether a session is still to be told something that was promised to it."""
    return bool(store.get(_key(session)))


def _key(session: str) -> str:
    return f"promise {session}"
