"""Sessions."""

from typing import Any

import sqlalchemy as sa

from batonpass.session import PaneRef, Session, State
from batonpass.store.base import Part, record, values
from batonpass.store.errors import AmbiguousSession, StoreError
from batonpass.store.tables import sessions

_LIVE = sa.and_(sessions.c.ended.is_(None), sessions.c.state != State.ENDED)


class Sessions(Part):
    def save_session(self, session: Session) -> None:
        """Keep a session; one that is known already takes all of the new values. Written later if need be."""
        row = _row(values(session))
        self._db.record(lambda connection: self._db.keep(connection, sessions, "id", row))

    def session(self, id: str) -> Session | None:
        found = self._select(sessions.c.id == id)
        return found[0] if found else None

    def sessions(self, *, live: bool = False, host: str | None = None) -> list[Session]:
        """Every session, oldest first; only those that have not ended, and those of one host, if asked."""
        return self._select(*([_LIVE] if live else []), *_of(host))

    def find_session(self, text: str, host: str | None = None) -> Session | None:
        """The session that a person means by an id, a name, a pane or the beginning of an id, in that order.

        A name or pane means a live session if there is one, else the last that had it. AmbiguousSession
        when several fit.
        """
        if not text:
            return None
        for exact in (sessions.c.id == text, sessions.c.name == text, sessions.c.pane_id == text):
            if found := self._select(exact, *_of(host)):
                live = [one for one in found if one.ended is None and one.state is not State.ENDED]
                return _only(text, live or found[-1:])
        beginning = self._select(sessions.c.id.startswith(text, autoescape=True), *_of(host))
        return _only(text, beginning) if beginning else None

    def update_session(self, id: str, **fields: Any) -> Session:
        """Change the fields named, leave the others as they are, and give the session as it is then."""
        unknown = fields.keys() - Session.__dataclass_fields__.keys()
        if unknown:
            raise TypeError(f"a session has no {', '.join(sorted(unknown))}")
        with self._db.write() as connection:
            if fields:
                connection.execute(sa.update(sessions).where(sessions.c.id == id).values(_row(fields)))
            row = connection.execute(sa.select(sessions).where(sessions.c.id == id)).mappings().first()
        if row is None:
            raise StoreError(f"There is no session {id} in the store, so nothing was changed.", where=self._db.where)
        return _session(row)

    def _select(self, *conditions: sa.ColumnElement[bool]) -> list[Session]:
        query = sa.select(sessions).where(*conditions).order_by(sessions.c.created, sessions.c.id)
        with self._db.read() as connection:
            return [_session(row) for row in connection.execute(query).mappings()]


def _only(text: str, found: list[Session]) -> Session:
    if len(found) > 1:
        raise AmbiguousSession(text, tuple(one.id for one in found))
    return found[0]


def _of(host: str | None) -> list[sa.ColumnElement[bool]]:
    return [] if host is None else [sessions.c.host == host]


def _row(fields: dict[str, Any]) -> dict[str, Any]:
    """Fields of a session as columns: a pane is three of them."""
    row = dict(fields)
    if "pane" in row:
        pane: PaneRef | None = row.pop("pane")
        row["pane_socket"] = pane.socket if pane else None
        row["pane_server_pid"] = pane.server_pid if pane else None
        row["pane_id"] = pane.id if pane else None
    return row


def _session(row: sa.RowMapping) -> Session:
    pane = None
    if row["pane_id"] is not None:
        pane = PaneRef(row["pane_socket"], row["pane_server_pid"], row["pane_id"])
    return record({**row, "pane": pane}, Session)
