"""Connections to the database, and the only place that knows which database it is."""

import json
import logging
import os
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine.interfaces import DBAPIConnection

from batonpass.handoff.redact import Allow
from batonpass.store.errors import StoreAway, StoreError, explain

log = logging.getLogger(__name__)

BUSY_SECONDS = 5
CONNECT_SECONDS = 5
# How long a server that did not answer is not asked again, and longer when it took its time not to answer.
_AWAY_SECONDS = 0.5
_AWAY_TIMES = 10
_CACHE = "PRAGMA cache_size=-512"  # KiB for each of the many connections: the kernel has the file's pages, too
_LATE = 20_000  # records that are kept for a database that is away
SCHEMA = "baton"  # on PostgreSQL, beside the engine's own "dbos"
_MIGRATION_LOCK = 0x6261746F6E  # any number that nobody else takes


def default_url(home: Path) -> str:
    """The URL of the database file in a state directory."""
    return sa.URL.create("sqlite", database=os.path.abspath(home / "baton.db")).render_as_string()


Work = Callable[[sa.Connection], object]


def plain_url(url: str) -> str:
    """The URL as every library understands it, password and all: for the engine, never for people.

    Whoever connects by it gives a server that vanished without a word up as soon as we do.
    """
    parsed = _parse(url)
    return parsed.update_query_dict(_patience(parsed)).render_as_string(hide_password=False)


def _patience(parsed: sa.URL) -> dict[str, str]:
    """How long a server is waited for that does not answer, where its URL does not say: TCP by itself takes minutes."""
    if parsed.get_backend_name() != "postgresql":
        return {}
    patience = {"connect_timeout": str(CONNECT_SECONDS), "tcp_user_timeout": str(2000 * CONNECT_SECONDS)}
    return {name: value for name, value in patience.items() if name not in parsed.query}


