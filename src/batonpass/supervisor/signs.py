"""What a session shows of a setback: in its record, by its agent's own word, and in the cycle that was to help."""

from batonpass.agents.setbacks import kind_of
from batonpass.store import CycleRecord, CycleState
from batonpass.supervisor.conversation import Kept
from batonpass.supervisor.setback import Setback
from batonpass.supervisor.watch import Watch
from batonpass.transcripts.events import Failed, Prompted, TurnEnded


def is_unserved(watch: Watch) -> bool:
    """Whether its provider ended the last turn, or refuses it now: then the agent cannot be asked for a document."""
    last = watch.failure
    return last is not None and kind_of(last.kind, last.text) is not None


def refused_until(tried: CycleRecord) -> float | None:
    """When the heir of a cycle serves again, where its provider has said so."""
    refused = tried.data.get("refused")
    until = refused.get("until") if isinstance(refused, dict) else None
    return float(until) if isinstance(until, int | float) else None


def died_unserved(watch: Watch, tried: CycleRecord | None) -> bool:
    """Whether the heir of a cycle is dead and was not served: it gave no receipt, right or wrong."""
    if not watch.gone or tried is None:
        return False
    answered = tried.state is CycleState.UNVERIFIED and not tried.data.get("refused")
    return tried.state is not CycleState.DONE and not answered


def was_cut_off(watch: Watch, known: Setback, tried: CycleRecord) -> bool:
    """Whether the agent is back that its heir had replaced between two tries of its own, with nobody to go on."""
    replaced = known.own and bool(tried.data.get("started")) and watch.session.agent != known.to
    return replaced and not watch.working() and watch.conversation.waits_since(tried.started)


def failure(watch: Watch, known: Setback) -> Failed | None:
    """The provider's failure that the last turn ended with, or that is tried again; None when there is none such.

    A process that was ended between two tries of its own leaves no such end, so what is known of it holds until
    something is done.
    """
    last = watch.failure
    if last is None and known.own and not watch.working() and not went_on(watch, known):
        return Failed(known.at, known.kind, "")
    return last if last is not None and kind_of(last.kind, last.text) else None


def is_back(watch: Watch, known: Setback) -> bool:
    """Whether a try of the agent's own holds it up that seemed to be over: other work went on beside it meanwhile."""
    return watch.tries_again is not None and not known.own


def went_on(watch: Watch, known: Setback) -> bool:
    """Whether the agent has done something since the failure; that it was prompted is nothing yet.

    With another conversation in front than the one that was refused, it has: nothing is waited for in that one.
    """
    if known.talk and known.talk != watch.conversation.agent_session:
        return True
    events = watch.conversation.log
    place = max((n for n, event in enumerate(events) if _is_before(event, known)), default=-1)
    prompted = False
    for event in events[place + 1 :]:
        if not isinstance(event, Prompted | TurnEnded) or (prompted and isinstance(event, TurnEnded)):
            return True
        prompted = prompted or isinstance(event, Prompted)
    return False


def _is_before(event: Kept, known: Setback) -> bool:
    """Whether it came before what followed the failure; one that was tried again is no event itself."""
    return event.at <= known.at if known.own else isinstance(event, Failed) and event.at == known.at
