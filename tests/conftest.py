"""What holds for every test: properties are tried on the same examples each time, however busy the machine is."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests import nursery

# Exploring is the work of bench/fuzz.py; a test that fails must fail again.
settings.register_profile("tests", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tests")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A run of the long matrices alone need not import the many files that have none: every worker would."""
    only_long = str(config.getoption("markexpr", "")).startswith("long")
    if only_long and collection_path.suffix == ".py" and "mark.long" not in collection_path.read_text(encoding="utf-8"):
        return True
    return None


def pytest_sessionfinish() -> None:
    nursery.close()