class Database:
    """A database that can be read and written from any thread. Failures are StoreErrors."""

    def __init__(self, url: str, allow: Callable[[], Allow] = tuple) -> None:
        self.allow = allow  # what looks like a secret and is none
        parsed = _parse(url)
        self.is_sqlite = parsed.get_backend_name() == "sqlite"
        self.where = (parsed.database or "") if self.is_sqlite else parsed.render_as_string(hide_password=True)
        self.engine = _sqlite(parsed) if self.is_sqlite else _postgres(parsed)
        # Our own threads take turns here: SQLite would have them sleep and try again.
        self._turn: AbstractContextManager[object] = threading.Lock() if self.is_sqlite else nullcontext()
        self._writer = self.engine.execution_options(baton_write=True)
        self.away: StoreAway | None = None  # why it did not answer the last time
        self.outages = 0  # how often it went away
        self.writes = 0  # how often anything was written through here
        self._ask_again = 0.0
        self._keeps: dict[tuple[object, ...], sqlite.Insert | postgresql.Insert] = {}
        self._late: deque[Work] = deque(maxlen=_LATE)
        self._catching_up = threading.RLock()

    @contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """One consistent view of the data, with everything that was recorded before."""
        self._catch_up()
        with self._sentences(clears=not self.is_sqlite), self.engine.begin() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[sa.Connection]:
        """A transaction: all of it is kept on leaving, or nothing."""
        self._catch_up()
        with self._transaction() as connection:
            yield connection

    def record(self, work: Work) -> None:
        """Write something that nobody waits for: while the database is away it is kept, and made up for in order."""
        with self._catching_up:
            self._late.append(work)
            try:
                self._catch_up(refusals=True)
            except StoreAway:
                if len(self._late) == _LATE:
                    log.error("the store %s is away, and the oldest record that waits for it is dropped", self.where)

    @property
    def late(self) -> int:
        """How many records wait for the database."""
        return len(self._late)

    def _catch_up(self, *, refusals: bool = False) -> None:
        """Make up for what could not be written, oldest first. A refusal is raised only to whoever recorded it."""
        while self._late:
            with self._catching_up:
                if not self._late:
                    return
                alone = len(self._late) == 1
                try:
                    with self._transaction() as connection:
                        self._late[0](connection)
                except StoreAway:
                    raise
                except StoreError as error:
                    self._late.popleft()
                    if refusals and alone:
                        raise
                    log.warning("a late record was dropped: %s", error)
                else:
                    self._late.popleft()

    def probe(self) -> None:
        """Ask a server that is away whether it is back, without keeping others waiting. Raises StoreAway."""
        if not self.is_sqlite:
            with self._transaction(probe=True) as connection:
                connection.execute(sa.select(1))

    @contextmanager
    def _transaction(self, *, probe: bool = False) -> Iterator[sa.Connection]:
        with self._turn, self._sentences(clears=True, probe=probe):
            try:
                with self._writer.begin() as connection:
                    yield connection
            finally:
                self.writes += 1  # whatever came of it: one too many costs a reader a look

    @contextmanager
    def migrating(self) -> Iterator[sa.Connection]:
        """A transaction that no other process migrates in at the same time."""
        with self.write() as connection:
            if not self.is_sqlite:
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_MIGRATION_LOCK)))
                connection.execute(sa.schema.CreateSchema(SCHEMA, if_not_exists=True))
            yield connection

    def keep(
        self,
        connection: sa.Connection,
        table: sa.Table,
        key: str,
        values: Mapping[str, object],
        *,
        overwrite: bool = True,
        unless: sa.ColumnElement[bool] | None = None,
    ) -> None:
        """Insert a row; one with the same key takes the new values, if it may be overwritten at all."""
        made = (table.name, key, *values, overwrite, id(unless))
        statement = self._keeps.get(made)
        if statement is None:
            statement = self._keeps[made] = self._keep(table, key, tuple(values), overwrite, unless)
        said = {name: value for name, value in values.items() if isinstance(value, sa.ColumnElement)}
        plain = {name: value for name, value in values.items() if name not in said}
        connection.execute(statement.values(said) if said else statement, plain)

    def _keep(
        self, table: sa.Table, key: str, names: tuple[str, ...], overwrite: bool, unless: sa.ColumnElement[bool] | None
    ) -> sqlite.Insert | postgresql.Insert:
        statement = sqlite.insert(table) if self.is_sqlite else postgresql.insert(table)
        if not overwrite:
            return statement.on_conflict_do_nothing(index_elements=[key])
        columns = {name: statement.excluded[name] for name in names if name != key}
        where = None if unless is None else sa.not_(unless)
        return statement.on_conflict_do_update(index_elements=[key], set_=columns, where=where)

    def now(self) -> sa.ColumnElement[float]:
        """The database's own time in seconds since the epoch: hosts that share it need not agree on theirs."""
        if self.is_sqlite:
            return (sa.func.julianday("now") - 2440587.5) * 86_400.0
        return sa.cast(sa.extract("epoch", sa.func.clock_timestamp()), sa.Double)

    def close(self) -> None:
        """Give back every connection."""
        self.engine.dispose()

    @contextmanager
    def _sentences(self, *, clears: bool, probe: bool = False) -> Iterator[None]:
        """Errors as sentences. A server that just did not answer is not asked again at once, but by a probe."""
        began = time.monotonic()
        if self.away is not None and began < self._ask_again and not probe:
            raise StoreAway(str(self.away), where=self.where) from self.away
        try:
            yield
        except sa.exc.SQLAlchemyError as error:
            told = explain(error, self.where)
            if isinstance(told, StoreAway):
                self.outages += self.away is None
                self.away = told
                self._ask_again = 0.0 if self.is_sqlite else _ask_again(began)
            raise told from error
        if clears:  # a full disk can still be read: only a write tells that it has room again
            self.away = None


def _ask_again(began: float) -> float:
    """When to ask a server again that did not answer, from when it was asked."""
    now = time.monotonic()
    return now + max(_AWAY_SECONDS, _AWAY_TIMES * (now - began))


