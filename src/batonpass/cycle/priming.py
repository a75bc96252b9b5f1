"""The step that sets the successor to work: the kick, and whether it was heard."""

from dataclasses import replace
from pathlib import Path

from batonpass.agents.base import Agent
from batonpass.cycle import said
from batonpass.cycle.briefing import brief
from batonpass.cycle.case import Case
from batonpass.cycle.giving import channel_of, give
from batonpass.cycle.heir import catch_up, front_settled, gone, starts, went_back
from batonpass.cycle.moves import GONE, MOVED, NOT_SEEN, Move, Outcome, Step, Way
from batonpass.cycle.sealed import text_of
from batonpass.cycle.writing import ELSEWHERE
from batonpass.delivery import Channel, Delivery, DeliveryState, tag
from batonpass.handoff import prompts
from batonpass.handoff.prime import along
from batonpass.supervisor.conversation import Conversation
from batonpass.supervisor.keys import NotReady


async def prime(case: Case, move: Move) -> Outcome:
    """Set the successor to work; its context came with the session start."""
    await catch_up(case)
    outcome = await _kicked(case, move)
    if outcome.code != NOT_SEEN or move.way is not Way.SWITCH:
        return outcome
    return await _heard_late(case, move, outcome)


def kick(case: Case, attempt: int, wrong: tuple[str, ...], heir: Agent) -> Delivery:
    """The prompt that sets the successor to work, with what the user said too late for the document."""
    mark = tag(case.cycle.id, "kick", attempt)
    document = Path(str(case.recall("sealed")))
    if wrong:
        text = prompts.correct(mark, case.cycle.id, document, wrong)
    else:
        late = said.late(case)
        text = prompts.kick(mark, case.cycle.id, document, late_prompts=late, template=case.config.prompts.kick)
    if _hook_was_lost(case, heir) or not (wrong or _primed_by_hook(case, heir)):
        text = along(text, text_of(case), document, heir.prime_cap, heir.prime_parts)
    return Delivery(
        mark, case.watch.session.id, case.cycle.id, "kick", attempt, channel_of(case.watch), DeliveryState.OFFERED,
        case.clean(text), case.stage.clock.now(),
    )  # fmt: skip


def _primed_by_hook(case: Case, heir: Agent) -> bool:
    """Whether a hook gives the document as context; else the prompt must bring it along."""
    return heir.has_hooks and (case.watch.hooks_seen > 0 or heir.name != case.agent.name)


def _hook_was_lost(case: Case, heir: Agent) -> bool:
    """Whether nothing but the agent's word told that the successor began, where a hook should have primed it."""
    current = case.watch.conversation.agent_session
    if not case.watch.hooks_seen or current == case.cycle.old_agent_session:
        return False
    if heir.starts_with_prompt or heir.primes_with_prompt:  # it is primed later, by the hook of its first prompt
        return False
    told = [bool(e.data.get("by_word")) for e in starts(case) if e.data.get("agent_session") == current]
    return bool(told) and all(told)


async def _heard_late(case: Case, move: Move, missed: Outcome) -> Outcome:
    """What to think of an heir whose kick does not show: one at work may have heard it, and is waited for.

    The outcome says whether it works on: then nobody may take its place.
    """
    watch = case.watch

    def seen() -> str | None:
        return _heard_as_meant(case, watch.conversation, move)

    if watch.working():
        times = case.config.timeouts
        await watch.until(lambda: seen() is not None or watch.gone or not watch.working(), times.verify)
    watch.read()
    if watch.gone:
        return gone(case, Step.PRIME, "the successor died before its first prompt")
    if (mark := seen()) is not None:
        return Outcome(Step.PRIME, note="the kick showed late", data={"tag": mark})
    return replace(missed, data={"at_work": watch.working()})


def heard(case: Case, conversation: Conversation, attempt: int) -> str | None:
    """The last kick, up to this attempt, that the conversation's record shows."""
    marks = [tag(case.cycle.id, "kick", number) for number in range(attempt, 0, -1)]
    return next((mark for mark in marks if conversation.prompted(mark) is not None), None)


def _heard_as_meant(case: Case, conversation: Conversation, move: Move) -> str | None:
    """The kick that counts as this one. Of the first kicks any will do, and a late one makes the next superfluous; a
    correction must be heard itself."""
    mark = heard(case, conversation, move.attempt)
    return mark if not move.missing or mark == tag(case.cycle.id, "kick", move.attempt) else None


async def _kicked(case: Case, move: Move) -> Outcome:
    """Give the kick, once, and look for it in the successor's record; what was given along is only looked for."""
    watch, store = case.watch, case.stage.store
    mark = tag(case.cycle.id, "kick", move.attempt)
    conversation = watch.conversation

    def arrived() -> bool:
        return _heard_as_meant(case, conversation, move) is not None

    if move.way is not Way.START and not arrived() and went_back(case):
        return Outcome(Step.PRIME, MOVED, ELSEWHERE)
    given = store.delivery(mark)
    if given is not None and given.channel is Channel.ARGV:
        return await _given_along(case, move, mark)
    if given is None or given.state is DeliveryState.WITHDRAWN:
        given = kick(case, move.attempt, move.missing, case.agent)
        store.save_delivery(given)
    await brief(case)
    if watch.conversation is not conversation:
        return await _kicked(case, move)  # the user began anew while the box came to rest
    try:
        sent, seconds = case.agent.clear_command, case.config.timeouts.prime
        seen = await give(case.stage, watch, given, arrived, seconds, sent=sent)
    except NotReady as obstacle:
        store.save_delivery(given.become(DeliveryState.WITHDRAWN, case.stage.clock.now()))
        if obstacle.code == MOVED and not await front_settled(case):
            return Outcome(Step.PRIME, MOVED, ELSEWHERE)
        if obstacle.code == MOVED and watch.conversation is not conversation:
            return await _kicked(case, move)  # the user began anew before anything was sent: that is the one to kick
        return gone(case, Step.PRIME, str(obstacle)) if obstacle.code == GONE else _not_seen(str(obstacle))
    if not seen:
        return _not_seen("the kick was given, but the agent's record does not show it")
    if (shown := _heard_as_meant(case, conversation, move)) != mark:  # the one before showed late, and no other is due
        store.save_delivery(given.become(DeliveryState.WITHDRAWN, case.stage.clock.now()))
    return Outcome(Step.PRIME, data={"tag": shown, "channel": given.channel})


async def _given_along(case: Case, move: Move, mark: str) -> Outcome:
    """Look for a kick that stood on the command line, in whatever conversation the agent began with: not every one is
    named beforehand."""
    watch, times = case.watch, case.config.timeouts

    def arrived() -> bool:
        return _heard_as_meant(case, watch.conversation, move) is not None

    # A new session may first ask a person whether it may work in this folder.
    seconds = times.safe_point if move.way is Way.START else times.prime
    if await watch.until(lambda: arrived() or watch.gone, seconds) and arrived():
        began = watch.conversation.agent_session
        case.cycle = case.stage.store.update_cycle(case.cycle.id, new_agent_session=began)
        return Outcome(Step.PRIME, data={"tag": mark, "channel": Channel.ARGV})
    if watch.gone:
        return gone(case, Step.PRIME, "the successor died before its first prompt")
    return _not_seen("the kick on the command line does not show in the agent's record")


def _not_seen(note: str) -> Outcome:
    return Outcome(Step.PRIME, NOT_SEEN, note)
