"""The handoff beside the first prompt, for agents that hear nothing when a conversation begins."""

from pathlib import Path

from batonpass.cycle.case import Case
from batonpass.cycle.moves import Way
from batonpass.cycle.sealed import text_of
from batonpass.handoff.prime import parts


async def brief(case: Case) -> None:
    """Lay the handoff out for the kick where it comes that way, and let a box that was just cleared come to rest."""
    agent, watch = case.agent, case.watch
    session = watch.conversation.agent_session
    if agent.primes_with_prompt and watch.hooks_seen and case.cycle.way == Way.CLEAR:
        laid = parts(text_of(case), Path(str(case.recall("sealed"))), agent.prime_cap, agent.prime_parts)
        case.stage.offers(watch).brief(session, laid)
    began = [start.at for start in watch.starts if start.agent_session == session]
    since = max(0.0, case.stage.clock.now() - began[-1]) if began else 0.0
    if since < agent.clear_seconds:
        await case.stage.clock.sleep(agent.clear_seconds - since)
