"""Many sessions hand off for a long time while all goes wrong that can: is anything lost, does anything grow?

    .venv/bin/python bench/soak.py [--minutes M] [--sessions N] [--seed S] [--json] [--write]

Agents in real tmux hang, die, ask, fail, ignore and write rubbish; a person types, leaves text unsent, scrolls and
closes the laptop, or clears, resumes, kills and deletes in the middle of a handoff. In the first third the daemon is
killed now and then, and finds the disk full; after that one daemon is left alone, so that its memory, file descriptors
and processes can be held against each other. `--write` puts table and plot into docs/.
"""

import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice, pairwise

from _common import ROOT, Figures, Table, parser, show
from _crew import NOTE, Crew, crew
from _judge import Verdict, judge
from _pages import write_block
from _plot import Panel, svg
from _samples import Sample, flat, growth, last_life, look
from _trouble import CHARACTERS, TIMEOUTS, Trouble, character

from batonpass.cycle.moves import CANNOT_WRITE

PICTURE = ROOT / "docs" / "pictures" / "soak.svg"
_SAMPLE_SECONDS = 5.0
_CALM_SECONDS = 600.0
_AWAY_SECONDS = 15.0  # by then a hook has started the daemon again, or nobody called one
_JUDGED_MINUTES = 10.0  # growth in a shorter run is noise
_KILLING = 1 / 3  # of the run
_KILL_SECONDS = (5.0, 45.0)  # between two kills
_FULL_DISKS = 1 / 2  # of the daemons that follow a kill: they find the disk full at their first seal or two
_EVERY = 4  # one session in so many has a bad character


@dataclass(slots=True)
class Soak:
    """What came of a run."""

    samples: list[Sample] = field(default_factory=list)
    kills: int = 0
    verdict: Verdict = field(default_factory=Verdict)
    faults: dict[str, int] = field(default_factory=dict)
    person: dict[str, int] = field(default_factory=dict)


def pace_of(sessions: int, seconds: float) -> float:
    """Seconds between two handoffs of one session: some minutes, less in a short run, more the more there are."""
    return max(6.0, min(180.0, 3.6 * sessions, seconds / 4))


def soak(seconds: float, sessions: int, seed: int) -> Soak:
    """Run for so long, let everything come to rest, and judge."""
    chance, result, pace = random.Random(seed), Soak(), pace_of(sessions, seconds)
    with crew("sqlite", "soak") as house:
        house.settle(f"max_concurrent: 4\n{TIMEOUTS}")
        house.start()
        bad = {f"s{1 + index * _EVERY}": kind for index, kind in enumerate(islice(cycle(CHARACTERS), sessions))}
        for number in range(1, sessions + 1):
            _enlist(house, f"s{number}", bad.get(f"s{number}"), chance, pace)
        trouble = Trouble(house, chance, pace)
        _go_on(house, trouble, result, seconds, chance)
        trouble.end()
        house.calm(_CALM_SECONDS, trouble.attend)
        result.verdict = judge(house)
        result.faults, result.person = dict(trouble.struck), dict(trouble.done)
        _count_characters(house, bad, result)
        if not result.verdict.good:
            house.keep = True
            print("\n".join([*result.verdict.problems, f"everything is kept in {house.folder}"]), file=sys.stderr)
    return result


def _enlist(house: Crew, name: str, bad: str | None, chance: random.Random, pace: float) -> None:
    pause = pace / 4 * chance.uniform(0.7, 1.3)
    brain: dict[str, object] = {"command": f"{NOTE}; exec sleep {pause:.1f}"}
    if bad is not None:
        brain |= character(bad, chance)
    house.enlist(name, brain)


def _go_on(house: Crew, trouble: Trouble, result: Soak, seconds: float, chance: random.Random) -> None:
    began = time.monotonic()
    sampled, alive = -_SAMPLE_SECONDS, began
    kill_at = chance.uniform(0.2, 0.8) * _KILLING * seconds  # at least one, however short the run
    while (now := time.monotonic() - began) < seconds:
        trouble.tick()
        pid = house.daemon_pid()
        if pid is not None:
            alive = time.monotonic()
        elif time.monotonic() - alive > _AWAY_SECONDS:
            house.launch()
            alive = time.monotonic()
        if pid is not None and now - sampled >= _SAMPLE_SECONDS:
            sampled = now
            if sample := look(now, pid, house.home, _cycles(house)):
                result.samples.append(sample)
        if kill_at < now < _KILLING * seconds:
            kill_at = now + chance.uniform(*_KILL_SECONDS)
            house.kill_daemon()
            result.kills += 1
            if chance.random() < _FULL_DISKS:
                house.launch(f"seal:writing*{chance.randint(1, 2)}=ENOSPC")  # else a hook starts it again


def _cycles(house: Crew) -> int:
    with house.store() as store:
        return len(store.cycles(limit=1_000_000))


def _count_characters(house: Crew, bad: dict[str, str], result: Soak) -> None:
    """Every handoff of a bad character is one fault of its kind; what a daemon met itself is in its steps."""
    with house.store() as store:
        steps = [step for cycle in store.cycles(limit=1_000_000) for step in store.steps(cycle.id)]
        result.faults["disk_full_at_seal"] = sum(step.state == CANNOT_WRITE for step in steps)
        for session in house.members:
            if kind := bad.get(session.name):
                count = len(store.cycles(session=session.id, limit=1_000_000))
                result.faults[kind] = result.faults.get(kind, 0) + count


