"""Cycles and their steps."""

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from batonpass.store.base import Part, record, values
from batonpass.store.errors import StoreError
from batonpass.store.records import CycleRecord, CycleState, StepRecord
from batonpass.store.tables import cycle_steps, cycles

OPEN = "running"  # the state of a step that has begun and not ended


class Cycles(Part):
    def start_cycle(self, cycle: CycleRecord) -> CycleRecord:
        """Keep a new cycle and give it back; one with the same id that is there already is given instead.

        So a start that is repeated after a crash does not undo what the cycle has done since.
        """
        with self._db.write() as connection:
            self._db.keep(connection, cycles, "id", values(cycle), overwrite=False)
            return self._require(connection, cycle.id)

    def cycle(self, id: str) -> CycleRecord | None:
        return self._one(sa.select(cycles).where(cycles.c.id == id), CycleRecord)

    def cycles(
        self, session: str | None = None, limit: int = 50, *, host: str | None = None, running: bool = False
    ) -> list[CycleRecord]:
        """The last cycles, of one session, of one host, or those under way if asked, oldest first."""
        query = sa.select(cycles)
        if host is not None:
            query = query.where(cycles.c.host == host)
        if running:
            query = query.where(cycles.c.state == CycleState.RUNNING)
        if session is not None:
            query = query.where(cycles.c.session == session)
        return self._last(query, limit, cycles.c.started, cycles.c.id, kind=CycleRecord)

    def update_cycle(self, id: str, **fields: Any) -> CycleRecord:
        """Change the fields named, leave the others as they are, and give the cycle as it is then."""
        unknown = fields.keys() - CycleRecord.__dataclass_fields__.keys()
        if unknown:
            raise TypeError(f"a cycle has no {', '.join(sorted(unknown))}")
        with self._db.write() as connection:
            if fields:
                connection.execute(sa.update(cycles).where(cycles.c.id == id).values(**fields))
            return self._require(connection, id)

    def running_cycle(self, session_id: str) -> CycleRecord | None:
        """The cycle that is under way for a session."""
        query = sa.select(cycles).where(cycles.c.session == session_id, cycles.c.state == CycleState.RUNNING)
        return self._one(query.order_by(cycles.c.started.desc()), CycleRecord)

    def begin_step(self, cycle: str, step: str, attempt: int, at: float) -> int:
        """Note that an attempt at a step begins; gives its number within the cycle.

        An attempt that is still open, because a crash cut it short, goes on under its old number; one that
        has ended (the cycle went back to an earlier step) gets a new one.
        """
        of_cycle = cycle_steps.c.cycle == cycle
        with self._db.write() as connection:
            self._require(connection, cycle, lock=True)  # one at a time, so that no number is given twice
            same = (
                cycle_steps.c.step == step,
                cycle_steps.c.attempt == attempt,
                cycle_steps.c.ended.is_(None),
            )
            seq = connection.execute(sa.select(cycle_steps.c.seq).where(of_cycle, *same)).scalar()
            if seq is not None:
                return int(seq)
            last = connection.execute(sa.select(sa.func.max(cycle_steps.c.seq)).where(of_cycle)).scalar()
            new = StepRecord(cycle, (last or 0) + 1, step, attempt, OPEN, at)
            connection.execute(sa.insert(cycle_steps).values(**values(new)))
            return new.seq

    def end_step(
        self,
        cycle: str,
        seq: int,
        state: str,
        at: float,
        note: str | None = None,
        data: Mapping[str, object] | None = None,
    ) -> None:
        """Note how a step ended. Its first ending stands: a repetition changes nothing."""
        this = (cycle_steps.c.cycle == cycle, cycle_steps.c.seq == seq, cycle_steps.c.ended.is_(None))
        with self._db.write() as connection:
            connection.execute(
                sa.update(cycle_steps).where(*this).values(state=state, ended=at, note=note, data=dict(data or {}))
            )

    def steps(self, cycle: str) -> list[StepRecord]:
        """Every attempt at every step, in the order in which they began."""
        query = sa.select(cycle_steps).where(cycle_steps.c.cycle == cycle).order_by(cycle_steps.c.seq)
        return self._all(query, StepRecord)

    def _require(self, connection: sa.Connection, id: str, *, lock: bool = False) -> CycleRecord:
        query = sa.select(cycles).where(cycles.c.id == id)
        row = connection.execute(query.with_for_update() if lock else query).mappings().first()
        if row is None:
            raise StoreError(f"There is no cycle {id} in the store, so nothing was changed.", where=self._db.where)
        return record(row, CycleRecord)
