"""What a person said that the document does not hold: to the old conversation, or to a successor that died."""

from batonpass.cycle.case import Case
from batonpass.cycle.moves import NEW_PROMPT, Outcome, Step
from batonpass.supervisor import setback
from batonpass.supervisor.signs import failure
from batonpass.transcripts.events import Said


def died(case: Case) -> list[str]:
    """Successors whose process ended before their receipt."""
    died = case.recall("died")
    return [str(one) for one in died] if isinstance(died, list) else []


def new_prompts(case: Case) -> list[str]:
    """What was said to the conversation in front since it was asked."""
    mark = str(case.recall("ask_tag") or "")
    return [p.text for p in case.watch.conversation.human_after(mark)] if mark else []


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
    new_round(case)
    return Outcome(Step.PASS, NEW_PROMPT, "the user said something after the document was written")


def new_round(case: Case) -> None:
    """Another document is to be sealed; what is laid out of the last one is taken back."""
    case.remember(round_began=case.stage.clock.now())
    case.stage.offers(case.watch).unprime(["clear", "startup"])
