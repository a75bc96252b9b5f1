"""The steps that hand the work over: pass, prime, verify, close."""

from dataclasses import replace
from pathlib import Path

from batonpass.agents.base import Agent, Control, ControlError
from batonpass.cycle import receipt, said, switching
from batonpass.cycle.briefing import brief
from batonpass.cycle.case import Case
from batonpass.cycle.giving import channel_of, give
from batonpass.cycle.moves import (
    BOX_IN_USE,
    GONE,
    INTERRUPTED,
    MOVED,
    NOT_CLEARED,
    NOT_SEEN,
    REJECTED,
    UNSEALED,
    Move,
    Outcome,
    Result,
    Step,
    Way,
)
from batonpass.cycle.refusal import refusal
from batonpass.cycle.returning import STARTED_SECONDS, bind_anew, start_anew, was_started
from batonpass.cycle.sealed import as_sealed, forget_copy, text_of
from batonpass.cycle.writing import ELSEWHERE
from batonpass.delivery import Channel, Delivery, DeliveryState, tag
from batonpass.disk import write_private
from batonpass.facts import Change, GitFacts
from batonpass.handoff import prompts
from batonpass.handoff.instructions import PENDING_FILE
from batonpass.handoff.markdown import parse
from batonpass.handoff.prime import along, parts
from batonpass.store.records import CycleState, EventRecord
from batonpass.supervisor.conversation import Conversation
from batonpass.supervisor.keys import TEXT, UNSENT, NotReady
from batonpass.supervisor.offers import Offers

_CLEARED_SECONDS = 8.0
_FOLLOWED_SECONDS = 8.0  # by then a conversation that the agent has named is followed, with or without its hook
_STARTS = 50  # starts of conversations that are looked through for the successor's


async def hand_over(case: Case, move: Move) -> Outcome:
    """Begin the successor's conversation, in place or in a new process, with the handoff laid out for it."""
    await bind_anew(case)
    case.watch.refresh()
    moved_on = not await _front_settled(case) and not was_started(case, _label(move))
    offers = case.stage.offers(case.watch)
    # A conversation that the user began before the handoff was laid out knows nothing of it.
    if offers.primed("clear") and _successor(case) is not None:
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


async def _front_settled(case: Case) -> bool:
    """Whether the agent names no other conversation than the one that is followed; a hook may be on its way."""
    watch = case.watch
    return await watch.until(lambda: watch.left_for is None or watch.gone, _FOLLOWED_SECONDS)


def _label(move: Move) -> str:
    """Of the process that a move starts: each is started once, also when a crash comes in between."""
    return f"pass {move.attempt}"


def _unsealed(case: Case) -> Outcome:
    note = f"the sealed handoff {case.recall('sealed')} was changed or removed and could not be put right; "
    return Outcome(Step.PASS, UNSEALED, note + "nothing was cleared")


def _successor(case: Case) -> str | None:
    """The new conversation, once the agent's own session-start has named it; known also after a restart."""
    current = case.watch.conversation.agent_session
    if not current or current == case.cycle.old_agent_session or current in said.died(case):
        return None
    return current if _began(case, current, ("clear", "startup")) else None


def _went_back(case: Case) -> bool:
    """Whether the user left the successor for a conversation that there was before, its predecessor perhaps."""
    current = case.watch.conversation.agent_session
    return bool(current) and current != case.cycle.new_agent_session and _successor(case) is None


def _gone(case: Case, step: Step, note: str) -> Outcome:
    """The successor's process has ended: whatever is passed to next, it is not this conversation."""
    current = case.watch.conversation.agent_session
    if not current or current == case.cycle.old_agent_session:
        return Outcome(step, GONE, note)
    if current not in said.died(case):
        case.remember(died=[*said.died(case), current])
    worked = said.worked(case)
    if worked and (case.bequest or {}).get("agent_session") != current:
        case.bequeath()
    return Outcome(step, GONE, note, {"worked": worked})


def _starts(case: Case) -> list[EventRecord]:
    """The record of starts, in its own order: the clock may have been set back since."""
    events = case.stage.store.events(session=case.watch.session.id, name="SESSION_STARTED", limit=_STARTS)
    return sorted(events, key=lambda event: event.id)


