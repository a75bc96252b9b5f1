"""Every test of a command has its own state directory, its own project folder, and a daemon on request."""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from batonpass.cli.app import front
from tests.cli.fake_daemon import FakeDaemon


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A private BATON_HOME with a short path, and a terminal without colours, 100 columns wide."""
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="bt") as folder:
        monkeypatch.setenv("BATON_HOME", folder)
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("COLUMNS", "100")
        monkeypatch.setenv("LINES", "40")
        monkeypatch.setenv("TERM", "dumb")
        for name in ("FORCE_COLOR", "CLAUDE_CONFIG_DIR", "BATON_CLAUDE", "TMUX", "TMUX_PANE"):
            monkeypatch.delenv(name, raising=False)
        yield Path(folder)


@pytest.fixture
def project(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder in which the command is typed."""
    folder = tmp_path / "api"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def daemon(home: Path) -> Iterator[FakeDaemon]:
    fake = FakeDaemon(home)
    yield fake
    fake.close()


@pytest.fixture
def baton() -> Callable[..., Result]:
    """Type a command line."""
    return lambda *argv: CliRunner().invoke(front(argv[0] if argv else None), list(argv), prog_name="baton")
