"""Passing the baton to another agent."""

from batonpass import agents
from batonpass.agents.base import Agent
from batonpass.cycle import said
from batonpass.cycle.case import Case
from batonpass.cycle.moves import BOX_IN_USE, GONE, MOVED, NOT_BEGUN, NOT_CLEARED, Outcome, Step, Way
from batonpass.cycle.returning import was_started
from batonpass.cycle.worked_on import seal_again, worked_on
from batonpass.cycle.writing import ELSEWHERE
from batonpass.supervisor import orders
from batonpass.supervisor.keys import BUSY, TEXT, NotReady
from batonpass.supervisor.orders import Successor


def heir(case: Case, way: Way) -> Agent:
    """Who takes over."""
    return agents.get(str(case.recall("to"))) if way is Way.SWITCH else case.agent


def successor(case: Case) -> Successor:
    """The agent to switch to, as the user wants it; who had the work before is noted down for the way back."""
    to = str(case.recall("to"))
    if case.recall("switched") is None:
        case.remember(switched={"agent": case.watch.session.agent})
    return orders.successor(case.config, to)


def not_begun(case: Case, to: Successor, words: str) -> Outcome:
    """The outcome where that agent was started, and ended or stood still; noted as one that does not serve."""
    ended = case.watch.gone
    how = "ended at its start" if ended else "was started and began no conversation"
    shown = f"; its last words: {words}" if ended else f"; it shows: {words}"
    case.remember(refused={"agent": to.agent, "until": None})
    return Outcome(Step.PASS, NOT_BEGUN, case.clean(f"{to.agent} {how}{shown if words else ''}"), {"ended": ended})


async def hold_back(case: Case, label: str) -> Outcome | None:
    """What a person has typed, just said or begun must not go with the old process; None when it may be replaced.

    An agent that cannot answer may stand at a dialog about just that: its process is ended, and no key is pressed.
    """
    watch, silent = case.watch, case.recall("silent")
    if was_started(case, label):
        return None
    if watch.gone:
        return seal_again(case) if not silent and await worked_on(case) else None
    obstacle: NotReady | None = None
    try:
        # One that tries again by itself is busy for as long as it does.
        working = bool(silent) and watch.tries_again is not None
        await case.stage.keys.ready(watch, case.config.timeouts.pass_, working=working)
    except NotReady as found:
        obstacle = found
    if obstacle is not None and obstacle.code == GONE:
        return seal_again(case) if not silent and await worked_on(case) else None
    watch.read()
    if case.elsewhere or watch.left_for is not None:
        return Outcome(Step.PASS, MOVED, ELSEWHERE)
    if silent and said.went_on(case):
        return Outcome(Step.PASS, MOVED, "somebody set the agent to work again, and it is left alone")
    if obstacle is None and said.new_prompts(case):
        return said.begin_again(case)
    if not silent and (obstacle is None or obstacle.code == BUSY) and await worked_on(case):
        return seal_again(case)
    if obstacle is None:
        return None
    if obstacle.code == TEXT:
        return Outcome(Step.PASS, BOX_IN_USE, str(obstacle))
    return None if silent else Outcome(Step.PASS, NOT_CLEARED, str(obstacle))