def _began(case: Case, agent_session: str, sources: tuple[str, ...]) -> bool:
    """Whether the record of starts has this conversation beginning in one of these ways after the old one."""
    events = _starts(case)
    old = [n for n, event in enumerate(events) if event.data.get("agent_session") == case.cycle.old_agent_session]
    after = events[old[-1] + 1 :] if old else [event for event in events if event.at >= case.cycle.started]
    return any(e.data.get("agent_session") == agent_session and e.data.get("source") in sources for e in after)


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
                watch, case.agent.clear_command, lambda: _successor(case) is not None, pasted=typed, taken=0.0
            )
    except ControlError as error:
        return Outcome(Step.PASS, NOT_CLEARED, str(error))
    except NotReady as obstacle:
        if _successor(case) is not None:  # a person was quicker, or a clear that was typed before a crash is heard of
            return _passed(case, Way.CLEAR)
        if case.elsewhere:
            return Outcome(Step.PASS, MOVED, ELSEWHERE)
        if obstacle.code == GONE:
            return Outcome(Step.PASS, GONE, str(obstacle))
        code = {TEXT: BOX_IN_USE, UNSENT: INTERRUPTED}.get(obstacle.code, NOT_CLEARED)
        return Outcome(Step.PASS, code, str(obstacle))
    if await watch.until(lambda: _successor(case) is not None or watch.gone, _CLEARED_SECONDS):
        return _passed(case, Way.CLEAR) if _successor(case) else Outcome(Step.PASS, GONE, "the agent is gone")
    return Outcome(Step.PASS, NOT_CLEARED, f"{case.agent.clear_command} did not begin a new conversation")


async def _clear_and_kick(case: Case, move: Move, typed: bool) -> None:
    """Type the clear and, once, the kick: only with that does the new conversation have an id to be known by."""
    watch, keys, store = case.watch, case.stage.keys, case.stage.store
    given = store.delivery(tag(case.cycle.id, "kick", move.kick))
    if given is not None and given.state is not DeliveryState.WITHDRAWN:
        return  # it was typed before a crash, and the record will show it
    await keys.submit(watch, case.agent.clear_command, lambda: False, pasted=typed, taken=0.0)
    given = _kick(case, move.kick, (), case.agent)
    await keys.ready(watch, case.config.timeouts.prime, None, case.agent.clear_command)
    store.save_delivery(given)
    case.stage.probe("pass:kicking")
    try:
        await keys.submit(watch, given.text, lambda: _successor(case) is not None, patient=True)
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
        _kick(case, move.kick, (), switching.heir(case, move.way)), channel=Channel.ARGV, state=DeliveryState.SENT
    )
    label = _label(move)
    to = switching.successor(case) if move.way is Way.SWITCH else None
    if to is not None and (held := await switching.hold_back(case, label)):
        return held
    failed = await start_anew(case, label, given, to=to)
    if failed:
        who = f"{to.agent} could not be started" if to else "the agent could not be started again"
        return Outcome(Step.PASS, NOT_CLEARED, f"{who}: {failed}")
    # Whoever is there may first have to answer a dialog of an agent that is new here.
    seconds = STARTED_SECONDS if to is None or case.recall("silent") else case.config.timeouts.safe_point
    await case.watch.until(lambda: _successor(case) is not None or case.watch.gone, seconds)
    if _successor(case) is not None:
        return _passed(case, move.way)
    words = await case.stage.launcher.last_words(case.watch)
    if to is not None:
        return switching.not_begun(case, to, words)
    said_last = f"; its last words: {words}" if words else ""
    return Outcome(Step.PASS, NOT_CLEARED, f"the new process did not begin a conversation{said_last}")


def _kick(case: Case, attempt: int, wrong: tuple[str, ...], heir: Agent) -> Delivery:
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
    told = [bool(e.data.get("by_word")) for e in _starts(case) if e.data.get("agent_session") == current]
    return bool(told) and all(told)


async def prime(case: Case, move: Move) -> Outcome:
    """Set the successor to work; its context came with the session start."""
    outcome = await _kicked(case, move)
    if outcome.code != NOT_SEEN or move.way is not Way.SWITCH:
        return outcome
    return await _heard_late(case, move, outcome)


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
        return _gone(case, Step.PRIME, "the successor died before its first prompt")
    if (mark := seen()) is not None:
        return Outcome(Step.PRIME, note="the kick showed late", data={"tag": mark})
    return replace(missed, data={"at_work": watch.working()})


