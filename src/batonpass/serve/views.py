"""Records as the commands show them: plain values, ready for JSON."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from batonpass.clock import iso
from batonpass.handoff.chain import Link, is_intact
from batonpass.session import Session, State
from batonpass.store import CycleRecord, EventRecord, HandoffRecord, StepRecord, Store
from batonpass.supervisor import setback
from batonpass.supervisor.act import Supervisor
from batonpass.supervisor.watch import Watch


def session_record(watch: Watch) -> dict[str, object]:
    """A session right after its start."""
    session = watch.session
    return {
        "session": session.id,
        "name": session.name,
        "project": str(session.project),
        "agent": session.agent,
        "agent_session": session.agent_session,
        "state": str(session.state),
        "pane": session.pane.id if session.pane else None,
        "pid": session.pid,
        "host": session.host,
        "transcript": str(session.transcript) if session.transcript else None,
    }


def kept_record(supervisor: Supervisor, watch: Watch) -> dict[str, object]:
    """What only the store knows of a session."""
    last = supervisor.store.last_handoff(session=watch.session.id)
    return {
        "guard": guard_record(supervisor, watch),
        "cycle": _running(supervisor.store, watch),
        "last_handoff": {"path": str(last.path), "number": last.number, "at": last.created} if last else None,
        "notice": _notice(supervisor.store, watch.session),
        "setback": setback_record(supervisor.store, watch.session),
    }


def setback_record(store: Store, session: Session) -> dict[str, object] | None:
    """What its provider keeps a session from, and who stands in; None when all is well."""
    kept = setback.read(store.get(setback.key(session.id))).seen(session.agent)
    if kept.phase is setback.Phase.WELL:
        return None
    return {
        "phase": str(kept.phase), "kind": kept.kind, "until": kept.due, "first": kept.first, "to": kept.to,
        "missed": kept.because or None,
    }  # fmt: skip


def status_record(supervisor: Supervisor, watch: Watch, kept: Mapping[str, object] | None) -> dict[str, object]:
    """Everything that `baton status` shows of one session; `kept` is None while the store is away."""
    reading, forecast = watch.reading, watch.forecast
    return {
        **session_record(watch),
        "state": str(State.WAITING if watch.dialog else watch.session.state),
        "used": reading.used if reading else None,
        "window": reading.window if reading else watch.window,
        "usable": reading.usable if reading else None,
        "percent": round(reading.percent, 1) if reading and reading.percent is not None else None,
        "zone": supervisor.zone(watch),
        "source": str(reading.source) if reading else None,
        "confidence": reading.confidence if reading else 0.0,
        "forecast": asdict(forecast),
        "chain": watch.session.chain,
        "model": watch.session.model,
        "hooks": watch.hooks_run,
        "answers": None if watch.gone else watch.agent.answers(watch.binding),
        "waiting_for": watch.status.waiting_for or watch.dialog,
        "background": [asdict(task) for task in watch.background],
        **(kept or {"guard": None, "cycle": None, "last_handoff": None, "notice": None, "setback": None}),
    }


def guard_record(supervisor: Supervisor, watch: Watch) -> dict[str, object]:
    """What holds the session's next handoff back, if anything does."""
    verdict = supervisor.restraint.verdict(watch)
    return {
        "session": watch.session.id,
        "name": watch.session.name,
        "guard": verdict.guard,
        "why": verdict.why or None,
        "until": verdict.until,
        "handoffs_in_the_last_hour": verdict.frequent,
        "threshold_raised_by": verdict.raised,
    }


def _running(store: Store, watch: Watch) -> dict[str, object] | None:
    cycle = store.running_cycle(watch.session.id)
    if cycle is None:
        return None
    steps = store.steps(cycle.id)
    return {
        "id": cycle.id,
        "step": steps[-1].step if steps else "prepare",
        "since": steps[-1].started if steps else cycle.started,
        "queued": watch.queued,
    }


def _notice(store: Store, session: Session) -> str | None:
    told = store.events(session=session.id, name="NOTIFICATION", limit=1)
    return str(told[-1].data.get("text")) if told else None


def notification(event: EventRecord) -> dict[str, object]:
    return {"at": event.at, "session": event.session, "text": event.data.get("text")}


def handoff_record(record: HandoffRecord) -> dict[str, object]:
    path = record.path
    if not path.exists() and (put_away := path.parent / "archive" / path.name).exists():
        path = put_away
    return {
        "path": str(path),
        "number": record.number,
        "previous": record.previous,
        "created": iso(record.created),
        "session": record.session,
        "percent": round(record.percent, 1) if record.percent is not None else None,
        "sealed": record.sealed and is_intact(path),
    }


def linked(path: Path, found: Link | None) -> dict[str, object]:
    """The same of a document that is not in the store, by its own header."""
    return {
        "path": str(path),
        "number": found.number if found else None,
        "previous": found.previous if found else None,
        "created": iso(found.created) if found and found.created is not None else None,
        "session": found.session if found else None,
        "percent": round(found.percent, 1) if found and found.percent is not None else None,
        "sealed": found is not None and found.sealed,
    }


def cycle_record(cycle: CycleRecord, steps: list[StepRecord], now: float) -> dict[str, object]:
    """A cycle with its steps; a step that was tried several times is one row with its attempts."""
    return {
        "id": cycle.id,
        "session": cycle.session,
        "state": str(cycle.state),
        "cause": cycle.cause,
        "way": cycle.way,
        "percent": round(cycle.percent, 1) if cycle.percent is not None else None,
        "started": cycle.started,
        "seconds": round((cycle.ended or now) - cycle.started, 3),
        "document": str(cycle.document) if cycle.document else None,
        "old_agent_session": cycle.old_agent_session,
        "new_agent_session": cycle.new_agent_session,
        "note": cycle.note,
        "steps": _rows(steps, now),
    }


def _rows(steps: list[StepRecord], now: float) -> list[dict[str, object]]:
    rows: dict[str, dict[str, object]] = {}
    seconds: dict[str, float] = {}
    for step in steps:
        row = rows.setdefault(step.step, {"step": step.step, "started": step.started, "attempts": 0})
        seconds[step.step] = seconds.get(step.step, 0.0) + (step.ended or now) - step.started
        row["attempts"] = int(str(row["attempts"])) + 1
        row.update(state=step.state, note=step.note, seconds=round(seconds[step.step], 3))
    return list(rows.values())
