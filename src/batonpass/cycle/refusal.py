"""A successor whose provider does not serve it: that says nothing of the handoff, and no kick can mend it."""

from collections.abc import Callable

from batonpass.agents.setbacks import kind_of, resets_at
from batonpass.cycle.case import Case
from batonpass.cycle.moves import UNSERVED, Outcome, Step
from batonpass.supervisor.setback import is_near, tried_again

_SHOWN = 200


def waits_until(case: Case) -> float | None:
    """When the successor may be served, while it waits to try again by itself; None while it does not."""
    again, now = case.watch.tries_again, case.stage.clock.now()
    if again is None or kind_of(again.failed.kind, again.failed.text) is None:
        return None
    return tried_again(again, now, case.config.quota)


def held_up(case: Case) -> bool:
    """Whether the successor waits to try again by itself, at a time that is too far off to wait for."""
    until = waits_until(case)
    return until is not None and not is_near(until, case.stage.clock.now(), case.config.quota)


async def settles(case: Case, settled: Callable[[], bool]) -> None:
    """Wait for what the kick comes to. A try that is near is waited for, and the time for an answer begins with it.

    That cannot go on for ever: all such waits together are no longer than one may be.
    """
    watch, clock, seconds = case.watch, case.stage.clock, case.config.timeouts.verify
    deadline = clock.ticks() + seconds
    latest = deadline + 60 * case.config.quota.wait_minutes + seconds
    seen = watch.tries_again

    def news() -> bool:
        return settled() or watch.tries_again != seen

    while True:
        if (until := waits_until(case)) is not None:
            deadline = clock.ticks() + max(until - clock.now(), 0.0) + seconds
        if not await watch.until(news, min(deadline, latest) - clock.ticks()) or settled():
            return
        seen = watch.tries_again


def refusal(case: Case, mark: str) -> Outcome | None:
    """The outcome of a kick whose turn the provider ended, or still holds up; None where it ended otherwise.

    Who did not serve, and until when, is noted with the cycle.
    """
    conversation, agent, again = case.watch.conversation, case.watch.session.agent, case.watch.tries_again
    failed, now = case.watch.failure, case.stage.clock.now()
    if conversation.prompted(mark) is None or failed is None or kind_of(failed.kind, failed.text) is None:
        return None
    until = tried_again(again, now, case.config.quota) if again else resets_at(failed.text, failed.at or now)
    case.remember(refused={"agent": agent, "until": until})
    said = " ".join(failed.text.split())[:_SHOWN]
    return Outcome(Step.VERIFY, UNSERVED, case.clean(f"{agent} is not served by its provider: {said}"))
