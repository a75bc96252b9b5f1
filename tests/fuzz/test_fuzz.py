"""The fuzzer itself: a short run in every build, a longer one in the long matrix."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


def fuzz(*words: str, seconds: float) -> dict[str, Any]:
    argv = [sys.executable, str(ROOT / "bench" / "fuzz.py"), *words, "--json"]
    done = subprocess.run(argv, capture_output=True, encoding="utf-8", timeout=seconds, check=False)
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert (figures["failures"], done.returncode) == (0, 0), done.stderr
    return figures


def test_no_target_breaks_in_a_short_run() -> None:
    figures = fuzz("--examples", "20", "--seed", "1", seconds=110)
    assert len(figures["targets"]) >= 20
    assert all(count >= 20 for count in figures["targets"].values())
    assert figures["peak_mb"] < 500


def test_a_broken_promise_is_told_with_the_input_that_breaks_it(tmp_path: Path) -> None:
    script = (
        "import fuzz, _fuzz_values as v\n"
        "from hypothesis import strategies as st\n"
        "def check(number):\n    assert number < 1000\n"
        "tried, story = fuzz.attack(v.Target('x', st.integers(), check), 500, 0)\n"
        "assert story and '1000' in story, story\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT / "bench",
        capture_output=True,
        encoding="utf-8",
        timeout=110,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.long
def test_no_target_breaks_in_a_long_run() -> None:
    assert fuzz("--minutes", "0.4", seconds=590)["examples"] > 80
