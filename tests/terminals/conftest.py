from collections.abc import AsyncIterator, Iterator

import pytest

from batonpass.sim.tmux_server import private_tmux
from batonpass.terminals.tmux import Tmux


@pytest.fixture
def socket() -> Iterator[str]:
    """The socket path of a tmux server that only this test knows."""
    with private_tmux() as path:
        yield path


@pytest.fixture
async def tmux(socket: str) -> AsyncIterator[Tmux]:
    terminal = Tmux(socket)
    yield terminal
    await terminal.aclose()
