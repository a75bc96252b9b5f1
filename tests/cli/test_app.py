import subprocess
import sys
from collections.abc import Callable

import pytest
from typer.testing import Result

from batonpass import __version__
from batonpass.cli.app import main

Baton = Callable[..., Result]


@pytest.mark.parametrize("argv", [[], ["-h"], ["--help"]])
def test_baton_alone_is_friendly(baton: Baton, argv: list[str]) -> None:
    shown = baton(*argv).output
    for command in (
        "run",
        "adopt",
        "status",
        "handoff",
        "continue",
        "handoffs",
        "cycles",
        "doctor",
        "config",
        "daemon",
        "demo",
    ):
        assert f" {command} " in shown
    assert "`baton run`" in shown


def test_run_says_in_its_help_where_the_agents_words_go(baton: Baton) -> None:
    shown = baton("run", "-h").output
    assert "[-- ARGS]" in shown
    assert "baton run AGENT -- --model NAME" in shown
    assert "(default: its folder)" in shown


def test_the_version_is_told(baton: Baton) -> None:
    assert baton("--version").stdout == f"baton {__version__}\n"


def test_an_unknown_command_is_wrong_usage(baton: Baton) -> None:
    result = baton("stats")
    assert result.exit_code == 2
    assert "status" in result.output, "the nearest right one is named"


def test_main_gives_the_exit_code(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["daemon", "status"]) == 3
    monkeypatch.setattr(sys, "argv", ["baton", "--version"])
    assert main() == 0


def test_a_command_loads_what_it_needs_and_no_other_command() -> None:
    """`baton status` is typed often: it must not wait for what `baton config` and `baton exec` are made of."""
    told = "import sys; from batonpass.cli.app import main; main(['status', '-h']); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True, timeout=60).stdout
    assert "batonpass.cli.status" in loaded
    others = {"batonpass.config", "batonpass.facts", "batonpass.cli.exec"}
    assert not others & set(loaded.split())
