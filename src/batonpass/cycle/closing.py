"""The step that puts the records in order and tells how it ended."""

from dataclasses import replace
from pathlib import Path

from batonpass.cycle.case import Case
from batonpass.cycle.moves import Move, Outcome, Result, Step, Way
from batonpass.cycle.sealed import forget_copy
from batonpass.disk import write_private
from batonpass.handoff.instructions import PENDING_FILE
from batonpass.store.records import CycleState


async def close(case: Case, move: Move) -> Outcome:
    """Put the records in order and say how it ended."""
    watch, store, now = case.watch, case.stage.store, case.stage.clock.now()
    case.stage.offers(watch).clear()
    forget_copy(case)
    document = case.recall("sealed")
    if move.result in (Result.DONE, Result.UNVERIFIED):
        _count(case)
        case.stage.probe("close:counted")
    if move.result is Result.PENDING and document:
        leave_pending(Path(str(document)), move.note)
    status = "ok" if move.result is Result.DONE else "critical"
    details = {
        "result": str(move.result), "context_usage": case.cycle.percent, "handoff_file": document,
        "cycle_duration_ms": round(1000 * (now - case.cycle.started)), "usage_reset": move.result is Result.DONE,
    }  # fmt: skip
    store.add_health(
        watch.session.id, watch.session.project, "handoff", status, details, move.note or str(move.result), now
    )
    store.update_cycle(case.cycle.id, state=CycleState(str(move.result)), ended=now, note=move.note or None)
    await _tell(case, move)
    return Outcome(Step.CLOSE, note=str(move.result))


def _count(case: Case) -> None:
    """One more baton of this session's, once: the number is kept first, for whoever has to do this again."""
    if case.recall("counted"):
        return
    chain = case.recall("chain")
    if not isinstance(chain, int):
        chain = case.watch.session.chain + 1
        case.remember(chain=chain)
    case.stage.store.update_session(case.watch.session.id, chain=chain)
    case.watch.session = replace(case.watch.session, chain=chain)
    case.remember(counted=True)


def leave_pending(document: Path, why: str) -> None:
    text = (
        f"# Handoff pending\n\nA handoff is sealed and nobody has taken it: `{document.name}`.\n\n"
        f"Why: {why or 'the successor could not be started'}.\n\n"
        f"Continue it with `baton continue {document}`.\n"
    )
    write_private(document.parent / PENDING_FILE, text)


def _to(case: Case) -> str:
    return f" to {case.watch.session.agent}" if case.cycle.way == Way.SWITCH else ""


def _who_stays(case: Case) -> str:
    return f"{case.watch.session.agent} {'is there again' if case.recall('silent') else 'goes on'}"


async def _tell(case: Case, move: Move) -> None:
    name, document = case.watch.session.name, case.recall("sealed")
    old = case.cycle.old_agent_session
    sentences = {
        Result.DONE: f"{name} passed the baton{_to(case)}: {document}"
        if case.cycle.way != Way.START
        else f"{name} went on from {document}, and its receipt is right",
        Result.PENDING: f"{name}: the handoff is sealed but was not taken ({move.note}); "
        f"run: baton continue {document}",
        Result.UNVERIFIED: f"{name}: the successor's receipt was not accepted ({move.note}); "
        f"{f'the old conversation {old} can still be resumed; ' if old else ''}to begin anew from the handoff, "
        f"run: baton continue {document}",
        Result.FAILED: f"{name}: {move.note.rstrip('.')}; when that is mended, run: baton handoff {name}",
        Result.POSTPONED: f"{name}: {move.note}; {_who_stays(case)}, and the handoff is {document}"
        if case.recall("refused")
        else f"{name}: handoff postponed ({move.note}); it is tried again with one of its next answers",
    }
    await case.stage.notify(case.watch.session.id, sentences[move.result])
