"""Giving a prompt to a session, once, by the channel that its delivery names: the agent's own interface, or keys."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from batonpass.agents.base import ControlError
from batonpass.cycle.stage import Stage
from batonpass.delivery import Channel, Delivery, DeliveryState
from batonpass.session import State
from batonpass.supervisor.keys import BUSY, DIALOG, GONE, UNSENT, Keys, NotReady, moved
from batonpass.supervisor.watch import Watch

log = logging.getLogger(__name__)

_RELOADED_SECONDS = 4.0  # in which a conversation is shown again, also on a busy machine
_LOOK_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Untold:
    """Why a prompt is not seen to have arrived; `tried` when it was typed or sent all the same."""

    why: str
    tried: bool = False


def channel_of(watch: Watch) -> Channel:
    """How a prompt goes to an idle session now: what its own interface can do is not typed."""
    return Channel.KEYS if watch.agent.control(watch.binding) is None else Channel.API


async def obstacle(stage: Stage, watch: Watch, channel: Channel) -> NotReady | None:
    """Why nothing may be given by this channel now; the input box and the screen matter to keys alone."""
    if channel is not Channel.API:
        return await stage.keys.obstacle(watch)
    watch.refresh()
    if watch.gone:
        return NotReady(GONE, "the agent is gone")
    if watch.status.state is State.WAITING:
        return NotReady(DIALOG, f"the agent waits for a person: {watch.status.waiting_for or 'a dialog'}")
    if watch.left_for is not None:
        return moved()
    return None if watch.idle() else NotReady(BUSY, f"the agent says it is {watch.status.state}")


async def give(
    stage: Stage,
    watch: Watch,
    given: Delivery,
    arrived: Callable[[], bool],
    seconds: float,
    *,
    sent: str | None = None,
) -> bool:
    """Whether the prompt has arrived, by the agent's own record. Raises NotReady when it could not be given.

    `seconds` is how long to wait until it can be typed, `sent` what we typed there just before.
    """
    if given.channel is Channel.API:
        return await _send_once(stage, watch, given, arrived)
    if given.state is DeliveryState.SENT:  # with the clear, and its record may be slow
        return await _enter_once(stage, watch, given, arrived, seconds, sent=sent)
    return await _type_once(stage.keys, watch, given.text, arrived, seconds, sent=sent)


async def give_resumed(
    stage: Stage, watch: Watch, given: Delivery, agent_session: str | None, seconds: float
) -> Untold | None:
    """Give a prompt to a conversation that is being resumed, once it is there; else why not.

    However often it is asked for, it is entered once: what was, may show in the record late.
    """

    def rests() -> bool:
        same = watch.conversation.agent_session == agent_session
        return same and watch.idle() and watch.agent.holds(watch.binding)

    deadline = stage.clock.ticks() + seconds
    while not (watch.gone or rests()) and stage.clock.ticks() < deadline:
        await watch.until(lambda: watch.gone or rests(), _LOOK_SECONDS)  # not every word of an agent's wakes its watch
    if watch.gone or not rests():
        return Untold("it was started, and does not show its conversation")
    told = Untold("")

    def shown() -> bool:
        return watch.conversation.prompted(given.tag) is not None

    for pause in (watch.agent.clear_seconds, _RELOADED_SECONDS):
        await stage.clock.sleep(pause)  # what is typed while it loads what was said is lost
        if watch.conversation.agent_session != agent_session:
            return Untold(str(moved()), told.tried)
        given = stage.store.delivery(given.tag) or given
        try:
            by_api = given.channel is Channel.API
            arrived = await (
                _send_once(stage, watch, given, shown) if by_api else _enter_once(stage, watch, given, shown, seconds)
            )
        except NotReady as obstacle:
            told = Untold(str(obstacle), told.tried or obstacle.code == UNSENT)
            if obstacle.code != UNSENT:
                break
        else:
            return None if arrived else Untold("it did not take the prompt", tried=True)
    return told


async def _send_once(stage: Stage, watch: Watch, given: Delivery, arrived: Callable[[], bool]) -> bool:
    """Send it unless that was begun before: what may be under way is waited for and not sent again."""
    watch.read()
    if arrived():
        return True
    if given.state is DeliveryState.OFFERED:
        control = watch.agent.control(watch.binding)
        if control is None:
            raise NotReady(GONE if watch.gone else UNSENT, "the agent's own interface does not answer any more")
        stage.store.save_delivery(given.become(DeliveryState.SENT, stage.clock.now()))
        stage.probe("api:sending")
        try:
            await control.submit(watch.conversation.agent_session, given.text)
        except ControlError as error:
            log.info("%s: %s; its record is waited for", watch.session.name, error)
        stage.probe("api:sent")
    return await watch.records(arrived)


async def _type_once(
    keys: Keys, watch: Watch, text: str, arrived: Callable[[], bool], seconds: float, *, sent: str | None = None
) -> bool:
    """Type a prompt unless it stands in the box already or has arrived; `sent` is what we typed there just before."""
    watch.read()
    if arrived():
        return True
    pasted = await keys.ready(watch, seconds, text, sent)
    return arrived() or await keys.submit(watch, text, arrived, pasted=pasted, patient=True)


async def _enter_once(
    stage: Stage, watch: Watch, given: Delivery, arrived: Callable[[], bool], seconds: float, *, sent: str | None = None
) -> bool:
    """Type a prompt, and note it before its Enter. What was entered before is not typed again, only waited for.

    Where it still stands in the box its Enter was not heard, and is pressed again.
    """
    watch.read()
    if arrived():
        return True
    pasted = await stage.keys.ready(watch, seconds, given.text, sent)
    if not pasted and given.state is not DeliveryState.OFFERED:
        return await watch.records(arrived)
    note = partial(stage.store.save_delivery, given.become(DeliveryState.SENT, stage.clock.now()))
    return arrived() or await stage.keys.submit(watch, given.text, arrived, pasted=pasted, patient=True, entering=note)
