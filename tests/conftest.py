"""What holds for every test: properties are tried on the same examples each time, however busy the machine is."""

import os
import time
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests import nursery

# Exploring is the work of bench/fuzz.py; a test that fails must fail again.
settings.register_profile("tests", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tests")


def pytest_configure() -> None:
    """Every process of this run takes the same samples, also if it goes on past midnight."""
    os.environ.setdefault("BATON_CHAOS_TURN", str(int(time.time() // 86_400)))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A run of the long matrices alone need not import the many files that have none: every worker would."""
    only_long = str(config.getoption("markexpr", "")).startswith("long")
    return True if only_long and collection_path.suffix == ".py" and not _says_long(collection_path) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A long test whose own file does not say so would be left out of such a run, and nobody would notice."""
    unsaid = {item.path for item in items if item.get_closest_marker("long") and not _says_long(item.path)}
    if unsaid:
        raise pytest.UsageError(f"write pytest.mark.long into {', '.join(map(str, sorted(unsaid)))} itself")
    items.sort(key=lambda item: item.get_closest_marker("long") is None)  # short ones fill the gaps at the end


@cache
def _says_long(path: Path) -> bool:
    return "mark.long" in path.read_text(encoding="utf-8")


def pytest_sessionfinish() -> None:
    nursery.close()
