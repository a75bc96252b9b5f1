"""What the agent did after its document was sealed: a turn that ended may be taken up again.

A stop hook of the user's may send it back to work after ours has heard of the end, and news of a background task begins
a turn by itself. It is told by the order of the agent's own record, since a clock may be set.
"""

import hashlib

from batonpass.cycle import said
from batonpass.cycle.case import Case
from batonpass.cycle.moves import WORKED_ON, Outcome, Step
from batonpass.delivery import tags_in
from batonpass.supervisor.conversation import Kept
from batonpass.transcripts.events import Failed, Interrupted, Origin, Prompted, Said


def mark(case: Case) -> dict[str, object]:
    """Where the record stands before the facts for a seal are gathered, and which last words are still due in it."""
    case.watch.read()
    conversation = case.watch.conversation
    if conversation.agent_session != case.cycle.old_agent_session:
        return {"heard": None, "due": None}
    return {"heard": conversation.told, "due": _due(case)}


def _due(case: Case) -> str | None:
    """A digest of the last words of the turn that wrote, as its hook told them; "" where nobody knows them.

    None when the record has the end of that turn, or it is not over.
    """
    watch, tag = case.watch, str(case.recall("ask_tag") or "")
    log = watch.conversation.log
    index = watch.conversation.prompted(tag) if tag else None
    if index is None or watch.conversation.ended_after(tag):
        return None
    if any(isinstance(event, Prompted) for event in log[index + 1 :]):
        return None
    since = log[index].at
    if not watch.turn_over(tag, since):
        return None
    words = watch.last_message(tag, since)
    if words and _digest(words) in map(_digest, watch.conversation.said_after(tag)):
        return None
    return _digest(words) if words else ""


def _digest(words: str) -> str:
    return hashlib.sha256(words.strip().encode("utf-8", "replace")).hexdigest()


async def worked_on(case: Case) -> bool:
    """Whether the agent did anything in the old conversation that came too late for its sealed document."""
    await _caught_up(case)
    conversation, heard, due = case.watch.conversation, case.recall("heard"), case.recall("due")
    if not isinstance(heard, int) or conversation.agent_session != case.cycle.old_agent_session:
        return False
    behind = conversation.since(heard)
    if behind is None:
        return True
    if isinstance(due, str):  # the rest of the turn that wrote, up to what began another or sent it back to work
        turn = next((n for n, event in enumerate(behind) if isinstance(event, Prompted)), len(behind))
        last = [n for n, event in enumerate(behind[:turn]) if isinstance(event, Said) and _digest(event.text) == due]
        behind = behind[turn if not due else last[0] + 1 if last else 0 :]
    return any(map(_is_work, behind))


def _is_work(event: Kept) -> bool:
    """Whether it shows that the agent was at work; a person's prompt, or one of ours, is seen to elsewhere."""
    if isinstance(event, Prompted):
        return event.origin is not Origin.HUMAN and not tags_in(event.text)
    return isinstance(event, Said | Interrupted | Failed)


def seal_again(case: Case) -> Outcome:
    """What was sealed is behind what the agent did: sealed anew with that, and nothing is passed meanwhile."""
    said.new_round(case)
    case.remember(kept=None)
    return Outcome(Step.PASS, WORKED_ON, "the agent worked on after its handoff was sealed")


async def _caught_up(case: Case) -> None:
    """The record may lag behind the hook that told of the end of a turn."""
    front = case.watch.conversation.agent_session
    last = next((stop for stop in reversed(case.watch.stops) if stop.agent_session == front), None)
    if last is not None and last.last_message:
        await case.watch.recorded(last.last_message)
    else:
        case.watch.read()
