"""The first tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    _hosts()
    _sessions()
    _readings()
    _health_checks()
    _deliveries()
    _handoffs()
    _cycles()
    _cycle_steps()
    _events()
    _notes()


def _hosts() -> None:
    op.create_table(
        "hosts",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("heartbeat", sa.Double(), nullable=False),
        sa.Column("version", sa.Text()),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_hosts")),
    )


def _sessions() -> None:
    op.create_table(
        "sessions",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("agent", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("project", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("pane_socket", sa.Text()),
        sa.Column("pane_server_pid", sa.Integer()),
        sa.Column("pane_id", sa.Text()),
        sa.Column("pid", sa.Integer()),
        sa.Column("agent_session", sa.Text()),
        sa.Column("transcript", sa.Text()),
        sa.Column("model", sa.Text()),
        sa.Column("permission_mode", sa.Text()),
        sa.Column("ladder", sa.Text()),
        sa.Column("chain", sa.Integer(), nullable=False),
        sa.Column("adopted", sa.Boolean(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.Column("ended", sa.Double()),
        sa.Column("state", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sessions")),
    )
    op.create_index(op.f("ix_sessions_name"), "sessions", ["name"])


def _readings() -> None:
    op.create_table(
        "readings",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("session", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("agent_session", sa.Text(), nullable=False),
        sa.Column("used", sa.BigInteger()),
        sa.Column("window", sa.BigInteger()),
        sa.Column("usable", sa.BigInteger()),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("confidence", sa.Double(), nullable=False),
        sa.Column("model", sa.Text()),
        sa.ForeignKeyConstraint(
            ["session"], ["sessions.id"], name=op.f("fk_readings_session_sessions"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_readings")),
    )
    op.create_index(op.f("ix_readings_at"), "readings", ["at"])
    op.create_index(op.f("ix_readings_session_at"), "readings", ["session", "at"])


def _health_checks() -> None:
    op.create_table(
        "health_checks",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("session", sa.Text(), nullable=False),
        sa.Column("project", sa.Text(), nullable=False),
        sa.Column("check_type", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.Column("action", sa.Text()),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_health_checks")),
    )
    op.create_index(op.f("ix_health_checks_session_at"), "health_checks", ["session", "at"])


def _deliveries() -> None:
    op.create_table(
        "deliveries",
        sa.Column("tag", sa.Text(), nullable=False),
        sa.Column("session", sa.Text(), nullable=False),
        sa.Column("cycle", sa.Text(), nullable=False),
        sa.Column("step", sa.Text(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("offered", sa.Double(), nullable=False),
        sa.Column("seen", sa.Double()),
        sa.ForeignKeyConstraint(
            ["session"], ["sessions.id"], name=op.f("fk_deliveries_session_sessions"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("tag", name=op.f("pk_deliveries")),
    )
    op.create_index(op.f("ix_deliveries_cycle"), "deliveries", ["cycle"])
    op.create_index(op.f("ix_deliveries_session"), "deliveries", ["session"])


def _handoffs() -> None:
    op.create_table(
        "handoffs",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.Column("session", sa.Text(), nullable=False),
        sa.Column("project", sa.Text(), nullable=False),
        sa.Column("agent", sa.Text(), nullable=False),
        sa.Column("previous", sa.Text()),
        sa.Column("agent_session", sa.Text()),
        sa.Column("percent", sa.Double()),
        sa.Column("used", sa.BigInteger()),
        sa.Column("usable", sa.BigInteger()),
        sa.Column("sealed", sa.Boolean(), nullable=False),
        sa.Column("checksum", sa.Text()),
        sa.Column("cycle", sa.Text()),
        sa.Column("source", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_handoffs")),
    )
    op.create_index(op.f("ix_handoffs_project_created"), "handoffs", ["project", "created"])
    op.create_index(op.f("ix_handoffs_session_created"), "handoffs", ["session", "created"])


def _cycles() -> None:
    op.create_table(
        "cycles",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("session", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("cause", sa.Text(), nullable=False),
        sa.Column("started", sa.Double(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("way", sa.Text()),
        sa.Column("percent", sa.Double()),
        sa.Column("used", sa.BigInteger()),
        sa.Column("ended", sa.Double()),
        sa.Column("deadline", sa.Double()),
        sa.Column("document", sa.Text()),
        sa.Column("old_agent_session", sa.Text()),
        sa.Column("new_agent_session", sa.Text()),
        sa.Column("note", sa.Text()),
        sa.Column("data", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["session"], ["sessions.id"], name=op.f("fk_cycles_session_sessions"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_cycles")),
    )
    op.create_index(op.f("ix_cycles_session_started"), "cycles", ["session", "started"])
    op.create_index(op.f("ix_cycles_started"), "cycles", ["started"])


def _cycle_steps() -> None:
    op.create_table(
        "cycle_steps",
        sa.Column("cycle", sa.Text(), nullable=False),
        sa.Column("seq", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("step", sa.Text(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("started", sa.Double(), nullable=False),
        sa.Column("ended", sa.Double()),
        sa.Column("note", sa.Text()),
        sa.Column("data", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["cycle"], ["cycles.id"], name=op.f("fk_cycle_steps_cycle_cycles"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("cycle", "seq", name=op.f("pk_cycle_steps")),
    )


def _events() -> None:
    op.create_table(
        "events",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("session", sa.Text()),
        sa.Column("cycle", sa.Text()),
        sa.Column("data", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_events")),
    )
    op.create_index(op.f("ix_events_at"), "events", ["at"])
    op.create_index(op.f("ix_events_name_at"), "events", ["name", "at"])
    op.create_index(op.f("ix_events_session_at"), "events", ["session", "at"])


def _notes() -> None:
    op.create_table(
        "notes",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("value", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_notes")),
    )
