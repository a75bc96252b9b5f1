from collections.abc import Iterator
from pathlib import Path

import pytest

from batonpass.sim.tmux_server import private_tmux
from tests.system.house import House

REHEARSAL = {"BATON_CHAOS": "-"}  # cycles can be held at a step


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    """A house with nothing running in it yet."""
    with private_tmux() as tmux:
        house = House(tmp_path, tmux, REHEARSAL)
        yield house
        house.close()


@pytest.fixture
def baton(house: House) -> House:
    """A house whose daemon runs, for tests that disturb it."""
    return house.start()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A house whose daemon runs, for tests that only look at sessions of their own."""
    with private_tmux() as tmux:
        house = House(tmp_path_factory.mktemp("house"), tmux, REHEARSAL)
        house.configure("max_concurrent: 8\n")
        yield house.start()
        house.close()
