"""Kills the daemon again and again while sessions hand off, and counts what that breaks. Nothing may.

    .venv/bin/python bench/chaos.py [--kills N] [--sessions N] [--seed S] [--store sqlite|postgres] [--json] [--write]

Every daemon is told of some points of a cycle (before, in or after a step, or between two effects of one), chosen by
chance among those that were hit least so far, and ends, as by `kill -9`, at the first that it reaches; one that reaches
none is killed at a random moment. The daemon after the last one is left alone until every cycle has ended. Then the
agents' own transcripts, the sealed files and the store are compared.
"""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter

from _common import Figures, Table, parser, show
from _crew import Crew, crew
from _judge import Verdict, judge
from _pages import write_block
from _place import Failed

from batonpass.sim import chaos

MOMENT = "any moment"
_NOT_ALONE = 3  # the daemon's status when another one holds the house
_LONGEST = 6.0  # seconds after which a daemon is killed wherever it is
_TELL = 50  # kills after which it says how far it is
_AIMS = 5  # points that a daemon is told of
_VISITS = (1, 1, 1, 2, 3)  # at which visit of its point a daemon crashes: the first after a crash are the hardest
_CALM_SECONDS = 600.0  # longer than the deadlines of all steps of a cycle together would take in practice
# No process is started in a pass by clear.
_POINTS = tuple(point for point in chaos.POINTS if point != "pass:started")


def rampage(house: Crew, kills: int, chance: random.Random) -> Counter[str]:
    """Kill that many daemons; where each of them was."""
    where: Counter[str] = Counter()
    began = time.monotonic()
    while where.total() < kills:
        house.kill_daemon(stay_away=True)
        aims = sorted(_POINTS, key=lambda point: (where[point], chance.random()))[:_AIMS]
        process = house.launch(",".join(f"{point}*{chance.choice(_VISITS)}" for point in aims))
        if house.answers_or_ended(process):
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(chance.uniform(1.0, _LONGEST))
        killed = process.poll() is None
        if killed:
            os.kill(process.pid, signal.SIGKILL)
        elif process.returncode == _NOT_ALONE:
            continue  # a hook had started another one in the moment of the last death
        elif process.returncode != -signal.SIGKILL:
            raise Failed(f"the daemon ended by itself with status {process.returncode}: {house.story()[-2000:]}")
        process.wait()
        where[MOMENT if killed else (house.home / "run" / "chaos").read_text(encoding="utf-8")] += 1
        if where.total() % _TELL == 0:
            print(f"{where.total()} of {kills} kills, {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    return where


def run(kills: int, sessions: int, seed: int, store: str) -> tuple[Verdict, Counter[str], float]:
    """What came of it, where the daemons were killed, and how long it took."""
    chance, began = random.Random(seed), time.monotonic()
    with crew(store, "chaos") as house:
        house.settle(f"max_concurrent: {sessions}\n")
        house.start()
        for number in range(1, sessions + 1):
            house.enlist(f"s{number}", {})
        where = rampage(house, kills, chance)
        house.kill_daemon(stay_away=True)
        house.start()
        house.calm(_CALM_SECONDS)
        verdict = judge(house)
        if not verdict.good:
            house.keep = True
            print("\n".join([*verdict.problems, f"everything is kept in {house.folder}"]), file=sys.stderr)
    return verdict, where, time.monotonic() - began


def report(verdict: Verdict, where: Counter[str], figures: Figures) -> Table:
    """One row for every step, and what became of the cycles."""
    rows = [["killed", "times", "at"]]
    for step in (*chaos.STEPS, "keys"):
        found = {point: count for point, count in where.items() if point.startswith(f"{step}:")}
        points = ", ".join(f"{point.partition(':')[2]} {count}" for point, count in sorted(found.items()))
        rows.append([step, str(sum(found.values())), points])
    rows.append([MOMENT, str(where[MOMENT]), ""])
    ends = ", ".join(f"{count} {state}" for state, count in verdict.states.most_common())
    rows.append(["cycles", str(verdict.cycles), f"{ends}; {verdict.rescued} rescued"])
    names = ("lost", "typed_twice", "misdirected", "cleared_unsealed")
    return rows + [[name.replace("_", " "), str(figures[name]), ""] for name in names]


def main() -> int:
    options = parser(__doc__ or "")
    options.add_argument("--kills", type=int, default=100)
    options.add_argument("--sessions", type=int, default=6)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--store", choices=("sqlite", "postgres"), default="sqlite")
    options.add_argument("--write", action="store_true", help="put the table into docs/benchmarks.md")
    given = options.parse_args()
    verdict, where, seconds = run(given.kills, given.sessions, given.seed, given.store)
    figures: Figures = {
        "kills": where.total(),
        "cycles": verdict.cycles,
        "done": verdict.states["done"],
        "lost": verdict.lost,
        "typed_twice": verdict.typed_twice,
        "misdirected": verdict.misdirected,
        "cleared_unsealed": verdict.cleared_unsealed,
        "rescued": verdict.rescued,
        "unfinished": verdict.unfinished,
        "retries": verdict.retries,
        "seconds": round(seconds, 1),
        "sessions": given.sessions,
        "store": given.store,
        "seed": given.seed,
        "states": dict(verdict.states),
        "notes": dict(verdict.notes),
        "by_point": dict(sorted(where.items())),
        "problems": verdict.problems,
    }
    table = report(verdict, where, figures)
    if given.write:
        words = f"bench/chaos.py --kills {given.kills} --sessions {given.sessions} --store {given.store}"
        write_block(f"chaos-{given.store}", words, table, figures)
    show(table, figures, only_json=given.json)
    return 0 if verdict.good else 1


if __name__ == "__main__":
    sys.exit(main())
