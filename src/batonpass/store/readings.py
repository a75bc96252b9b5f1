"""Readings and health checks: how full sessions were, and what was thought of it."""

from collections.abc import Mapping
from pathlib import Path

import sqlalchemy as sa

from batonpass.reading import Reading
from batonpass.store.base import Part, values
from batonpass.store.records import HealthRecord
from batonpass.store.tables import health_checks, readings

DAY = 86_400.0
# How long readings are kept at which grain: all of them for a day, then one a minute, then one an hour.
_GRAINS = ((DAY, 7 * DAY, 60), (7 * DAY, None, 3600))

_ADD_READING, _ADD_HEALTH = sa.insert(readings), sa.insert(health_checks)


class Readings(Part):
    def add_reading(self, session_id: str, reading: Reading) -> None:
        """Keep a reading; while the database is away it is written later."""
        row = {"session": session_id, **values(reading)}
        self._db.record(lambda connection: connection.execute(_ADD_READING, row))

    def readings(self, session_id: str, *, agent_session: str | None = None, limit: int = 200) -> list[Reading]:
        """The last readings of a session, or of one conversation of it, oldest first."""
        query = sa.select(readings).where(readings.c.session == session_id)
        if agent_session is not None:
            query = query.where(readings.c.agent_session == agent_session)
        return self._last(query, limit, readings.c.at, readings.c.id, kind=Reading)

    def latest_reading(self, session_id: str) -> Reading | None:
        found = self.readings(session_id, limit=1)
        return found[0] if found else None

    def thin_readings(self, now: float) -> int:
        """Thin out old readings: one a minute after a day, one an hour after a week. Gives how many went.

        The last of each minute or hour stays, for each conversation.
        """
        gone = 0
        with self._db.write() as connection:
            for youngest, oldest, grain in _GRAINS:
                age = readings.c.at < now - youngest
                if oldest is not None:
                    age = sa.and_(age, readings.c.at >= now - oldest)
                slot = sa.cast(readings.c.at, sa.BigInteger) // grain
                kept = (
                    sa.select(sa.func.max(readings.c.id))
                    .where(age)
                    .group_by(readings.c.session, readings.c.agent_session, slot)
                )
                gone += connection.execute(sa.delete(readings).where(age, readings.c.id.not_in(kept))).rowcount
        return gone

    def add_health(
        self,
        session_id: str,
        project: Path,
        check_type: str,
        status: str,
        details: Mapping[str, object],
        action: str | None,
        at: float,
    ) -> None:
        """Keep a health check: of what (context, handoff), and how it went (ok, warning, critical).

        While the database is away it is written later.
        """
        row = values(HealthRecord(at, session_id, project, check_type, status, dict(details), action))
        self._db.record(lambda connection: connection.execute(_ADD_HEALTH, row))

    def health_checks(self, session: str | None = None, *, limit: int = 200) -> list[HealthRecord]:
        """The last health checks, oldest first."""
        query = sa.select(health_checks)
        if session is not None:
            query = query.where(health_checks.c.session == session)
        return self._last(query, limit, health_checks.c.at, health_checks.c.id, kind=HealthRecord)
