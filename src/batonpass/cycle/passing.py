"""The step that begins the successor's conversation: a clear in place, a new process, or another agent."""

from dataclasses import replace
from functools import partial
from pathlib import Path

from batonpass.agents.base import Control, ControlError
from batonpass.cycle import said, switching
from batonpass.cycle.case import Case
from batonpass.cycle.heir import front_settled, successor
from batonpass.cycle.moves import (
    BOX_IN_USE,
    GONE,
    INTERRUPTED,
    MOVED,
    NOT_CLEARED,
    UNSEALED,
    Move,
    Outcome,
    Step,
    Way,
)
from batonpass.cycle.priming import kick
from batonpass.cycle.returning import STARTED_SECONDS, bind_anew, start_anew, was_started
from batonpass.cycle.sealed import as_sealed
from batonpass.cycle.worked_on import seal_again, worked_on
from batonpass.cycle.writing import ELSEWHERE
from batonpass.delivery import Channel, DeliveryState, tag
from batonpass.handoff.prime import parts
from batonpass.supervisor.keys import BUSY, TEXT, UNSENT, NotReady
from batonpass.supervisor.offers import Offers

_CLEARED_SECONDS = 8.0


async def hand_over(case: Case, move: Move) -> Outcome:
    """Begin the successor's conversation, in place or in a new process, with the handoff laid out for it."""
    await bind_anew(case)
    case.watch.refresh()
    moved_on = not await front_settled(case) and not was_started(case, _label(move))
    offers = case.stage.offers(case.watch)
    # A conversation that the user began before the handoff was laid out knows nothing of it.
    if offers.primed("clear") and successor(case) is not None:
        return _passed(case, move.way)
    if moved_on or (case.elsewhere and case.watch.conversation.agent_session not in said.died(case)):
        return Outcome(Step.PASS, MOVED, ELSEWHERE)
    text = await as_sealed(case)
    if text is None:
        return _unsealed(case)
    document, heir = Path(str(case.recall("sealed"))), switching.heir(case, move.way)
    laid = parts(text, document, heir.prime_cap, heir.prime_parts)
    Offers(case.watch.folder, heir).prime(["clear", "startup", "compact"], laid)
    case.stage.probe("pass:primed")
    if move.way is Way.CLEAR:
        return await _clear(case, move)
    return await _respawn(case, move)


def _label(move: Move) -> str:
    """Of the process that a move starts: each is started once, also when a crash comes in between."""
    return f"pass {move.attempt}"


def _unsealed(case: Case) -> Outcome:
    note = f"the sealed handoff {case.recall('sealed')} was changed or removed and could not be put right; "
    return Outcome(Step.PASS, UNSEALED, note + "nothing was cleared")


def _passed(case: Case, way: Way) -> Outcome:
    case.cycle = case.stage.store.update_cycle(
        case.cycle.id, way=str(way), new_agent_session=case.watch.conversation.agent_session
    )
    return Outcome(Step.PASS, note=str(way), data={"agent_session": case.watch.conversation.agent_session})


async def _clear(case: Case, move: Move) -> Outcome:
    watch, keys = case.watch, case.stage.keys
    try:
        own = case.agent.clear_command if case.recall("clear_typed") else None
        typed = await keys.ready(watch, case.config.timeouts.pass_, own)
        watch.read()
        if said.new_prompts(case):
            if typed:
                await keys.take_back(watch, case.agent.clear_command)
            return said.begin_again(case)
        if await worked_on(case):
            if typed:
                await keys.take_back(watch, case.agent.clear_command)
            return seal_again(case)
        if await as_sealed(case) is None:  # waiting for the box may have taken a while
            return _unsealed(case)
        if case.elsewhere:  # long enough for a person's own clear
            raise NotReady(MOVED, ELSEWHERE)
        control = case.agent.control(watch.binding)
        case.remember(clear_typed=control is None)
        case.stage.probe("pass:typing")
        if control is not None:
            await _bring_to_front(case, control)
        elif case.agent.clears_with_prompt:
            await _clear_and_kick(case, move, typed)
        else:
            await keys.submit(
                watch, case.agent.clear_command, lambda: successor(case) is not None, pasted=typed, taken=0.0
            )
    except ControlError as error:
        return Outcome(Step.PASS, NOT_CLEARED, str(error))
    except NotReady as obstacle:
        if successor(case) is not None:  # a person was quicker, or a clear that was typed before a crash is heard of
            return _passed(case, Way.CLEAR)
        if case.elsewhere:
            return Outcome(Step.PASS, MOVED, ELSEWHERE)
        if obstacle.code == GONE:
            return Outcome(Step.PASS, GONE, str(obstacle))
        if obstacle.code == BUSY and (at_work := await _at_work_again(case)):
            return at_work
        code = {TEXT: BOX_IN_USE, UNSENT: INTERRUPTED}.get(obstacle.code, NOT_CLEARED)
        return Outcome(Step.PASS, code, str(obstacle))
    if await watch.until(lambda: successor(case) is not None or watch.gone, _CLEARED_SECONDS):
        return _passed(case, Way.CLEAR) if successor(case) else Outcome(Step.PASS, GONE, "the agent is gone")
    return Outcome(Step.PASS, NOT_CLEARED, f"{case.agent.clear_command} did not begin a new conversation")


