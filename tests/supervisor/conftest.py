import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from batonpass.clock import ManualClock
from batonpass.store import Store, default_url, open_store
from batonpass.supervisor.watch import Watch
from tests.supervisor.fakes import HastyClock, Talk, ToldAgent, a_watch


@pytest.fixture
def clock() -> HastyClock:
    return HastyClock()


@pytest.fixture
def agent() -> ToldAgent:
    return ToldAgent()


@pytest.fixture
def pair(tmp_path: Path, clock: ManualClock, agent: ToldAgent) -> tuple[Watch, Talk]:
    """A watched session, and the transcript that it follows."""
    return a_watch(tmp_path, clock, agent)


@pytest.fixture
def watch(pair: tuple[Watch, Talk]) -> Watch:
    return pair[0]


@pytest.fixture
def talk(pair: tuple[Watch, Talk]) -> Talk:
    return pair[1]


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
