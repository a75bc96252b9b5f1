from pathlib import Path

import pytest

from batonpass.store import Store
from tests.cycle.scene import Scene
from tests.supervisor.conftest import clock, migrated, store  # noqa: F401
from tests.supervisor.fakes import HastyClock


@pytest.fixture
def scene(tmp_path: Path, store: Store, clock: HastyClock) -> Scene:  # noqa: F811
    return Scene(tmp_path, store, clock)
