"""How soon Baton decides on what an agent appends to its transcript, with many transcripts at once.

    .venv/bin/python bench/latency.py [--transcripts N] [--seconds S] [--rate R] [--json]

A writer process appends usage lines at a steady rate. Baton's own watcher, reader, store and ladder run in this
process, as in the daemon; there is no slow look round here that would make up for a missed event. In the same run a
bare reader on the same folders, with the same file events and nothing behind them, is the floor.
"""

import asyncio
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from _common import SOURCE, Figures, Table, end, environment, parser, percentile, show
from watchfiles import awatch

from batonpass import agents
from batonpass.session import Kind, Session, State
from batonpass.supervisor import files as watching
from batonpass.supervisor.daemon import Daemon
from batonpass.supervisor.watch import Watch

_PER_FOLDER = 10  # sessions of one project share a folder
_GRACE_SECONDS = 2.0


@dataclass
class Decided:
    """Every decision, by transcript: of which line (by its time) and when."""

    by_path: dict[Path, list[tuple[float, float]]] = field(default_factory=dict)

    def note(self, path: Path, of: float) -> None:
        self.by_path.setdefault(path, []).append((of, time.time()))

    def latencies(self, appended: dict[Path, list[float]]) -> tuple[list[float], int]:
        """Milliseconds from every append to the first decision that knew of it, and how many had none."""
        found, missed = [], 0
        for path, times in appended.items():
            decided = self.by_path.get(path, [])
            for at in times:
                when = next((now for of, now in decided if of >= at), None)
                if when is None:
                    missed += 1
                else:
                    found.append(1000 * (when - at))
        return found, missed


def write(paths: Sequence[Path], rate: float, seconds: float) -> None:
    """Append usage lines to files in a random order, at that rate."""
    chosen = random.Random(1)
    began = time.monotonic()
    for number in range(int(rate * seconds)):
        ahead = began + number / rate - time.monotonic()
        if ahead > 0:
            time.sleep(ahead)
        path = chosen.choice(paths)
        _append(path, len(paths) + number)


def _append(path: Path, number: int) -> None:
    line = {"event": "used", "at": time.time(), "used": 20_000 + number % 40_000, "message_id": str(number)}
    with open(path, "a", encoding="utf-8") as stream:
        stream.write(json.dumps(line) + "\n")


async def floor(folders: Sequence[Path], until: Path) -> list[float]:
    """Milliseconds from append to a bare reader that does nothing with what it reads."""
    offsets = {str(path): path.stat().st_size for folder in folders for path in folder.iterdir()}
    found: list[float] = []
    stop = asyncio.Event()
    changes = awatch(
        *folders, stop_event=stop, debounce=watching.DEBOUNCE, step=watching.STEP, recursive=False, rust_timeout=500,
        yield_on_timeout=True,
    )  # fmt: skip
    print("ready", flush=True)
    async for batch in changes:
        for _, path in batch:
            found += [1000 * (time.time() - at) for at in _times(path, offsets)]
        if until.exists():
            stop.set()
    return found


def _times(path: str, offsets: dict[str, int]) -> list[float]:
    """When the lines were written that are new since the last look."""
    with open(path, "rb") as stream:
        stream.seek(offsets.get(path, 0))
        lines = stream.read().splitlines()
        offsets[path] = stream.tell()
    return [json.loads(line)["at"] for line in lines]


