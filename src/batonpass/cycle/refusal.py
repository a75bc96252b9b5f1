"""A successor whose provider does not serve it: that says nothing of the handoff, and no kick can mend it."""

from batonpass.agents.setbacks import kind_of, resets_at
from batonpass.cycle.case import Case
from batonpass.cycle.moves import UNSERVED, Outcome, Step

_SHOWN = 200


def refusal(case: Case, mark: str) -> Outcome | None:
    """The outcome of a kick whose turn the provider ended; None where it ended otherwise.

    Who did not serve, and until when, is noted with the cycle.
    """
    conversation, agent = case.watch.conversation, case.watch.session.agent
    failed = conversation.failure
    if conversation.prompted(mark) is None or failed is None or kind_of(failed.kind, failed.text) is None:
        return None
    until = resets_at(failed.text, failed.at or case.stage.clock.now())
    case.remember(refused={"agent": agent, "until": until})
    said = " ".join(failed.text.split())[:_SHOWN]
    return Outcome(Step.VERIFY, UNSERVED, case.clean(f"{agent} is not served by its provider: {said}"))
