"""What the benchmarks share: how they are called, how they time, and how they show what they found."""

import argparse
import json
import os
import platform
import select
import signal
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src"
sys.path.insert(0, str(SOURCE))

Figures = dict[str, Any]
Table = Sequence[Sequence[str]]  # the first row is the head


def parser(doc: str) -> argparse.ArgumentParser:
    """Options that every benchmark takes."""
    # Ended from outside, a benchmark still ends what it started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    made = argparse.ArgumentParser(description=doc.split("\n")[0])
    made.add_argument("--json", action="store_true", help="print nothing but one JSON object")
    return made


def environment(**more: str) -> dict[str, str]:
    """This process's environment for children, with compiled modules kept, as in any real installation."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONDONTWRITEBYTECODE", "TMUX")}
    return {**kept, **more}


def show(table: Table, figures: Figures, *, only_json: bool) -> int:
    """A small table for people, then always one JSON object as the last line."""
    if not only_json:
        print("\n".join(text_table(table)))
        print()
    print(json.dumps(figures), flush=True)
    return 0


def text_table(table: Table) -> list[str]:
    """A markdown table whose columns line up, so that it reads well in a terminal, too."""
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    cells = [[cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in table]
    rows = ["| " + " | ".join(row) + " |" for row in cells]
    return [rows[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *rows[1:]]


def interleave(jobs: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, list[float]]:
    """The times of every job: A B C, A B C, … so that a busy moment of the machine falls on all of them."""
    for job in jobs.values():
        job()  # once beforehand: caches are warm in real use
    times: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(rounds):
        for name, job in jobs.items():
            times[name].append(job())
    return times


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def percentile(values: Sequence[float], percent: float) -> float:
    """The value below which so many per cent of the values lie."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


def machine() -> dict[str, str]:
    """Where and with what figures were taken."""
    import batonpass

    return {
        "baton": batonpass.__version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cores": str(os.cpu_count()),
        "load": f"{os.getloadavg()[0]:.1f}",
        "date": time.strftime("%Y-%m-%d %H:%M", time.gmtime()) + " UTC",
    }


def end(pid: int, patience: float = 3.0) -> None:
    """End one process that the benchmark started, and wait until it is gone."""
    try:
        descriptor = os.pidfd_open(pid)
    except (ProcessLookupError, PermissionError):
        return
    try:
        for number in (signal.SIGTERM, signal.SIGKILL):
            signal.pidfd_send_signal(descriptor, number)
            if select.select([descriptor], [], [], patience)[0]:
                return
    except ProcessLookupError:
        return
    finally:
        os.close(descriptor)
