"""Logs of a daemon that runs for years."""

import logging
from collections.abc import Iterator
from logging.handlers import RotatingFileHandler
from pathlib import Path

import pytest

from batonpass.cli import client
from batonpass.supervisor import state


@pytest.fixture
def ours() -> Iterator[logging.Logger]:
    """The logger that `prepare` gives a file, with nobody else's meanwhile."""
    ours = logging.getLogger("batonpass")
    before, level = ours.handlers, ours.level
    ours.handlers = []
    yield ours
    for handler in ours.handlers:
        handler.close()
    ours.handlers = before
    ours.setLevel(level)


def test_the_log_is_kept_in_four_files_of_five_megabytes_for_its_owner_alone(
    tmp_path: Path, ours: logging.Logger
) -> None:
    state.prepare(tmp_path)
    (handler,) = ours.handlers
    assert isinstance(handler, RotatingFileHandler)
    assert (handler.maxBytes, handler.backupCount) == (5_000_000, 3)
    handler.maxBytes = 50_000  # the same, without writing twenty megabytes
    ours.propagate, before = False, ours.propagate
    for number in range(60):
        ours.warning("%d %s", number, "word " * 1_000)
    ours.propagate = before
    logs = sorted((tmp_path / "logs").iterdir())
    assert [path.name for path in logs] == ["baton.log", "baton.log.1", "baton.log.2", "baton.log.3"]
    assert sum(path.stat().st_size for path in logs) < 210_000
    assert {path.stat().st_mode & 0o777 for path in logs} == {0o600}
    assert "59 word" in logs[0].read_text(encoding="utf-8")


def test_what_daemons_say_before_they_have_a_log_is_put_away_when_it_has_grown(tmp_path: Path) -> None:
    log = tmp_path / "daemon.log"
    log.write_bytes(b"x" * 1000)
    client._keep_small(log)
    assert [path.name for path in tmp_path.iterdir()] == ["daemon.log"]
    log.write_bytes(b"x" * 6_000_000)
    client._keep_small(log)
    assert [path.name for path in tmp_path.iterdir()] == ["daemon.log.1"]
    client._keep_small(log)
