"""What a person said that the document does not hold: to the old conversation, or to a successor that died."""

from batonpass.cycle.case import Case
from batonpass.cycle.moves import NEW_PROMPT, WENT_ON, Outcome, Step
from batonpass.supervisor import setback
from batonpass.supervisor.signs import failure
from batonpass.transcripts.events import Said

_LAG_SECONDS = 1.0  # the record may lag behind the stop hook
_LOOK_SECONDS = 0.05


def died(case: Case) -> list[str]:
    """Successors whose process ended before their receipt."""
    died = case.recall("died")
    return [str(one) for one in died] if isinstance(died, list) else []


def new_prompts(case: Case) -> list[str]:
    """What was said to the conversation in front since it was asked."""
    mark = str(case.recall("ask_tag") or "")
    return [p.text for p in case.watch.conversation.human_after(mark)] if mark else []


def worked_on(case: Case) -> bool:
    """Whether the agent said anything after its document was sealed: a turn that ended may be taken up again."""
    watch, sealed = case.watch, case.recall("sealed_at")
    if not isinstance(sealed, float) or watch.conversation.agent_session != case.cycle.old_agent_session:
        return False
    said = [event for event in watch.conversation.log if isinstance(event, Said)]
    # A record may come later than the hook that told of it, and the other way round.
    told = {stop.last_message for stop in watch.stops if stop.at <= sealed}
    before = {event.text for event in said if event.at <= sealed} | told
    ends = _ends_since(case, sealed)
    return any(event.at > sealed and event.text not in told for event in said) or any(end not in before for end in ends)


def _ends_since(case: Case, moment: float) -> list[str]:
    """The last words of the old conversation's turns that ended since, as its stop hook told them."""
    stops = [stop for stop in case.watch.stops if stop.agent_session == case.cycle.old_agent_session]
    return [stop.last_message for stop in stops if stop.at > moment and stop.last_message]


def late(case: Case) -> list[str]:
    """What the user said to the old conversation after its document was written."""
    old = case.watch.conversation_of(case.cycle.old_agent_session)
    mark = str(case.recall("ask_tag") or "")
    if old is None or not mark or case.recall("document") is None:
        return said_to_the_dead(case)
    old.read()
    return [prompt.text for prompt in old.human_after(mark)] + said_to_the_dead(case)


def said_to_the_dead(case: Case) -> list[str]:
    """What a person said to a successor that died before its receipt."""
    said: list[str] = []
    for one in died(case):
        if (conversation := case.watch.conversation_of(one)) is not None:
            conversation.read()
            said += [prompt.text for prompt in conversation.human_after(f"[baton {case.cycle.id} kick ")]
    return said


def worked(case: Case) -> bool:
    """Whether the successor in front has said or done anything, or a person has spoken to it: all that came after its
    handoff."""
    case.watch.read()
    conversation = case.watch.conversation
    answered = any(isinstance(event, Said) for event in conversation.log)
    return answered or bool(conversation.human_after(f"[baton {case.cycle.id} kick "))


def went_on(case: Case) -> bool:
    """Whether an agent that could not be asked has been prompted since: its provider's refusal is no longer the end."""
    watch = case.watch
    known = setback.read(case.stage.store.get(setback.key(watch.session.id)))  # by which it was to be replaced
    return failure(watch, known) is None or not watch.conversation.waits_since(case.cycle.started)


def begin_again(case: Case) -> Outcome:
    """A new round: the agent is asked once more, and nothing is passed meanwhile."""
    _new_round(case)
    return Outcome(Step.PASS, NEW_PROMPT, "the user said something after the document was written")


async def seal_again(case: Case) -> Outcome:
    """What was sealed is behind what the agent did: sealed anew with that, and nothing is passed meanwhile."""
    watch, clock = case.watch, case.stage.clock
    deadline = clock.ticks() + _LAG_SECONDS
    ends = _ends_since(case, float(str(case.recall("sealed_at"))))
    while ends and not _recorded(case, ends[-1]) and clock.ticks() < deadline:
        await watch.until(lambda: _recorded(case, ends[-1]), _LOOK_SECONDS)
    _new_round(case)
    case.remember(kept=None)
    return Outcome(Step.PASS, WENT_ON, "the agent worked on after its handoff was sealed")


def _recorded(case: Case, text: str) -> bool:
    case.watch.read()
    return case.watch.conversation.last_said() == text


def _new_round(case: Case) -> None:
    case.remember(round_began=case.stage.clock.now())
    case.stage.offers(case.watch).unprime(["clear", "startup"])
