"""What every part of the store shares: rows to records, and the last ones of a list."""

from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

import sqlalchemy as sa

from batonpass.handoff import redacted
from batonpass.store.engine import Database

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Record = TypeVar("Record", bound=DataclassInstance)
else:
    Record = TypeVar("Record")


class Part:
    """A noun's queries over the shared database."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def _clean(self, value: object) -> Any:
        """A JSON value without the secrets in its texts."""
        return redacted.value(value, self._db.allow())

    def _all(self, query: sa.Select[Any], kind: type[Record], **given: object) -> list[Record]:
        with self._db.read() as connection:
            return [record(row, kind) for row in connection.execute(query, given).mappings()]

    def _one(self, query: sa.Select[Any], kind: type[Record], **given: object) -> Record | None:
        """The first row. A query that is made once, with its values `given` here, costs half as much."""
        with self._db.read() as connection:
            row = connection.execute(query, given).mappings().first()
        return None if row is None else record(row, kind)

    def _last(self, query: sa.Select[Any], limit: int, *order: sa.Column[Any], kind: type[Record]) -> list[Record]:
        """The newest `limit` rows, oldest first."""
        newest = query.order_by(*(column.desc() for column in order)).limit(limit)
        return self._all(newest, kind)[::-1]


def values(instance: "DataclassInstance") -> dict[str, Any]:
    """A record as a row. Not `asdict`, which would copy every nested value."""
    return {name: getattr(instance, name) for name in _names(type(instance))}


def record(row: sa.RowMapping | dict[str, Any], kind: type[Record]) -> Record:
    """A row as a record; columns that the record does not have are left out."""
    return kind(**{name: row[name] for name in _names(kind)})


@cache
def _names(kind: "type[DataclassInstance]") -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))
