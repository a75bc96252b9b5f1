"""What went wrong with the store, in one sentence for the person who reads it."""

import sqlite3

from sqlalchemy import exc


class StoreError(Exception):
    """The store could not do what was asked; `where` is its file, or its URL without the password."""

    def __init__(self, message: str, *, where: str = "") -> None:
        super().__init__(message)
        self.where = where


class StoreAway(StoreError):
    """The database cannot be used for now: nothing is wrong with what was asked, and later it will be done."""


class AmbiguousSession(StoreError):
    """A name, pane or id prefix fits more than one session; `ids` are theirs."""

    def __init__(self, text: str, ids: tuple[str, ...]) -> None:
        super().__init__(f"'{text}' fits {len(ids)} sessions ({', '.join(ids)}): name the one you mean by its id.")
        self.ids = ids


_SQLITE = {
    sqlite3.SQLITE_FULL: (
        "The disk that holds the store {where} is full: what was stored before is kept, this write is not; "
        "free some space and try again."
    ),
    sqlite3.SQLITE_READONLY: (
        "The store {where} is read-only, so nothing was written: make the file and its folder writable, "
        "or point BATON_HOME or BATON_STORE elsewhere."
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "The store {where} cannot be opened: its folder is missing or closed to this user; "
        "mend that, or point BATON_HOME or BATON_STORE elsewhere."
    ),
    sqlite3.SQLITE_BUSY: (
        "The store {where} was held by another process for too long, so nothing was written: "
        "see which process has it open, then try again."
    ),
    sqlite3.SQLITE_IOERR: (
        "The disk that holds the store {where} reports an error, so this write is not kept: "
        "check the disk, then try again."
    ),
}
_DAMAGED = (
    "The store {where} is damaged and was left as it is: move it aside to start with an empty one, "
    "or put a backup in its place."
)
_BROKEN = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_SQLITE |= dict.fromkeys(_BROKEN, _DAMAGED)


def explain(error: exc.SQLAlchemyError, where: str) -> StoreError:
    """The same error as one sentence that names the store and what to do next."""
    origin = error.orig if isinstance(error, exc.StatementError) else None
    if isinstance(origin, StoreError):
        return origin
    if isinstance(origin, sqlite3.Error):
        # Extended codes carry the plain one in their low byte.
        code = getattr(origin, "sqlite_errorcode", 0) & 0xFF
        if code in _SQLITE:
            kind = StoreError if code in _BROKEN else StoreAway
            return kind(_SQLITE[code].format(where=where), where=where)
    elif isinstance(error, exc.OperationalError) or _cut_off(error):
        return StoreAway(f"The store {where} cannot be reached, so nothing was written: {_first(origin)}", where=where)
    if isinstance(error, exc.IntegrityError):
        return StoreError(
            f"The store {where} refused a record that names something it does not have: {_first(origin)}",
            where=where,
        )
    if isinstance(error, exc.TimeoutError):
        return StoreAway(f"All connections to the store {where} are in use, so nothing was written.", where=where)
    return StoreError(
        f"The store {where} refused the request, and nothing was changed: {_first(origin or error)}",
        where=where,
    )


def _cut_off(error: exc.SQLAlchemyError) -> bool:
    """Whether the connection broke under the statement."""
    return isinstance(error, exc.DBAPIError) and error.connection_invalidated


def _first(error: BaseException | None) -> str:
    lines = [line.strip() for line in str(error or "").splitlines() if line.strip()]
    return (lines[0].rstrip(".") if lines else "no reason given") + "."
