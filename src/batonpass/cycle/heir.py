"""Who has the work after the baton was passed: the conversation that follows, and what became of it."""

from batonpass.cycle import said
from batonpass.cycle.case import Case
from batonpass.cycle.moves import GONE, Outcome, Step
from batonpass.store.records import EventRecord

_FOLLOWED_SECONDS = 8.0  # by then a conversation that the agent has named is followed, with or without its hook
_STARTS = 50  # starts of conversations that are looked through for the successor's


async def front_settled(case: Case) -> bool:
    """Whether the agent names no other conversation than the one that is followed; a hook may be on its way."""
    watch = case.watch
    return await watch.until(lambda: watch.left_for is None or watch.gone, _FOLLOWED_SECONDS)


async def catch_up(case: Case) -> None:
    """After a crash a session is followed where the store has it, which may be behind what its agent has in front."""
    case.watch.refresh()
    await front_settled(case)


def successor(case: Case) -> str | None:
    """The new conversation, once the agent's own session-start has named it; known also after a restart."""
    current = case.watch.conversation.agent_session
    if not current or current == case.cycle.old_agent_session or current in said.died(case):
        return None
    return current if _began(case, current, ("clear", "startup")) else None


def went_back(case: Case) -> bool:
    """Whether the user left the successor for a conversation that there was before, its predecessor perhaps."""
    current = case.watch.conversation.agent_session
    return bool(current) and current != case.cycle.new_agent_session and successor(case) is None


def gone(case: Case, step: Step, note: str) -> Outcome:
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


def starts(case: Case) -> list[EventRecord]:
    """The record of starts, in its own order: the clock may have been set back since."""
    events = case.stage.store.events(session=case.watch.session.id, name="SESSION_STARTED", limit=_STARTS)
    return sorted(events, key=lambda event: event.id)


def _began(case: Case, agent_session: str, sources: tuple[str, ...]) -> bool:
    """Whether the record of starts has this conversation beginning in one of these ways after the old one."""
    events = starts(case)
    old = [n for n, event in enumerate(events) if event.data.get("agent_session") == case.cycle.old_agent_session]
    after = events[old[-1] + 1 :] if old else [event for event in events if event.at >= case.cycle.started]
    return any(e.data.get("agent_session") == agent_session and e.data.get("source") in sources for e in after)
