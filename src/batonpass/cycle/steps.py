"""Run one move: look up who acts, note the step down before and after, and never let a fault escape unrecorded."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace

from batonpass.cycle import closing, passing, priming, returning, sealing, verifying, writing
from batonpass.cycle.case import Case
from batonpass.cycle.moves import LATE, Move, Outcome, Step, Way
from batonpass.cycle.stage import Stage
from batonpass.handoff import redacted
from batonpass.handoff.redact import patterns
from batonpass.store import CycleRecord, StoreAway
from batonpass.supervisor.watch import Watch

log = logging.getLogger(__name__)

_ACTS: dict[Step, Callable[[Case, Move], Awaitable[Outcome]]] = {
    Step.PREPARE: writing.prepare,
    Step.SAFE_POINT: writing.safe_point,
    Step.ASK: writing.ask,
    Step.AWAIT: writing.wait,
    Step.CHECK: writing.check,
    Step.SEAL: sealing.seal,
    Step.PASS: passing.hand_over,
    Step.PRIME: priming.prime,
    Step.VERIFY: verifying.verify,
    Step.BACK: returning.bring_back,
    Step.CLOSE: closing.close,
}
# From the first ask to the close a cycle holds one of the places that `max_concurrent` gives. A new session needs none:
# it may stand at a dialog for a while, and nobody else should have to wait for that.
_HOLDS = (Step.ASK, Step.AWAIT, Step.CHECK, Step.SEAL, Step.PASS, Step.PRIME, Step.VERIFY, Step.BACK)

# Most steps wait for an agent, for as long as the settings say. These wait for nobody but the machine, which takes a
# second: only a file system or a program that does not answer any more takes so long. Git is given up much sooner by
# whoever asks it, and a seal may have to commit as well.
_CEILINGS = {Step.PREPARE: 120.0, Step.CHECK: 120.0, Step.SEAL: 240.0, Step.CLOSE: 60.0}


def _without_secrets(stage: Stage, watch: Watch, outcome: Outcome) -> Outcome:
    """What a step reports, as store and engine may keep it: it quotes documents and receipts."""
    allow = patterns(stage.config(watch.session.project).redact_allow)
    note, data = redacted.value(outcome.note, allow), redacted.value(dict(outcome.data), allow)
    return replace(outcome, note=str(note), data=data if isinstance(data, dict) else {})


async def _place(stage: Stage, watch: Watch, cycle: CycleRecord) -> None:
    """Wait for a place among the handoffs that may be under way at once."""
    watch.queued = True
    try:
        await stage.slots.hold(cycle.id, cycle.percent or 0.0)
    finally:
        watch.queued = False


async def _in_time(stage: Stage, case: Case, move: Move) -> Outcome:
    """The outcome of a move. One that reaches its ceiling is given up, and what it waits for is left behind."""
    act, ceiling = _ACTS[move.step](case, move), _CEILINGS.get(move.step)
    if ceiling is None:
        return await act
    began = stage.clock.ticks()
    try:
        return await stage.clock.within(act, ceiling)
    except TimeoutError:
        if stage.clock.ticks() - began < ceiling:
            raise  # its own, about something else
        log.warning("cycle %s, step %s: given up after %.0f s", case.cycle.id, move.step, ceiling)
        kept = "; nothing was cleared" if move.step is Step.SEAL else ""
        project = case.watch.session.project
        why = f"{move.step} was given up after {ceiling:.0f} s (does {project}, or git in it, still answer?){kept}"
        return Outcome(move.step, LATE, why)


async def run(stage: Stage, cycle_id: str, move: Move) -> Outcome:
    """The outcome of one move. A fault that nobody foresaw is an outcome too, with its text as the note.

    StoreAway when the database is away: then there is no outcome yet.
    """
    cycle, store = stage.store.cycle(cycle_id), stage.store
    if cycle is None:
        return Outcome(move.step, "error", f"cycle {cycle_id} is not in the store")
    watch = stage.watch(cycle.session)
    if watch is None:
        return Outcome(move.step, "gone", f"session {cycle.session} is not known on this host")
    if move.step in _HOLDS and cycle.way != Way.START:
        await _place(stage, watch, cycle)
    stage.probe(f"{move.step}:before")
    seq = store.begin_step(cycle_id, move.step, move.attempt, stage.clock.now())
    watch.step = move.step
    came_back = move.step is Step.BACK or cycle.data.get("back_at") is not None  # also by the daemon before this one
    watch.brought_back = cycle.old_agent_session if came_back else None
    watch.changed()
    stage.probe(f"{move.step}:begun")
    await stage.hold(watch.folder, move.step)
    try:
        outcome = await _in_time(stage, Case(stage, cycle, watch, stage.config(watch.session.project)), move)
    except StoreAway:
        raise  # no outcome of the move: it is made again, and looks before it acts
    except Exception as fault:
        log.exception("cycle %s, step %s", cycle_id, move.step)
        outcome = Outcome(move.step, "error", f"{type(fault).__name__}: {fault}")
    outcome = _without_secrets(stage, watch, outcome)
    stage.probe(f"{move.step}:acted")
    if move.step is Step.CLOSE:
        stage.slots.release(cycle_id)
        watch.step = watch.brought_back = None
    store.end_step(cycle_id, seq, "ok" if outcome.ok else outcome.code, stage.clock.now(), outcome.note, outcome.data)
    stage.probe(f"{move.step}:ended")
    watch.changed()
    return outcome
