"""Sessions as others see them: everything that is kept about each, in a handful of queries for all of them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from batonpass.reading import Reading
from batonpass.session import Session
from batonpass.store.base import record
from batonpass.store.records import CycleRecord, CycleState, HandoffRecord, StepRecord
from batonpass.store.sessions import Sessions
from batonpass.store.tables import cycle_steps, cycles, events, handoffs, health_checks, readings


@dataclass(frozen=True, slots=True)
class Seen:
    """A session with the last that was kept of it."""

    session: Session
    reading: Reading | None
    zone: str | None
    cycle: CycleRecord | None  # the one under way
    step: StepRecord | None  # that it is in
    handoff: HandoffRecord | None
    notice: str | None


class Overview(Sessions):
    def overview(self, *, live: bool = True, but: str | None = None) -> list[Seen]:
        """Every session, or every live one, of all hosts but one, oldest first."""
        shown = [session for session in self.sessions(live=live) if session.host != but]
        ids = [session.id for session in shown]
        read = self._latest(readings, ids)
        health = self._latest(health_checks, ids, health_checks.c.check_type == "context")
        told = self._latest(events, ids, events.c.name == "NOTIFICATION")
        running = {row["session"]: record(row, CycleRecord) for row in self._running(ids)}
        steps = self._last_steps([cycle.id for cycle in running.values()])
        sealed = {row["session"]: record(row, HandoffRecord) for row in self._handoffs(ids)}
        return [
            Seen(
                session=session,
                reading=record(read[session.id], Reading) if session.id in read else None,
                zone=_text(health.get(session.id), "details", "zone"),
                cycle=(cycle := running.get(session.id)),
                step=steps.get(cycle.id) if cycle else None,
                handoff=sealed.get(session.id),
                notice=_text(told.get(session.id), "data", "text"),
            )
            for session in shown
        ]

    def _latest(self, table: sa.Table, ids: list[str], *which: sa.ColumnElement[bool]) -> dict[str, sa.RowMapping]:
        """The newest row of each session."""
        newest = sa.select(sa.func.max(table.c.id)).where(table.c.session.in_(ids), *which).group_by(table.c.session)
        return {row["session"]: row for row in self._rows(sa.select(table).where(table.c.id.in_(newest)))}

    def _running(self, ids: list[str]) -> Iterable[sa.RowMapping]:
        query = sa.select(cycles).where(cycles.c.session.in_(ids), cycles.c.state == CycleState.RUNNING)
        return self._rows(query.order_by(cycles.c.started))

    def _last_steps(self, ids: list[str]) -> dict[str, StepRecord]:
        query = sa.select(cycle_steps).where(cycle_steps.c.cycle.in_(ids)).order_by(cycle_steps.c.seq)
        return {row["cycle"]: record(row, StepRecord) for row in self._rows(query)}

    def _handoffs(self, ids: list[str]) -> Iterable[sa.RowMapping]:
        newest = (
            sa.select(handoffs.c.session, sa.func.max(handoffs.c.number).label("number"))
            .where(handoffs.c.session.in_(ids))
            .group_by(handoffs.c.session)
            .subquery()
        )
        both = sa.and_(handoffs.c.session == newest.c.session, handoffs.c.number == newest.c.number)
        return self._rows(sa.select(handoffs).join(newest, both))

    def _rows(self, query: sa.Select[Any]) -> list[sa.RowMapping]:
        with self._db.read() as connection:
            return list(connection.execute(query).mappings())


def _text(row: sa.RowMapping | None, column: str, key: str) -> str | None:
    value = row[column].get(key) if row is not None else None
    return None if value is None else str(value)
