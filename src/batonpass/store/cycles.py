"""Cycles and their steps."""

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from batonpass.store.base import Part, record, values
from batonpass.store.errors import StoreError
from batonpass.store.records import CycleRecord, CycleState, StepRecord
from batonpass.store.tables import cycle_steps, cycles

OPEN = "running"  # the state of a step that has begun and not ended

# Every step of every cycle runs these: made once, they cost half as much.
_ID: sa.BindParameter[str] = sa.bindparam("_id")
_CYCLE: sa.BindParameter[str] = sa.bindparam("_cycle")
_GET = sa.select(cycles).where(cycles.c.id == _ID)
_LOCK = sa.select(cycles.c.id).where(cycles.c.id == _ID).with_for_update()
_UPDATE = sa.update(cycles).where(cycles.c.id == _ID)
_UNDER_WAY = (
    sa.select(cycles)
    .where(cycles.c.session == sa.bindparam("_session"), cycles.c.state == CycleState.RUNNING)
    .order_by(cycles.c.started.desc())
    .limit(1)
)
_STEPS = sa.select(cycle_steps).where(cycle_steps.c.cycle == _CYCLE).order_by(cycle_steps.c.seq)
_BEGUN = sa.select(cycle_steps.c.seq, cycle_steps.c.step, cycle_steps.c.attempt, cycle_steps.c.ended).where(
    cycle_steps.c.cycle == _CYCLE
)
_BEGIN = sa.insert(cycle_steps)
_END = sa.update(cycle_steps).where(
    cycle_steps.c.cycle == _CYCLE, cycle_steps.c.seq == sa.bindparam("_seq"), cycle_steps.c.ended.is_(None)
)


class Cycles(Part):
    def start_cycle(self, cycle: CycleRecord) -> CycleRecord:
        """Keep a new cycle and give it back; one with the same id that is there already is given instead.

        So a start that is repeated after a crash does not undo what the cycle has done since.
        """
        with self._db.write() as connection:
            self._db.keep(connection, cycles, "id", values(cycle), overwrite=False)
            return self._require(connection, cycle.id)

    def cycle(self, id: str) -> CycleRecord | None:
        return self._one(_GET, CycleRecord, _id=id)

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
                connection.execute(_UPDATE, {"_id": id, **fields})
            return self._require(connection, id)

    def running_cycle(self, session_id: str) -> CycleRecord | None:
        """The cycle that is under way for a session."""
        return self._one(_UNDER_WAY, CycleRecord, _session=session_id)

    def begin_step(self, cycle: str, step: str, attempt: int, at: float) -> int:
        """Note that an attempt at a step begins; gives its number within the cycle.

        An attempt that is still open, because a crash cut it short, goes on under its old number; one that
        has ended (the cycle went back to an earlier step) gets a new one.
        """
        with self._db.write() as connection:
            # One at a time, so that no number is given twice.
            if connection.execute(_LOCK, {"_id": cycle}).first() is None:
                raise self._unknown(cycle)
            begun = connection.execute(_BEGUN, {"_cycle": cycle}).all()
            for seq, known, number, ended in begun:
                if known == step and number == attempt and ended is None:
                    return int(seq)
            new = StepRecord(cycle, max((row[0] for row in begun), default=0) + 1, step, attempt, OPEN, at)
            connection.execute(_BEGIN, values(new))
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
        ending = {"state": state, "ended": at, "note": note, "data": dict(data or {})}
        with self._db.write() as connection:
            connection.execute(_END, {"_cycle": cycle, "_seq": seq, **ending})

    def steps(self, cycle: str) -> list[StepRecord]:
        """Every attempt at every step, in the order in which they began."""
        return self._all(_STEPS, StepRecord, _cycle=cycle)

    def _require(self, connection: sa.Connection, id: str) -> CycleRecord:
        row = connection.execute(_GET, {"_id": id}).mappings().first()
        if row is None:
            raise self._unknown(id)
        return record(row, CycleRecord)

    def _unknown(self, id: str) -> StoreError:
        return StoreError(f"There is no cycle {id} in the store, so nothing was changed.", where=self._db.where)
