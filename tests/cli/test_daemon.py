import json
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import Result

from tests.cli.fake_daemon import FakeDaemon

Baton = Callable[..., Result]
PING = {"pid": 4711, "version": "0.1.0", "host": "box", "started": 1_800_000_000.0}


def test_the_daemons_state_is_told(daemon: FakeDaemon, baton: Baton, home: Path) -> None:
    daemon.answers["ping"] = PING
    result = baton("daemon", "status")
    assert "The daemon runs on box: pid 4711, Baton 0.1.0" in result.stdout
    assert str(home) in result.stdout.replace("\n", "")
    assert json.loads(baton("daemon", "status", "--json").stdout) == {"running": True, **PING}


def test_a_daemon_that_does_not_run_is_a_no_and_is_not_started(baton: Baton, home: Path) -> None:
    result = baton("daemon", "status")
    assert (result.exit_code, result.stdout) == (3, "")
    assert "No Baton daemon is running" in result.stderr
    as_json = baton("daemon", "status", "--json")
    assert (as_json.exit_code, json.loads(as_json.stdout)) == (3, {"running": False})
    assert list(home.iterdir()) == []


def test_stopping_waits_until_the_daemon_is_gone(daemon: FakeDaemon, baton: Baton) -> None:
    daemon.answers["stop"] = {}
    result = baton("daemon", "stop")
    assert result.exit_code == 0
    assert "The daemon has stopped." in result.stdout


def test_stopping_what_does_not_run_is_no_error(baton: Baton, home: Path) -> None:
    result = baton("daemon", "stop")
    assert (result.exit_code, result.stdout) == (0, "No Baton daemon is running.\n")


def test_running_it_leaves_the_folder_and_keeps_its_state_where_it_was_asked_to(
    baton: Baton, home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BATON_HOME", "own")
    seen: list[tuple[str, str]] = []

    def main() -> int:
        seen.append((os.getcwd(), os.environ["BATON_HOME"]))
        return 0

    monkeypatch.setattr("importlib.import_module", lambda name: SimpleNamespace(main=main))
    assert baton("daemon", "run").exit_code == 0
    assert seen == [(str(project / "own"), str(project / "own"))]