def _heard(case: Case, conversation: Conversation, attempt: int) -> str | None:
    """The last kick, up to this attempt, that the conversation's record shows."""
    marks = [tag(case.cycle.id, "kick", number) for number in range(attempt, 0, -1)]
    return next((mark for mark in marks if conversation.prompted(mark) is not None), None)


def _heard_as_meant(case: Case, conversation: Conversation, move: Move) -> str | None:
    """The kick that counts as this one. Of the first kicks any will do, and a late one makes the next superfluous; a
    correction must be heard itself."""
    heard = _heard(case, conversation, move.attempt)
    return heard if not move.missing or heard == tag(case.cycle.id, "kick", move.attempt) else None


async def _kicked(case: Case, move: Move) -> Outcome:
    """Give the kick, once, and look for it in the successor's record; what was given along is only looked for."""
    watch, store = case.watch, case.stage.store
    mark = tag(case.cycle.id, "kick", move.attempt)
    conversation = watch.conversation

    def arrived() -> bool:
        return _heard_as_meant(case, conversation, move) is not None

    if move.way is not Way.START and not arrived() and _went_back(case):
        return Outcome(Step.PRIME, MOVED, ELSEWHERE)
    given = store.delivery(mark)
    if given is not None and given.channel is Channel.ARGV:
        times = case.config.timeouts
        # A new session may first ask a person whether it may work in this folder.
        seconds = times.safe_point if move.way is Way.START else times.prime
        if await watch.until(lambda: arrived() or watch.gone, seconds) and arrived():
            return Outcome(Step.PRIME, data={"tag": mark, "channel": Channel.ARGV})
        if watch.gone:
            return _gone(case, Step.PRIME, "the successor died before its first prompt")
        return _not_seen("the kick on the command line does not show in the agent's record")
    if given is None or given.state is DeliveryState.WITHDRAWN:
        given = _kick(case, move.attempt, move.missing, case.agent)
        store.save_delivery(given)
    await brief(case)
    if watch.conversation is not conversation:
        return await _kicked(case, move)  # the user began anew while the box came to rest
    try:
        sent, seconds = case.agent.clear_command, case.config.timeouts.prime
        seen = await give(case.stage, watch, given, arrived, seconds, sent=sent)
    except NotReady as obstacle:
        store.save_delivery(given.become(DeliveryState.WITHDRAWN, case.stage.clock.now()))
        if obstacle.code == MOVED and not await _front_settled(case):
            return Outcome(Step.PRIME, MOVED, ELSEWHERE)
        if obstacle.code == MOVED and watch.conversation is not conversation:
            return await _kicked(case, move)  # the user began anew before anything was sent: that is the one to kick
        return _gone(case, Step.PRIME, str(obstacle)) if obstacle.code == GONE else _not_seen(str(obstacle))
    if not seen:
        return _not_seen("the kick was given, but the agent's record does not show it")
    if (heard := _heard_as_meant(case, conversation, move)) != mark:  # the one before showed late, and no other is due
        store.save_delivery(given.become(DeliveryState.WITHDRAWN, case.stage.clock.now()))
    return Outcome(Step.PRIME, data={"tag": heard, "channel": given.channel})


def _not_seen(note: str) -> Outcome:
    return Outcome(Step.PRIME, NOT_SEEN, note)


async def verify(case: Case, move: Move) -> Outcome:
    """Compare the successor's own statement with the handoff."""
    watch = case.watch
    watch.read()
    mark = _heard(case, watch.conversation, move.attempt) or tag(case.cycle.id, "kick", move.attempt)
    index = watch.conversation.prompted(mark)
    since = watch.conversation.log[index].at if index is not None else case.stage.clock.now()

    def statement() -> dict[str, object] | None:
        # At the end of the turn its stop hook brings the last message, often before the record has it.
        for text in (*watch.conversation.said_after(mark), watch.last_message(mark, since)):
            found = receipt.find(text)
            if found is not None:
                return found
        return None

    def settled() -> bool:
        moved = watch.conversation.prompted(mark) is None  # the user has cleared it away: it is kicked again
        return watch.gone or moved or statement() is not None or watch.turn_over(mark, since)

    await watch.until(settled, case.config.timeouts.verify)
    if statement() is None:
        await watch.until(lambda: statement() is not None, 1.0)  # the record lags behind the stop hook
    found = statement()
    if found is None and watch.gone:
        refusal(case, mark)  # it may have died of that, and who did not serve is noted
        return _gone(case, Step.VERIFY, "the successor died before its receipt")
    if found is None and (refused := refusal(case, mark)) is not None:
        return refused
    if found is None:
        problems: tuple[str, ...] = ("the answer does not begin with the receipt",)
    else:
        document = parse(text_of(case))  # the successor may have changed the file: it is its own by now
        problems = receipt.verify(found, receipt.expected(document, _git_at_seal(case)), case.cycle.id)
    if problems:
        return Outcome(Step.VERIFY, REJECTED, "; ".join(problems), {"problems": list(problems)})
    return Outcome(Step.VERIFY, note="receipt accepted", data={"receipt": found or {}})


