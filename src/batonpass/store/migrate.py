"""Bring a database to the tables that this version knows."""

import sqlalchemy as sa

from batonpass.store.engine import Database
from batonpass.store.errors import StoreError

HEAD = "0002"
VERSION_TABLE = "baton_migrations"

_version = sa.Table(VERSION_TABLE, sa.MetaData(), sa.Column("version_num", sa.String(32), primary_key=True))


def migrate(database: Database) -> None:
    """Upgrade when needed. StoreError when a newer Baton wrote the database."""
    if _current(database) == HEAD:
        return
    # Here and not at the top: most openings need no migration, and alembic takes longer to load than they do.
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError

    config = Config()
    config.set_main_option("script_location", "batonpass.store:migrations")
    config.set_main_option("path_separator", "os")
    with database.migrating() as connection:
        config.attributes["connection"] = connection
        try:
            command.upgrade(config, "head")
        except CommandError as error:
            raise StoreError(
                f"The store {database.where} was written by a newer version of Baton and was left as it is: "
                "update Baton, or give this version a store of its own with BATON_HOME.",
                where=database.where,
            ) from error


def _current(database: Database) -> str | None:
    with database.read() as connection:
        if not sa.inspect(connection).has_table(VERSION_TABLE):
            return None
        return connection.execute(sa.select(_version.c.version_num)).scalar()
