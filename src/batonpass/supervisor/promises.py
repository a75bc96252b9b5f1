"""Prompts that were promised to sessions which could not hear them yet: kept in the store until they are given.

A conversation that was cut off in its turn and brought back is told to go on. One that stands at a dialog hears that
once a person has answered, be it days later and by another daemon.
"""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace

from batonpass.cycle.giving import channel_of
from batonpass.delivery import Delivery, DeliveryState
from batonpass.supervisor.act import Supervisor
from batonpass.supervisor.watch import Watch

log = logging.getLogger(__name__)

STEP = "restored"  # in the tags of such prompts
_GIVE_SECONDS = 5.0
# Gives a prompt to a conversation that was resumed, once it rests; None when it has arrived, else why not.
GiveResumed = Callable[[Watch, Delivery, str | None, float], Awaitable[str | None]]


class Promises:
    """One open promise for each session at most; `look` carries out those whose time has come."""

    def __init__(self, supervisor: Supervisor, give: GiveResumed) -> None:
        self._supervisor, self._give = supervisor, give
        self._store, self._clock = supervisor.store, supervisor.clock
        self._looked_up: set[str] = set()
        self._open: dict[str, Delivery] = {}
        self._giving: set[str] = set()

    def of(self, session: str) -> Delivery | None:
        """What a session is still to be told, also by an earlier daemon's promise."""
        if session not in self._looked_up:
            self._looked_up.add(session)
            for given in self._store.deliveries(session=session):
                if given.step == STEP and given.state is DeliveryState.OFFERED:
                    self._open[session] = given
        return self._open.get(session)

    def make(self, given: Delivery) -> None:
        """Keep a prompt for a session; it is given when the session rests."""
        self._store.save_delivery(given)
        self._looked_up.add(given.session)
        self._open[given.session] = given

    def sent(self, given: Delivery) -> None:
        """It went along on a command line."""
        self._end(given, DeliveryState.SENT)

    async def look(self) -> None:
        for watch in list(self._supervisor.watches.values()):
            given = self.of(watch.session.id)
            if given is None or watch.step is not None or not watch.idle():
                continue
            if why := await self.carry_out(watch, given, _GIVE_SECONDS):
                log.info("%s is not told to go on yet: %s", watch.session.name, why)

    async def carry_out(self, watch: Watch, given: Delivery, seconds: float) -> str | None:
        """Give it now; None when nothing more is to be done, else why it is still open."""
        session = watch.session.id
        if session in self._giving:
            return "it is being told"
        self._giving.add(session)
        try:
            return await self._carry_out(watch, given, seconds)
        finally:
            self._giving.discard(session)

    async def _carry_out(self, watch: Watch, given: Delivery, seconds: float) -> str | None:
        watch.read()
        if not watch.conversation.waits_since(given.offered):  # a person has set it to work, or begun another
            self._end(given, DeliveryState.WITHDRAWN)
            return None
        given = self._store.delivery(given.tag) or given  # what was sent once is only waited for
        if given.state is DeliveryState.OFFERED:
            given = replace(given, channel=channel_of(watch))
        why = await self._give(watch, given, watch.session.agent_session, seconds)
        if why is None:
            self._end(given, DeliveryState.SEEN)
        return why

    def _end(self, given: Delivery, state: DeliveryState) -> None:
        self._store.save_delivery(given.become(state, self._clock.now()))
        self._open.pop(given.session, None)
