"""What other hosts on the same store are doing, as the store tells it: seen, and never touched."""

from batonpass.session import Session, State
from batonpass.store import ALIVE_SECONDS, HostRecord, Seen, Store

UNREACHABLE = "unreachable"  # the state of a session whose host is not heard of


def host_records(store: Store, here: str) -> list[dict[str, object]]:
    """Every host with its heartbeat; one that was not heard of for a while is dead."""
    live = [session.host for session in store.sessions(live=True)]
    return [
        {
            "host": host.id,
            "name": host.name,
            "version": host.version,
            "heartbeat": host.heartbeat,
            "age": None if host.age is None else round(host.age, 1),
            "alive": alive(host),
            "here": host.id == here,
            "sessions": live.count(host.id),
        }
        for host in store.hosts()
    ]


def alive(host: HostRecord) -> bool:
    return host.age is not None and host.age <= ALIVE_SECONDS


def remote_records(store: Store, here: str, *, ended: bool) -> list[dict[str, object]]:
    """The sessions of all other hosts, in the form in which `baton status` shows its own."""
    living = {host.id for host in store.hosts() if alive(host)}
    return [_session_record(seen, seen.session.host in living) for seen in store.overview(live=not ended, but=here)]


def where_else(store: Store, session: Session) -> str:
    """Why a session of another host is not touched from here, and what to do."""
    host = next((one for one in store.hosts() if one.id == session.host), None)
    if host is not None and alive(host):
        return f"session {session.name} runs on host {session.host}: ask there, with: baton handoff {session.id}"
    return (
        f"session {session.name} belongs to host {session.host}, which is not heard of: "
        "start Baton there again, and it takes the session up"
    )


def _session_record(seen: Seen, reachable: bool) -> dict[str, object]:
    session, reading, cycle = seen.session, seen.reading, seen.cycle
    if reading is not None and reading.agent_session != session.agent_session:
        reading = None  # of the conversation before the last handoff
    state = session.state if reachable or session.state is State.ENDED else UNREACHABLE
    return {
        "session": session.id,
        "name": session.name,
        "project": str(session.project),
        "agent": session.agent,
        "agent_session": session.agent_session,
        "state": str(state),
        "pane": session.pane.id if session.pane else None,
        "pid": session.pid,
        "host": session.host,
        "transcript": str(session.transcript) if session.transcript else None,
        "used": reading.used if reading else None,
        "window": reading.window if reading else None,
        "usable": reading.usable if reading else None,
        "percent": round(reading.percent, 1) if reading and reading.percent is not None else None,
        "zone": (seen.zone if reading else None) or "unknown",
        "source": str(reading.source) if reading else None,
        "confidence": reading.confidence if reading else 0.0,
        "forecast": None,
        "chain": session.chain,
        "model": session.model,
        "hooks": None,
        "answers": None,
        "waiting_for": None,
        "background": [],
        "guard": None,
        "cycle": {
            "id": cycle.id,
            "step": seen.step.step if seen.step else "prepare",
            "since": seen.step.started if seen.step else cycle.started,
        } if cycle else None,
        "last_handoff": {
            "path": str(seen.handoff.path), "number": seen.handoff.number, "at": seen.handoff.created
        } if seen.handoff else None,
        "notice": seen.notice,
    }  # fmt: skip
