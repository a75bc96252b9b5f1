"""What a daemon and everything around it cost, looked up in /proc now and then, and whether that grows."""

import os
import statistics
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_WARM_UP = 1 / 3  # of a daemon's life: until then it meets every session for the first time


@dataclass(frozen=True, slots=True)
class Sample:
    """One look. `processes` are all of this house: daemon, agents, their hooks and commands."""

    at: float  # seconds since the run began
    pid: int
    rss_mb: float
    cpu: float  # seconds of processor time since the daemon began
    fds: int
    threads: int
    children: int
    processes: int
    cycles: int = 0


def look(at: float, pid: int, home: Path, cycles: int) -> Sample | None:
    """A sample of the daemon with that pid; None when it went away meanwhile."""
    try:
        words = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
        fds = len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return None
    told = dict(line.split(":", 1) for line in status.splitlines())
    if "VmRSS" not in told:  # it has ended, and nobody has taken note yet
        return None
    ours, children = _ours(home, pid)
    cpu = (int(words[11]) + int(words[12])) / _TICKS
    rss = int(told["VmRSS"].split()[0]) / 1024
    return Sample(at, pid, rss, cpu, fds, int(told["Threads"]), children, ours, cycles)


def _ours(home: Path, daemon: int) -> tuple[int, int]:
    """How many processes of this house there are, and how many of them are the daemon's children."""
    mark, ours, children = f"BATON_HOME={home}".encode(), 0, 0
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        with suppress(OSError, IndexError):
            if mark in Path(f"/proc/{entry.name}/environ").read_bytes().split(b"\0"):
                ours += 1
                parent = Path(f"/proc/{entry.name}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1]
                children += int(parent) == daemon
    return ours, children


def last_life(samples: Sequence[Sample]) -> list[Sample]:
    """The samples of the last daemon once it was warm: its figures can be compared with each other."""
    life = [sample for sample in samples if sample.pid == samples[-1].pid] if samples else []
    return life[int(len(life) * _WARM_UP) :]


def growth(samples: Sequence[Sample], name: str) -> float:
    """How much a figure grew from the first of these samples to the last, by the straight line through all."""
    if len(samples) < 2:
        return 0.0
    times = [sample.at for sample in samples]
    slope, _ = statistics.linear_regression(times, [getattr(sample, name) for sample in samples])
    return float(slope * (times[-1] - times[0]))


def flat(samples: Sequence[Sample], name: str, least: float, share: float = 0.1) -> bool:
    """Whether a figure stayed what it was: it grew by no more than a share of itself, or by no more than `least`."""
    if len(samples) < 2:
        return True
    mean = statistics.fmean(getattr(sample, name) for sample in samples)
    return growth(samples, name) <= max(least, share * mean)
