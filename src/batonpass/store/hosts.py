"""The hosts that share the store: which of them live, and how many batons they may have in the air together."""

import sqlalchemy as sa

from batonpass.store.base import Part, record
from batonpass.store.records import HostRecord
from batonpass.store.tables import hosts, leases

ALIVE_SECONDS = 30.0  # a host that was not heard of for longer is taken for dead
_LEASE_LOCK = 0x6C65617365  # any number that nobody else takes


class Hosts(Part):
    def beat(self, host: str, at: float, *, name: str | None = None, version: str | None = None) -> None:
        """Note that a host is alive; a name and a version that were told before stay until told anew.

        The places that it holds are its own for as long as it goes on beating.
        """
        told = {key: value for key, value in (("name", name), ("version", version)) if value is not None}
        with self._db.write() as connection:
            new = {"id": host, "name": host, "heartbeat": at, "version": None}
            self._db.keep(connection, hosts, "id", new, overwrite=False)
            seen = {"heartbeat": at, "seen": self._db.now(), **told}
            connection.execute(sa.update(hosts).where(hosts.c.id == host).values(**seen))

    def hosts(self) -> list[HostRecord]:
        """Every host that ever beat, with how long ago that was by the database's own clock."""
        age = (self._db.now() - hosts.c.seen).label("age")
        query = sa.select(hosts, age).order_by(hosts.c.id)
        with self._db.read() as connection:
            return [record(row, HostRecord) for row in connection.execute(query).mappings()]

    def take_place(self, cycle: str, host: str, size: int) -> bool:
        """Whether the cycle has one of `size` places that all hosts share; one that it had already stays its own."""
        now = self._db.now()
        with self._db.write() as connection:
            if not self._db.is_sqlite:
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LEASE_LOCK)))
            connection.execute(sa.delete(leases).where(leases.c.expires <= now))
            held = connection.execute(sa.select(leases.c.cycle)).scalars().all()
            if cycle not in held and len(held) >= size:
                return False
            self._keep_place(connection, cycle, host)
            return True

    def keep_places(self, cycles: frozenset[str], host: str) -> None:
        """Hold on to the places of these cycles, also those that ran out while the database was away."""
        with self._db.write() as connection:
            for cycle in sorted(cycles):
                self._keep_place(connection, cycle, host)

    def give_place(self, cycle: str) -> None:
        """Give the place of a cycle back; done later if need be."""
        self._db.record(lambda connection: connection.execute(sa.delete(leases).where(leases.c.cycle == cycle)))

    def _keep_place(self, connection: sa.Connection, cycle: str, host: str) -> None:
        row = {"cycle": cycle, "host": host, "expires": self._db.now() + ALIVE_SECONDS}
        self._db.keep(connection, leases, "cycle", row)
