"""Handoffs, events and the daemon's own notes: what is remembered, and when it is forgotten."""

from collections.abc import Mapping
from pathlib import Path

import sqlalchemy as sa

from batonpass.store.base import Part, values
from batonpass.store.records import EventRecord, HandoffRecord
from batonpass.store.tables import (
    cycles,
    deliveries,
    events,
    handoffs,
    health_checks,
    notes,
    readings,
    sessions,
)

_ADD_EVENT = sa.insert(events).returning(events.c.id)
_GET = sa.select(notes.c.value).where(notes.c.key == sa.bindparam("_key"))


class History(Part):
    def add_handoff(self, handoff: HandoffRecord) -> None:
        """Keep a handoff; one that is known already (a draft that is sealed now) takes the new values."""
        with self._db.write() as connection:
            self._db.keep(connection, handoffs, "id", values(handoff))

    def handoffs(self, project: Path | None = None, session: str | None = None) -> list[HandoffRecord]:
        """Handoffs of a project, of a session, or all, oldest first."""
        return self._all(_chain(project, session).order_by(handoffs.c.created, handoffs.c.number), HandoffRecord)

    def last_handoff(self, project: Path | None = None, session: str | None = None) -> HandoffRecord | None:
        """The newest of them."""
        newest = _chain(project, session).order_by(handoffs.c.created.desc(), handoffs.c.number.desc())
        return self._one(newest.limit(1), HandoffRecord)

    def add_event(
        self,
        name: str,
        at: float,
        session: str | None = None,
        cycle: str | None = None,
        data: Mapping[str, object] | None = None,
    ) -> int:
        """Write a line of the log; gives its number, or 0 when the database is away and it is written later."""
        row = {"name": name, "at": at, "session": session, "cycle": cycle, "data": self._clean(dict(data or {}))}
        numbers: list[int] = []

        def work(connection: sa.Connection) -> None:
            number = connection.execute(_ADD_EVENT, row).scalar_one()
            numbers.append(int(number))

        self._db.record(work)
        return numbers[-1] if numbers else 0

    def events(
        self, session: str | None = None, name: str | None = None, limit: int = 200, *, host: str | None = None
    ) -> list[EventRecord]:
        """The last events, of a session, of a name or of one host's sessions if asked, oldest first."""
        query = sa.select(events)
        if host is not None:
            query = query.where(events.c.session.in_(sa.select(sessions.c.id).where(sessions.c.host == host)))
        if session is not None:
            query = query.where(events.c.session == session)
        if name is not None:
            query = query.where(events.c.name == name)
        return self._last(query, limit, events.c.at, events.c.id, kind=EventRecord)

    def get(self, key: str) -> object | None:
        """What was put under a key; None when nothing was."""
        with self._db.read() as connection:
            value: object | None = connection.execute(_GET, {"_key": key}).scalar()
            return value

    def put(self, key: str, value: object) -> None:
        """Keep a JSON value under a key, over what was there."""
        with self._db.write() as connection:
            self._db.keep(connection, notes, "key", {"key": key, "value": value})

    def outlived(self, before: float) -> list[str]:
        """The cycles that `purge` would forget: whoever else keeps something of them is told first."""
        gone = sa.select(sessions.c.id).where(sessions.c.ended < before)
        old = sa.or_(cycles.c.ended < before, cycles.c.session.in_(gone))  # with a session go all of its cycles
        with self._db.read() as connection:
            return list(connection.execute(sa.select(cycles.c.id).where(old).order_by(cycles.c.started)).scalars())

    def purge(self, before: float) -> int:
        """Forget what is older than a moment; gives how many records went.

        What is still needed stays whatever its age: sessions and cycles that have not ended, the last
        reading of each session, the last handoff of each project (the chain is counted from it).
        """
        gone = sa.select(sessions.c.id).where(sessions.c.ended < before)
        last_reading = sa.select(sa.func.max(readings.c.id)).group_by(readings.c.session)
        other = handoffs.alias()
        followed = sa.exists().where(other.c.project == handoffs.c.project, other.c.created > handoffs.c.created)
        doomed = (
            (readings, (readings.c.at < before, readings.c.id.not_in(last_reading))),
            (health_checks, (health_checks.c.at < before,)),
            (events, (events.c.at < before,)),
            (deliveries, (deliveries.c.offered < before,)),
            (handoffs, (handoffs.c.created < before, followed)),
            (cycles, (cycles.c.ended < before,)),
            (notes, (gone.where(notes.c.key.endswith(sa.literal(" ") + sessions.c.id)).exists(),)),
            (sessions, (sessions.c.ended < before,)),
        )
        with self._db.write() as connection:
            return sum(connection.execute(sa.delete(table).where(*old)).rowcount for table, old in doomed)


def _chain(project: Path | None, session: str | None) -> sa.Select[tuple[object, ...]]:
    query = sa.select(handoffs)
    if project is not None:
        query = query.where(handoffs.c.project == project)
    if session is not None:
        query = query.where(handoffs.c.session == session)
    return query