def _parse(url: str) -> sa.URL:
    # "postgres://" is what many hosting services hand out.
    text = "postgresql" + url.removeprefix("postgres") if url.startswith("postgres://") else url
    try:
        parsed = sa.make_url(text)
    except sa.exc.ArgumentError:
        # Not repeated in the message: what cannot be parsed may hold a password.
        raise StoreError("The store's URL cannot be read: write sqlite:////path/to/file or postgresql://…") from None
    backend = parsed.get_backend_name()
    if backend == "postgresql" or (backend == "sqlite" and parsed.database not in (None, "", ":memory:")):
        return parsed
    raise StoreError(f"The store must be a file (sqlite:////path) or PostgreSQL (postgresql://…), not {backend}.")


def _dumps(value: object) -> str:
    # Escaped ASCII, and no NaN: what one of the databases would refuse in JSON, neither gets.
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise StoreError(
            f"A value that is not JSON was given to the store, so nothing was changed: {error}."
        ) from error


def _sqlite(url: sa.URL) -> sa.Engine:
    path = Path(url.database or "")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        path.chmod(0o600)  # SQLite gives its side files the mode of the main one
    except OSError as error:
        raise StoreError(
            f"The store {path} cannot be opened ({error.strerror}): mend that, or point BATON_HOME or "
            "BATON_STORE elsewhere.",
            where=str(path),
        ) from error
    engine = sa.create_engine(url, json_serializer=_dumps)

    @event.listens_for(engine, "connect")
    def prepare(connection: sqlite3.Connection, _record: object) -> None:
        connection.isolation_level = None  # transactions begin where we say, and only there
        connection.execute(f"PRAGMA busy_timeout={BUSY_SECONDS * 1000}")
        _write_ahead(connection)
        # Safe from any crash of ours. With the power the last moments may go, and with it every agent went, too:
        # what follows looks before it acts. A sync for each commit would cost a cycle a hundred of them.
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute(_CACHE)

    @event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        # A reader that turns writer half-way is refused at once; one that says so first waits its turn.
        write = connection.get_execution_options().get("baton_write", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")

    return engine


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Set the journal mode. Of several that open a new file at once, SQLite refuses some without waiting."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() >= deadline:
                raise
            time.sleep(0.01)
        else:
            return


def durable_engine(url: str) -> sa.Engine:
    """Connections for the engine of cycles, made as it would make them itself.

    A database that cannot be used for a while is told as a lost connection, which the engine waits for: of any other
    error it would end the cycle. It knows only some of the words in which a server that is away is told of.
    """
    parsed = _parse(url)
    engine = _durable_sqlite(parsed) if parsed.get_backend_name() == "sqlite" else _durable_postgres(parsed)

    @event.listens_for(engine, "handle_error")
    def wait(context: sa.ExceptionContext) -> None:
        error = context.sqlalchemy_exception
        # What a server that is there says has a code of its own, and the engine knows what to do about it.
        told = getattr(context.original_exception, "sqlstate", None)
        if told is None and error is not None and isinstance(explain(error, ""), StoreAway):
            context.is_disconnect = True

    return engine


def _durable_sqlite(url: sa.URL) -> sa.Engine:
    engine = sa.create_engine(url)

    @event.listens_for(engine, "connect")
    def prepare(connection: sqlite3.Connection, _record: object) -> None:
        connection.isolation_level = "IMMEDIATE"  # writers say so when they begin
        connection.execute(f"PRAGMA busy_timeout={6 * BUSY_SECONDS * 1000}")
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute(_CACHE)

    return engine


def _durable_postgres(url: sa.URL) -> sa.Engine:
    return sa.create_engine(url, pool_size=20, max_overflow=0, pool_pre_ping=True, connect_args=_patience(url))


def _postgres(url: sa.URL) -> sa.Engine:
    # A server that was restarted is noticed before a statement is lost on a dead connection.
    engine = sa.create_engine(url, json_serializer=_dumps, pool_pre_ping=True, connect_args=_patience(url))

    @event.listens_for(engine, "connect")
    def prepare(connection: DBAPIConnection, _record: object) -> None:
        connection.execute(f"SET search_path TO {SCHEMA}")
        connection.commit()

    return engine
