"""Run by alembic, inside the transaction that `batonpass.store.migrate` opened."""

from alembic import context

from batonpass.store.migrate import VERSION_TABLE
from batonpass.store.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
    render_as_batch=True,  # SQLite changes a table by making it anew
)
with context.begin_transaction():
    context.run_migrations()