@contextmanager
def child(*args: str) -> Iterator[subprocess.Popen[str]]:
    """This file again, as writer or floor, ended by its id."""
    argv = [sys.executable, __file__, *args]
    process = subprocess.Popen(argv, env=environment(PYTHONPATH=str(SOURCE)), stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        end(process.pid)
        process.wait()
        if process.stdout:
            process.stdout.close()


def _sessions(daemon: Daemon, root: Path, count: int) -> list[Path]:
    """Sessions without processes, each with a transcript that is there already."""
    paths = []
    for number in range(count):
        project = root / f"project-{number // _PER_FOLDER}"
        path = project / "transcripts" / f"{number:04d}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        _append(path, number)  # a session's first reading makes more records than all that follow
        name = f"s{number:04d}"
        folder = root / "sessions" / name
        folder.mkdir(parents=True)
        session = Session(
            id=name, name=name, agent="scripted", kind=Kind.INTERACTIVE, project=project, host=daemon.host, pane=None,
            pid=None, agent_session=name, transcript=path, model=None, permission_mode=None, ladder=None, chain=0,
            adopted=False, created=time.time(), state=State.STARTING,
        )  # fmt: skip
        watch = Watch(session, agents.get("scripted"), folder, {}, daemon.clock)
        daemon.supervisor.add(watch)
        daemon.looks.at(watch)
        paths.append(path)
    return paths


async def measure(root: Path, transcripts: int, rate: float, seconds: float) -> Figures:
    """Run all three side by side, and compare what they saw."""
    daemon = Daemon(root / "home", {"HOME": str(root), "BATON_HOME": str(root / "home")})
    paths = _sessions(daemon, root, transcripts)
    decided = Decided()
    considered = daemon.supervisor.consider

    def consider(watch: Watch) -> None:
        considered(watch)
        if watch.reading is not None and watch.conversation.transcript is not None:
            decided.note(watch.conversation.transcript, watch.reading.at)

    daemon.supervisor.consider = consider  # type: ignore[method-assign]
    daemon.looks.start()
    daemon.looks.follow()
    folders = sorted({str(path.parent) for path in paths})
    done = root / "done"
    with child("--floor", str(done), *folders) as reader:
        assert reader.stdout is not None
        await asyncio.to_thread(reader.stdout.readline)
        await asyncio.sleep(1.0)  # both watchers have set up their watches by then
        used, began = _cpu(), time.monotonic()
        with child("--writer", f"{rate}:{seconds}", *map(str, paths)) as writer:
            await asyncio.to_thread(writer.wait)
        await asyncio.sleep(_GRACE_SECONDS)
        cpu = 100 * (_cpu() - used) / (time.monotonic() - began)
        done.touch()
        bare = json.loads(await asyncio.to_thread(reader.stdout.readline))
    await daemon.looks.stop()
    daemon.store.close()
    appended = {path: _times(str(path), {})[1:] for path in paths}
    found, missed = decided.latencies(appended)
    return _figures(found, bare, missed, transcripts, cpu)


def _figures(found: list[float], bare: list[float], missed: int, transcripts: int, cpu: float) -> Figures:
    p99, floor_p99 = percentile(found, 99), percentile(bare, 99)  # what a session may have to wait, not what most do
    p50, floor_p50 = percentile(found, 50), percentile(bare, 50)
    return {
        "ratio": round(p99 / floor_p99, 3),
        "p99_ms": round(p99, 2),
        "floor_p99_ms": round(floor_p99, 2),
        "ratio_p50": round(p50 / floor_p50, 3),
        "p50_ms": round(p50, 2),
        "floor_p50_ms": round(floor_p50, 2),
        "transcripts": transcripts,
        "appends": len(found) + missed,
        "missed": missed,
        "cpu_percent": round(cpu, 1),
        "rss_mb": round(_resident() / 1e6, 1),
    }


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _resident() -> int:
    """Bytes of memory that this process holds now, or the most it held where that is not told."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def table(figures: Figures) -> Table:
    return [
        ["", "p99 ms", "p50 ms", "missed"],
        ["Baton: append to decision", f"{figures['p99_ms']}", f"{figures['p50_ms']}", f"{figures['missed']}"],
        ["bare reader: append to line", f"{figures['floor_p99_ms']}", f"{figures['floor_p50_ms']}", ""],
        ["ratio", f"{figures['ratio']}", f"{figures['ratio_p50']}", ""],
    ]


def main() -> int:
    options = parser(__doc__ or "")
    options.add_argument("--transcripts", type=int, default=500)
    options.add_argument("--rate", type=float, default=100.0, help="appends per second, over all transcripts")
    options.add_argument("--seconds", type=float, default=20.0)
    options.add_argument("--floor", metavar="FILE", help="for the benchmark itself: be the bare reader until FILE is")
    options.add_argument("--writer", metavar="RATE:SECONDS", help="for the benchmark itself: be the writer")
    options.add_argument("paths", nargs="*", type=Path)
    given = options.parse_args()
    if given.floor or given.writer:
        # A child that has told everything is ended; one that has nothing to end itself simply goes.
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if given.floor:
        print(json.dumps(asyncio.run(floor(given.paths, Path(given.floor)))), flush=True)
        return 0
    if given.writer:
        rate, _, seconds = given.writer.partition(":")
        write(given.paths, float(rate), float(seconds))
        return 0
    with tempfile.TemporaryDirectory(prefix="bl-", dir="/tmp") as name:
        figures = asyncio.run(measure(Path(name), given.transcripts, given.rate, given.seconds))
    return show(table(figures), figures, only_json=given.json)


if __name__ == "__main__":
    sys.exit(main())
