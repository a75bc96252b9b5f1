"""The tables. A change here needs a migration beside it; a test compares the two."""

import os
from enum import StrEnum
from pathlib import Path

import sqlalchemy as sa

from batonpass.delivery import Channel, DeliveryState
from batonpass.reading import Source
from batonpass.session import Kind, State
from batonpass.store.records import Author, CycleState

# Names for constraints, so that a later migration can drop what this one made, on both databases.
NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}

metadata = sa.MetaData(naming_convention=NAMING)


class PathText(sa.TypeDecorator[Path]):
    """A path, kept as text."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: Path | None, dialect: sa.Dialect) -> str | None:
        return None if value is None else os.fspath(value)

    def process_result_value(self, value: str | None, dialect: sa.Dialect) -> Path | None:
        return None if value is None else Path(value)


class Word(sa.TypeDecorator[StrEnum]):
    """One of an enumeration's words, kept as text: a new word needs no migration."""

    impl = sa.Text
    cache_ok = True

    def __init__(self, words: type[StrEnum]) -> None:
        super().__init__()
        self.words = words

    def process_bind_param(self, value: str | None, dialect: sa.Dialect) -> str | None:
        return None if value is None else str(self.words(value))

    def process_result_value(self, value: str | None, dialect: sa.Dialect) -> StrEnum | None:
        return None if value is None else self.words(value)


class Prose(sa.TypeDecorator[str]):
    """Text that other programs wrote: what a database would refuse (NUL, lone surrogates) is replaced."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: sa.Dialect) -> str | None:
        if value is None:
            return None
        return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def _serial() -> sa.Column[int]:
    # SQLite counts by itself only in a column that is exactly INTEGER.
    return sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True)


def _moment(name: str, *, nullable: bool = False) -> sa.Column[float]:
    return sa.Column(name, sa.Double, nullable=nullable)


def _session_key() -> sa.Column[str]:
    return sa.Column("session", sa.Text, sa.ForeignKey("sessions.id", ondelete="CASCADE"), nullable=False)


def _data(name: str = "data") -> sa.Column[dict[str, object]]:
    return sa.Column(name, sa.JSON, nullable=False)


hosts = sa.Table(
    "hosts",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    _moment("heartbeat"),
    sa.Column("version", sa.Text),
    _moment("seen", nullable=True),  # the same by the database's own clock
)

# Places that cycles hold while they run, shared by all hosts; one whose host is gone runs out.
leases = sa.Table(
    "leases",
    metadata,
    sa.Column("cycle", sa.Text, primary_key=True),
    sa.Column("host", sa.Text, nullable=False),
    _moment("expires"),
)

sessions = sa.Table(
    "sessions",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("agent", sa.Text, nullable=False),
    sa.Column("kind", Word(Kind), nullable=False),
    sa.Column("project", PathText, nullable=False),
    sa.Column("host", sa.Text, nullable=False),
    sa.Column("pane_socket", sa.Text),
    sa.Column("pane_server_pid", sa.Integer),
    sa.Column("pane_id", sa.Text),
    sa.Column("pid", sa.Integer),
    sa.Column("agent_session", sa.Text),
    sa.Column("transcript", PathText),
    sa.Column("model", sa.Text),
    sa.Column("permission_mode", sa.Text),
    sa.Column("ladder", sa.Text),
    sa.Column("chain", sa.Integer, nullable=False),
    sa.Column("adopted", sa.Boolean, nullable=False),
    _moment("created"),
    _moment("ended", nullable=True),
    sa.Column("state", Word(State), nullable=False),
    sa.Index(None, "name"),
)

readings = sa.Table(
    "readings",
    metadata,
    _serial(),
    _session_key(),
    _moment("at"),
    sa.Column("agent_session", sa.Text, nullable=False),
    sa.Column("used", sa.BigInteger),
    sa.Column("window", sa.BigInteger),
    sa.Column("usable", sa.BigInteger),
    sa.Column("source", Word(Source), nullable=False),
    sa.Column("confidence", sa.Double, nullable=False),
    sa.Column("model", sa.Text),
    sa.Index(None, "session", "at"),
    sa.Index(None, "at"),
)

health_checks = sa.Table(
    "health_checks",
    metadata,
    _serial(),
    _moment("at"),
    sa.Column("session", sa.Text, nullable=False),
    sa.Column("project", PathText, nullable=False),
    sa.Column("check_type", sa.Text, nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    _data("details"),
    sa.Column("action", sa.Text),
    sa.Index(None, "session", "at"),
)

deliveries = sa.Table(
    "deliveries",
    metadata,
    sa.Column("tag", sa.Text, primary_key=True),
    _session_key(),
    sa.Column("cycle", sa.Text, nullable=False),
    sa.Column("step", sa.Text, nullable=False),
    sa.Column("attempt", sa.Integer, nullable=False),
    sa.Column("channel", Word(Channel), nullable=False),
    sa.Column("state", Word(DeliveryState), nullable=False),
    sa.Column("text", Prose, nullable=False),
    _moment("offered"),
    _moment("seen", nullable=True),
    sa.Index(None, "session"),
    sa.Index(None, "cycle"),
)

# Documents outlive the sessions and cycles that made them: no foreign keys here.
handoffs = sa.Table(
    "handoffs",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("path", PathText, nullable=False),
    sa.Column("number", sa.Integer, nullable=False),
    _moment("created"),
    sa.Column("session", sa.Text, nullable=False),
    sa.Column("project", PathText, nullable=False),
    sa.Column("agent", sa.Text, nullable=False),
    sa.Column("previous", sa.Text),
    sa.Column("agent_session", sa.Text),
    sa.Column("percent", sa.Double),
    sa.Column("used", sa.BigInteger),
    sa.Column("usable", sa.BigInteger),
    sa.Column("sealed", sa.Boolean, nullable=False),
    sa.Column("checksum", sa.Text),
    sa.Column("cycle", sa.Text),
    sa.Column("source", Word(Author), nullable=False),
    sa.Index(None, "project", "created"),
    sa.Index(None, "session", "created"),
)

cycles = sa.Table(
    "cycles",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    _session_key(),
    sa.Column("host", sa.Text, nullable=False),
    sa.Column("cause", sa.Text, nullable=False),
    _moment("started"),
    sa.Column("state", Word(CycleState), nullable=False),
    sa.Column("way", sa.Text),
    sa.Column("percent", sa.Double),
    sa.Column("used", sa.BigInteger),
    _moment("ended", nullable=True),
    _moment("deadline", nullable=True),
    sa.Column("document", PathText),
    sa.Column("old_agent_session", sa.Text),
    sa.Column("new_agent_session", sa.Text),
    sa.Column("note", Prose),
    _data(),
    sa.Index(None, "session", "started"),
    sa.Index(None, "started"),
)

cycle_steps = sa.Table(
    "cycle_steps",
    metadata,
    sa.Column("cycle", sa.Text, sa.ForeignKey("cycles.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("seq", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("step", sa.Text, nullable=False),
    sa.Column("attempt", sa.Integer, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    _moment("started"),
    _moment("ended", nullable=True),
    sa.Column("note", Prose),
    _data(),
)

# The log of everything: it may name a session that was never stored, and outlives those that were.
events = sa.Table(
    "events",
    metadata,
    _serial(),
    _moment("at"),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("session", sa.Text),
    sa.Column("cycle", sa.Text),
    _data(),
    sa.Index(None, "session", "at"),
    sa.Index(None, "name", "at"),
    sa.Index(None, "at"),
)

notes = sa.Table(
    "notes",
    metadata,
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("value", sa.JSON, nullable=False),
)
