import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from batonpass.store import Store, default_url, open_store
from tests.supervisor.fakes import HastyClock


@pytest.fixture
def clock() -> HastyClock:
    return HastyClock()


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database that was migrated once: doing it anew takes longer than most tests."""
    home = tmp_path_factory.mktemp("migrated")
    open_store(default_url(home)).close()
    return home / "baton.db"


@pytest.fixture
def store(migrated: Path, tmp_path: Path) -> Iterator[Store]:
    home = tmp_path / "home"
    home.mkdir()
    shutil.copy(migrated, home / "baton.db")
    with open_store(default_url(home)) as store:
        yield store
