"""The store: sessions, readings, deliveries, handoffs, cycles and events in one SQL database.

Methods may be called from any thread and are quick. Lists are oldest first, and a limit keeps the newest.
Times are UTC seconds since the epoch. Whatever goes wrong is a StoreError with one clear sentence.
While the database is away (a server that is down, a disk that is full) it is a StoreAway, and what merely
reports (events, readings, health checks, sessions, deliveries that were seen) is kept and written later.
"""

from collections.abc import Callable
from types import TracebackType

from batonpass.handoff.redact import Allow
from batonpass.store.cycles import Cycles
from batonpass.store.deliveries import Deliveries
from batonpass.store.engine import Database, default_url, durable_engine, plain_url
from batonpass.store.errors import AmbiguousSession, StoreAway, StoreError
from batonpass.store.history import History
from batonpass.store.hosts import ALIVE_SECONDS, Hosts
from batonpass.store.migrate import migrate
from batonpass.store.overview import Overview, Seen
from batonpass.store.readings import Readings
from batonpass.store.records import (
    Author,
    CycleRecord,
    CycleState,
    EventRecord,
    HandoffRecord,
    HealthRecord,
    HostRecord,
    StepRecord,
)

__all__ = [
    "ALIVE_SECONDS",
    "AmbiguousSession",
    "Author",
    "CycleRecord",
    "CycleState",
    "EventRecord",
    "HandoffRecord",
    "HealthRecord",
    "HostRecord",
    "Seen",
    "StepRecord",
    "Store",
    "StoreAway",
    "StoreError",
    "default_url",
    "durable_engine",
    "open_store",
    "plain_url",
]


class Store(Overview, Hosts, Readings, Deliveries, Cycles, History):
    """Everything that Baton remembers. Close it, or use it in a `with`."""

    @property
    def where(self) -> str:
        """The file, or the URL without its password."""
        return self._db.where

    @property
    def away(self) -> StoreAway | None:
        """Why the database could not be used the last time; None when it could."""
        return self._db.away

    @property
    def outages(self) -> int:
        """How often the database went away: one that was back before anybody looked is told by this."""
        return self._db.outages

    @property
    def writes(self) -> int:
        """How often anything was written by this process; what was read stays true as long as it is the same."""
        return self._db.writes

    @property
    def late(self) -> int:
        """How many records wait for the database to come back."""
        return self._db.late

    def answers(self) -> bool:
        """Whether the database can be written to, with everything that waited for it. May take seconds."""
        try:
            self._db.probe()
            self.put("answers", True)
        except StoreAway:
            return False
        return True

    @property
    def shared(self) -> bool:
        """Whether other hosts may use it too."""
        return not self._db.is_sqlite

    def close(self) -> None:
        self._db.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_store(url: str, allow: Callable[[], Allow] = tuple) -> Store:
    """The store at a URL (sqlite:////path or postgresql://…), made or brought up to date as needed.

    Secrets are taken out of what is written, but for what is allowed.

    StoreError when it cannot be opened, is damaged, or was written by a newer Baton.
    """
    database = Database(url, allow)
    try:
        migrate(database)
    except BaseException:
        database.close()
        raise
    return Store(database)