def _git_at_seal(case: Case) -> GitFacts | None:
    """The branch and the changed files that the handoff speaks of; the successor may have gone on since."""
    dirty, branch = case.recall("dirty"), case.recall("branch")
    if not isinstance(dirty, list):
        return None
    changes = tuple(Change(str(path), "changed") for path in dirty)
    return GitFacts(branch=str(branch) if branch else None, head=None, changes=changes)


async def close(case: Case, move: Move) -> Outcome:
    """Put the records in order and say how it ended."""
    watch, store, now = case.watch, case.stage.store, case.stage.clock.now()
    case.stage.offers(watch).clear()
    forget_copy(case)
    document = case.recall("sealed")
    if move.result in (Result.DONE, Result.UNVERIFIED):
        watch.session = replace(watch.session, chain=watch.session.chain + (0 if case.recall("counted") else 1))
        case.remember(counted=True)
        store.update_session(watch.session.id, chain=watch.session.chain)
        case.stage.probe("close:counted")
    if move.result is Result.PENDING and document:
        _leave_pending(Path(str(document)), move.note)
    status = "ok" if move.result is Result.DONE else "critical"
    details = {
        "result": str(move.result), "context_usage": case.cycle.percent, "handoff_file": document,
        "cycle_duration_ms": round(1000 * (now - case.cycle.started)), "usage_reset": move.result is Result.DONE,
    }  # fmt: skip
    store.add_health(
        watch.session.id, watch.session.project, "handoff", status, details, move.note or str(move.result), now
    )
    store.update_cycle(case.cycle.id, state=CycleState(str(move.result)), ended=now, note=move.note or None)
    await _tell(case, move)
    return Outcome(Step.CLOSE, note=str(move.result))


def _leave_pending(document: Path, why: str) -> None:
    text = (
        f"# Handoff pending\n\nA handoff is sealed and nobody has taken it: `{document.name}`.\n\n"
        f"Why: {why or 'the successor could not be started'}.\n\n"
        f"Continue it with `baton continue {document}`.\n"
    )
    write_private(document.parent / PENDING_FILE, text)


def _to(case: Case) -> str:
    return f" to {case.watch.session.agent}" if case.cycle.way == Way.SWITCH else ""


def _who_stays(case: Case) -> str:
    return f"{case.watch.session.agent} {'is there again' if case.recall('silent') else 'goes on'}"


async def _tell(case: Case, move: Move) -> None:
    name, document = case.watch.session.name, case.recall("sealed")
    old = case.cycle.old_agent_session
    sentences = {
        Result.DONE: f"{name} passed the baton{_to(case)}: {document}"
        if case.cycle.way != Way.START
        else f"{name} went on from {document}, and its receipt is right",
        Result.PENDING: f"{name}: the handoff is sealed but was not taken ({move.note}); "
        f"run: baton continue {document}",
        Result.UNVERIFIED: f"{name}: the successor's receipt was not accepted ({move.note}); "
        f"{f'the old conversation {old} can still be resumed; ' if old else ''}the handoff is {document}",
        Result.FAILED: f"{name}: {move.note}",
        Result.POSTPONED: f"{name}: {move.note}; {_who_stays(case)}, and the handoff is {document}"
        if case.recall("refused")
        else f"{name}: handoff postponed ({move.note}); it is tried again at the next reading",
    }
    await case.stage.notify(case.watch.session.id, sentences[move.result])
