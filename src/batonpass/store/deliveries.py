"""Deliveries: what was offered to whom, and whether it arrived."""

import sqlalchemy as sa

from batonpass.delivery import Delivery, DeliveryState
from batonpass.store.base import Part, values
from batonpass.store.tables import deliveries

_SEEN = deliveries.c.state == DeliveryState.SEEN
_GET = sa.select(deliveries).where(deliveries.c.tag == sa.bindparam("_tag"))
_MARK = sa.update(deliveries).where(deliveries.c.tag == sa.bindparam("_tag"), ~_SEEN)


class Deliveries(Part):
    def save_delivery(self, delivery: Delivery) -> None:
        """Keep a delivery as it is now; one that was seen stays as it was seen."""
        with self._db.write() as connection:
            row = {**values(delivery), "text": self._clean(delivery.text)}
            self._db.keep(connection, deliveries, "tag", row, unless=_SEEN)

    def delivery(self, tag: str) -> Delivery | None:
        return self._one(_GET, Delivery, _tag=tag)

    def deliveries(self, session: str | None = None, cycle: str | None = None) -> list[Delivery]:
        """Deliveries of a session, of a cycle, or all, in the order in which they were offered."""
        query = sa.select(deliveries)
        if session is not None:
            query = query.where(deliveries.c.session == session)
        if cycle is not None:
            query = query.where(deliveries.c.cycle == cycle)
        return self._all(query.order_by(deliveries.c.offered, deliveries.c.tag), Delivery)

    def mark_seen(self, tag: str, at: float) -> bool:
        """Note that the agent's record shows it. True the first time, False after that, when unknown, or when the
        database is away and it is written later."""
        seen = {"_tag": tag, "state": DeliveryState.SEEN, "seen": at}
        changed: list[int] = []

        def work(connection: sa.Connection) -> None:
            changed.append(connection.execute(_MARK, seen).rowcount)

        self._db.record(work)
        return changed[-1:] == [1]
