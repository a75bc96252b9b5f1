"""Every benchmark runs with tiny numbers and ends with one JSON object; what it measures is not judged here."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.wanted import missing

ROOT = Path(__file__).parents[2]


def bench(name: str, *args: str, timeout: float = 240) -> tuple[list[str], dict[str, Any]]:
    """The lines before the last, and the object on the last."""
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    argv = [sys.executable, str(ROOT / "bench" / name), *args]
    done = subprocess.run(argv, env=env, cwd=ROOT, capture_output=True, text=True, timeout=timeout, check=False)
    assert done.returncode == 0, done.stderr
    assert not done.stderr, done.stderr
    *lines, last = done.stdout.splitlines()
    return lines, json.loads(last)


def test_the_hook_benchmark_compares_hooks_and_status_line_with_a_bare_python() -> None:
    lines, figures = bench("hook.py", "--rounds", "1")
    assert any("status line" in line for line in lines)
    assert figures["rounds"] == 1
    assert figures["ratio"] > 0
    assert {"floor_ms", "isolated_floor_ms", "event_ms", "spool_ms", "ask_ms", "prime_ms", "statusline_ms"} <= set(
        figures
    )


def test_with_json_a_benchmark_prints_the_object_and_nothing_else() -> None:
    lines, figures = bench("hook.py", "--rounds", "1", "--json")
    assert lines == []
    assert figures["event_ms"] > 0


def test_the_cycle_benchmark_races_baton_against_a_bare_script() -> None:
    lines, figures = bench("cycle.py", "--agent", "scripted", "--rounds", "1")
    assert any("the whole" in line for line in lines)
    assert figures["rounds"] == 1
    assert figures["ratio"] > 0
    assert figures["baton_s"] > 0
    assert figures["floor_s"] > 0
    assert {"prepare", "ask", "seal", "pass", "verify", "close"} <= set(figures["steps"])


@pytest.mark.long
@pytest.mark.real_agent
@pytest.mark.parametrize(
    "agent",
    ["claude", "codex", *(pytest.param(name, marks=pytest.mark.slow_agent) for name in ("gemini", "opencode"))],
)
def test_the_cycle_benchmark_has_a_bare_script_for_every_real_agent(agent: str) -> None:
    if not any((ROOT / ".agents").glob(f"{agent}-*/node_modules/.bin/{agent}")):
        missing(f"NOT TESTED with the real {agent}: scripts/agents has not installed it")
    _, figures = bench("cycle.py", "--agent", agent, "--rounds", "1", timeout=400)
    assert figures["agent"] == agent
    assert figures["ratio"] > 0
    assert {"prepare", "ask", "seal", "pass", "verify", "close"} <= set(figures["steps"])


def test_the_latency_benchmark_follows_every_append_to_its_decision() -> None:
    lines, figures = bench("latency.py", "--transcripts", "12", "--seconds", "1", "--rate", "20")
    assert any("append to decision" in line for line in lines)
    assert (figures["transcripts"], figures["appends"], figures["missed"]) == (12, 20, 0)
    assert {"p50_ms", "floor_p50_ms", "cpu_percent", "rss_mb"} <= set(figures)
    assert figures["ratio"] == pytest.approx(figures["p99_ms"] / figures["floor_p99_ms"], rel=0.01)
    (row,) = [line for line in lines if line.startswith("| ratio")]
    assert str(figures["ratio"]) in row


def test_the_facts_benchmark_follows_a_session_and_gathers_from_it() -> None:
    lines, figures = bench("facts.py", "--megabytes", "1", "--lines", "20")
    assert any("nobody has read yet" in line for line in lines)
    assert figures["facts_ms"] > 0
    assert {"ratio", "follow_percent", "facts_best_ms", "cold_ms", "megabytes"} <= set(figures)


def test_the_continuity_benchmark_takes_recorded_sessions() -> None:
    lines, figures = bench("continuity.py", "--corpus", "tests/fixtures/continuity")
    assert any("silent" in line for line in lines)
    assert figures["recall"] == {"careless": 1.0, "silent": 1.0}
    assert figures["precision"] == {"careless": 1.0, "silent": 1.0}
    assert {"by_kind", "tokens_max", "baselines"} <= set(figures)


@pytest.mark.long
@pytest.mark.real_agent
@pytest.mark.timeout(900)
def test_the_continuity_benchmark_plays_a_short_session_on_the_real_agent() -> None:
    if not any((ROOT / ".agents").glob("claude-*/node_modules/.bin/claude")):
        missing("NOT TESTED with the real Claude Code: scripts/agents has not installed it")
    _, figures = bench("continuity.py", "--seed", "1", "--few", "--agents", "silent", "--no-baselines", timeout=800)
    assert figures["recall"]["silent"] >= 0.95, figures["lost"]
    assert figures["precision"]["silent"] >= 0.95, figures["stale"]
    assert figures["tokens_max"] <= 4_100


def test_the_redaction_benchmark_compares_with_one_trivial_pass() -> None:
    lines, figures = bench("redact.py", "--rounds", "2")
    assert any("20 KB with secrets" in line for line in lines)
    assert (figures["rounds"], figures["bytes"]) == (2, 20_000)
    assert figures["taken_out"] >= 20
    assert {"ratio", "document_ms", "document_p99_ms", "clean_document_ms", "line_ms", "floor_ms"} <= set(figures)


def test_the_page_of_benchmarks_has_a_place_for_every_one_of_them() -> None:
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    _, figures = bench("all.py", "--json", "--names-only")
    for name in figures["names"]:
        assert f"<!-- {name} -->" in page
        assert f"<!-- /{name} -->" in page
