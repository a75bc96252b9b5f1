import os
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from batonpass.sim.tmux_server import private_tmux
from batonpass.terminals.tmux import Tmux
from tests.terminals.puppet import Puppet


@pytest.fixture
def socket() -> Iterator[str]:
    """The socket path of a tmux server that only this test knows."""
    with private_tmux() as path:
        yield path


@pytest.fixture
def no_control(tmp_path: Path) -> dict[str, str]:
    """An environment whose tmux refuses control mode."""
    real = shutil.which("tmux")
    fake = tmp_path / "bin" / "tmux"
    fake.parent.mkdir()
    fake.write_text(f'#!/bin/sh\nfor word; do [ "$word" = -C ] && exit 1; done\nexec {real} "$@"\n', encoding="utf-8")
    fake.chmod(0o755)
    return {**os.environ, "PATH": f"{fake.parent}:{os.environ['PATH']}"}


@pytest.fixture(params=["control", "direct"])
async def tmux(socket: str, request: pytest.FixtureRequest) -> AsyncIterator[Tmux]:
    """A terminal on the test's server: by the control connection, and by single commands."""
    direct = request.param == "direct"
    terminal = Tmux(socket, settle=0, env=request.getfixturevalue("no_control") if direct else os.environ)
    yield terminal
    await terminal.aclose()


@pytest.fixture
async def puppet(socket: str) -> AsyncIterator[Puppet]:
    async with Puppet(str(Path(socket).with_name("puppet"))) as strings:
        yield strings