async def _at_work_again(case: Case) -> Outcome | None:
    """What sends the cycle back where its agent is at work and not only slow to say that it is idle."""
    case.watch.read()
    if said.new_prompts(case):
        return said.begin_again(case)
    return seal_again(case) if await worked_on(case) else None


async def _clear_and_kick(case: Case, move: Move, typed: bool) -> None:
    """Type the clear and, once, the kick: only with that does the new conversation have an id to be known by."""
    watch, keys, store = case.watch, case.stage.keys, case.stage.store
    given = store.delivery(tag(case.cycle.id, "kick", move.kick))
    if given is not None and given.state is not DeliveryState.WITHDRAWN:
        return  # it was typed before a crash, and the record will show it
    await keys.submit(watch, case.agent.clear_command, lambda: False, pasted=typed, taken=0.0)
    given = kick(case, move.kick, (), case.agent)
    await keys.ready(watch, case.config.timeouts.prime, None, case.agent.clear_command)
    store.save_delivery(given)
    case.stage.probe("pass:kicking")
    try:
        note = partial(store.save_delivery, given.become(DeliveryState.SENT, case.stage.clock.now()))
        await keys.submit(watch, given.text, lambda: successor(case) is not None, patient=True, entering=note)
    except NotReady:
        store.save_delivery(given.become(DeliveryState.WITHDRAWN, case.stage.clock.now()))
        raise


async def _bring_to_front(case: Case, control: Control) -> None:
    """A new conversation, or the one that was begun before a crash. Raises ControlError."""
    begun = case.recall("fresh")
    if isinstance(begun, str):
        await control.back(begun)
    else:
        case.remember(fresh=await control.fresh(case.cycle.old_agent_session))
    case.watch.refresh()


async def _respawn(case: Case, move: Move) -> Outcome:
    """A new process in the same pane; the kick goes along on its command line."""
    given = replace(
        kick(case, move.kick, (), switching.heir(case, move.way)), channel=Channel.ARGV, state=DeliveryState.SENT
    )
    label = _label(move)
    if move.way is Way.RESPAWN and not (move.at_last or was_started(case, label)) and await worked_on(case):
        return seal_again(case)
    to = switching.successor(case) if move.way is Way.SWITCH else None
    if to is not None and (held := await switching.hold_back(case, label)):
        return held
    failed = await start_anew(case, label, given, to=to)
    if failed:
        who = f"{to.agent} could not be started" if to else "the agent could not be started again"
        return Outcome(Step.PASS, NOT_CLEARED, f"{who}: {failed}")
    # Whoever is there may first have to answer a dialog of an agent that is new here.
    seconds = STARTED_SECONDS if to is None or case.recall("silent") else case.config.timeouts.safe_point
    await case.watch.until(lambda: successor(case) is not None or case.watch.gone, seconds)
    if successor(case) is not None:
        return _passed(case, move.way)
    words = await case.stage.launcher.last_words(case.watch)
    if to is not None:
        return switching.not_begun(case, to, words)
    said_last = f"; its last words: {words}" if words else ""
    return Outcome(Step.PASS, NOT_CLEARED, f"the new process did not begin a conversation{said_last}")
