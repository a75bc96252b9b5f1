"""The soak: tiny runs, and how growth is told from noise."""

import re
import sys
import xml.etree.ElementTree as ET

import pytest

from tests.bench.test_bench import ROOT, bench

sys.path.insert(0, str(ROOT / "bench"))

from _plot import Panel, svg
from _samples import Sample, flat, growth, last_life


def samples(values: list[int], pid: int = 1, first: float = 0.0) -> list[Sample]:
    return [Sample(first + 5.0 * n, pid, 90.0, 1.0, fds, 9, 1, 5) for n, fds in enumerate(values)]


@pytest.mark.long
@pytest.mark.timeout(900)
def test_a_soak_of_two_minutes_loses_nothing_and_nothing_grows() -> None:
    lines, figures = bench("soak.py", "--minutes", "2", "--sessions", "6", "--seed", "3", timeout=470)
    assert any(line.startswith("| losses") for line in lines)
    losses = ("lost", "typed_twice", "misdirected", "cleared_unsealed", "unfinished")
    assert [figures[name] for name in losses] == [0] * len(losses)
    assert figures["cycles"] >= 6
    assert sum(figures["faults"].values()) >= 1
    assert figures["daemon_kills"] >= 1
    assert all(figures["flat"][name] for name in ("threads", "children", "processes")), figures["growth"]
    # A few connections more or less are what happens to be under way; a leak would come with every cycle.
    assert figures["growth"]["fds"] <= 8, figures["growth"]


def test_descriptors_that_leak_are_seen_and_noise_is_not() -> None:
    assert not flat(samples([20 + n for n in range(30)]), "fds", least=4)
    assert flat(samples([20, 22, 19, 21] * 8), "fds", least=4)
    assert growth(samples([10, 11, 12, 13]), "fds") == pytest.approx(3.0)


def test_only_the_last_daemon_is_judged_and_only_when_it_is_warm() -> None:
    killed, last = samples([50] * 6), samples([10, 20, 30, 30, 30, 30], pid=2, first=30.0)
    assert [sample.fds for sample in last_life(killed + last)] == [30, 30, 30, 30]
    assert last_life([]) == []


def test_the_plot_is_a_picture_with_a_gap_where_nothing_was_measured() -> None:
    text = svg("a & b", [0.0, 1.0, 2.0, 3.0], [Panel("MB", {"rss": [1.0, 2.0, None, 4.0]})])
    assert ET.fromstring(text).tag.endswith("svg")
    (line,) = re.findall(r'd="(M[^"H]+)" fill="none"', text)
    assert (line.count("M"), line.count("L")) == (2, 1)
