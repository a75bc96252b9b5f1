"""The answer to `baton status`: this host's sessions as they are now, and those of others as the store has them."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from batonpass import __version__
from batonpass.serve import views
from batonpass.serve.api import Refusal
from batonpass.serve.hosts import host_records, remote_records
from batonpass.serve.lately import Lately
from batonpass.session import State
from batonpass.store import EventRecord, StoreAway
from batonpass.supervisor.daemon import Daemon
from batonpass.supervisor.watch import Watch

T = TypeVar("T")


def status(daemon: Daemon, lately: Lately, request: Mapping[str, Any]) -> dict[str, object]:
    """Everything that is shown. While the store is away it is what the daemon itself knows, and says so.

    Of one session if the request names it, be it over. Raises Refusal when there is none of that name.
    """
    ended, wanted = bool(request.get("all")), request.get("session")
    watches = list(daemon.supervisor.watches.values())
    if wanted:
        watches, ended = _named(watches, str(wanted)), True
    for watch in watches:
        daemon.looks.at(watch)
    shown = [_record(daemon, lately, watch) for watch in watches if ended or watch.session.state is not State.ENDED]
    told = _if_there(lambda: lately.ask("told", lambda: _notifications(daemon))) or []
    answer: dict[str, object] = {
        "host": daemon.host,
        "daemon": about(daemon),
        "sessions": shown,
        "problems": [text for problems in daemon.config.problems.values() for text in problems],
        "store": daemon.outage.sentence,
        "notifications": [views.notification(event) for event in told],
    }
    if request.get("all_hosts"):
        here = daemon.host
        answer["hosts"] = _if_there(lambda: host_records(daemon.store, here)) or []
        answer["sessions"] = [*shown, *(_if_there(lambda: remote_records(daemon.store, here, ended=ended)) or [])]
        # Asking may be what finds out that the store is away.
        answer["store"] = daemon.outage.sentence
    return answer


def _named(watches: list[Watch], wanted: str) -> list[Watch]:
    """Those that a person means by an id, a name or a pane; of one name that live, or the last that had it."""
    for watch in watches:
        if watch.session.id == wanted:
            return [watch]
    found = [w for w in watches if wanted in (w.session.name, w.session.pane.id if w.session.pane else None)]
    if not found:
        raise Refusal(f"no session '{wanted}' is known here; see: baton status --all", 3)
    return [w for w in found if w.session.state is not State.ENDED] or found[-1:]


def about(daemon: Daemon) -> dict[str, object]:
    return {"pid": daemon.pid, "version": __version__, "host": daemon.host, "started": daemon.started}


def _notifications(daemon: Daemon) -> list[EventRecord]:
    return daemon.store.events(name="NOTIFICATION", limit=10, host=daemon.host)


def _record(daemon: Daemon, lately: Lately, watch: Watch) -> dict[str, object]:
    key = ("kept", watch.session.id)
    kept = _if_there(lambda: lately.ask(key, lambda: views.kept_record(daemon.supervisor, watch)))
    return views.status_record(daemon.supervisor, watch, kept)


def _if_there(ask: Callable[[], T]) -> T | None:
    """What the store says, or nothing while it is away."""
    try:
        return ask()
    except StoreAway:
        return None
