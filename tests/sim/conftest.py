from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sim.played import Played, played


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Played]:
    """A scripted agent in a terminal of its own, ended afterwards."""
    with played(tmp_path) as one:
        yield one
