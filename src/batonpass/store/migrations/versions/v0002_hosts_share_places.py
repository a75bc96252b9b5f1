"""Hosts that share a database: their heartbeats by its clock, and the places that their cycles hold."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.add_column("hosts", sa.Column("seen", sa.Double()))
    op.create_table(
        "leases",
        sa.Column("cycle", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("expires", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("cycle", name=op.f("pk_leases")),
    )
