from tests.supervisor.conftest import clock, migrated, store  # noqa: F401