def figures_of(result: Soak, sessions: int, minutes: float, seed: int) -> Figures:
    verdict, life = result.verdict, last_life(result.samples)
    rss = [sample.rss_mb for sample in life] or [0.0]
    span = life[-1].at - life[0].at if len(life) > 1 else 0.0
    is_flat = {
        "fds": flat(life, "fds", least=4),
        "threads": flat(life, "threads", least=4),
        "children": flat(life, "children", least=3),
        "processes": flat(life, "processes", least=6),
        "rss_mb": flat(life, "rss_mb", least=15),
    }
    return {
        "minutes": minutes, "sessions": sessions, "seed": seed,
        "cycles": verdict.cycles, "done": verdict.states["done"], "states": dict(verdict.states),
        "notes": dict(verdict.notes),
        "retries": verdict.retries, "rescued": verdict.rescued, "lost": verdict.lost,
        "typed_twice": verdict.typed_twice, "misdirected": verdict.misdirected,
        "cleared_unsealed": verdict.cleared_unsealed,
        "unfinished": verdict.unfinished, "daemon_kills": result.kills, "faults": dict(sorted(result.faults.items())),
        "person": dict(sorted(result.person.items())), "samples": len(result.samples),
        "rss_mb": {"first": round(rss[0], 1), "last": round(rss[-1], 1), "peak": round(max(rss), 1)},
        "cpu_percent": round(100 * (life[-1].cpu - life[0].cpu) / span, 1) if span else None,
        "fds": [min(s.fds for s in life), max(s.fds for s in life)] if life else None,
        "threads": [min(s.threads for s in life), max(s.threads for s in life)] if life else None,
        "children": [min(s.children for s in life), max(s.children for s in life)] if life else None,
        "processes": [min(s.processes for s in life), max(s.processes for s in life)] if life else None,
        "growth": {name: round(growth(life, name), 2) for name in is_flat}, "flat": is_flat,
        "problems": verdict.problems,
    }  # fmt: skip


def report(figures: Figures) -> Table:
    def counted(found: dict[str, int]) -> str:
        return ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in found.items()) or "none"

    def span(name: str) -> str:
        lowest, highest = figures[name] or (0, 0)
        return f"{lowest} to {highest}, {'flat' if figures['flat'][name] else 'GROWING'}"

    rss, steady = figures["rss_mb"], "flat" if figures["flat"]["rss_mb"] else "GROWING"
    return [
        ["what", "how many", "which"],
        ["cycles", str(figures["cycles"]), counted(figures["states"])],
        ["faults", str(sum(figures["faults"].values())), counted(figures["faults"])],
        ["by a person", str(sum(figures["person"].values())), counted(figures["person"])],
        ["daemon killed", str(figures["daemon_kills"]), ""],
        ["retries", str(figures["retries"]), "of single steps"],
        ["rescues", str(figures["rescued"]), "ended well by a retry, from facts alone or in a new process"],
        ["losses", str(figures["lost"]), ""],
        ["typed twice", str(figures["typed_twice"]), ""],
        ["misdirected", str(figures["misdirected"]), "typed into another conversation than was meant"],
        ["cleared unsealed", str(figures["cleared_unsealed"]), ""],
        ["memory, MB", f"{rss['last']:.0f}", f"first {rss['first']:.0f}, peak {rss['peak']:.0f}, {steady}"],
        ["CPU", f"{figures['cpu_percent'] or 0:.0f} %", "of one core, the daemon"],
        ["descriptors", span("fds"), "of the daemon"],
        ["threads", span("threads"), "of the daemon"],
        ["processes", span("processes"), "daemon, agents, hooks, commands"],
    ]


def picture(samples: Sequence[Sample], title: str) -> str:
    """The daemon over time; a gap is a daemon that was killed."""

    def curve(name: str) -> list[float | None]:
        return [getattr(sample, name) if same else None for sample, same in zip(samples, same_life, strict=True)]

    same_life = [index == 0 or samples[index - 1].pid == sample.pid for index, sample in enumerate(samples)]
    pairs = pairwise(samples)
    cpu: list[float | None] = [None] * bool(samples)
    cpu += [100 * (b.cpu - a.cpu) / (b.at - a.at) if a.pid == b.pid else None for a, b in pairs]
    return svg(title, [sample.at / 60 for sample in samples], [
        Panel("Memory of the daemon, MB", {"resident": curve("rss_mb")}),
        Panel("Processor time of the daemon, % of one core", {"CPU": cpu}),
        Panel("What the daemon holds", {"descriptors": curve("fds"), "threads": curve("threads")}),
        Panel("Processes of the whole house", {"processes": [sample.processes for sample in samples]}),
        Panel("Handoffs so far", {"cycles": [sample.cycles for sample in samples]}),
    ])  # fmt: skip


def main() -> int:
    options = parser(__doc__ or "")
    options.add_argument("--minutes", type=float, default=2.0)
    options.add_argument("--sessions", type=int, default=50)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--write", action="store_true", help="put table and plot into docs/")
    given = options.parse_args()
    result = soak(60 * given.minutes, given.sessions, given.seed)
    figures = figures_of(result, given.sessions, given.minutes, given.seed)
    table = report(figures)
    if given.write:
        title = f"{given.sessions} sessions for {given.minutes:g} minutes, with faults"
        PICTURE.write_text(picture(result.samples, title), encoding="utf-8")
        words = f"bench/soak.py --minutes {given.minutes:g} --sessions {given.sessions}"
        write_block("soak", words, table, figures, f"pictures/{PICTURE.name}")
    show(table, figures, only_json=given.json)
    grows = given.minutes >= _JUDGED_MINUTES and not all(figures["flat"].values())
    return 0 if result.verdict.good and not grows else 1


if __name__ == "__main__":
    sys.exit(main())
