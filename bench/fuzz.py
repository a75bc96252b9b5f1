"""Feeds garbage to everything that reads what others write, and counts what breaks.

    .venv/bin/python bench/fuzz.py [--minutes M | --examples N] [--seed S] [--only WORD] [--json]

`failures` is the number of targets whose promise was broken; each is shown with the smallest input that does it.
"""

import logging
import resource
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from _common import Figures, parser, show

# isort: split
import _fuzz_daemon
import _fuzz_documents
import _fuzz_others
import _fuzz_records
from _fuzz_values import Target
from hypothesis import HealthCheck, Phase, given, seed, settings

_ROUND = 50  # examples of one target before the next has its turn
_CPU_SECONDS = 20.0  # no single input may cost more
TARGETS = (*_fuzz_records.TARGETS, *_fuzz_others.TARGETS, *_fuzz_documents.TARGETS, *_fuzz_daemon.TARGETS)


class TooSlow(Exception):
    """One input took so long that somebody could stop Baton with it."""


@contextmanager
def _bounded() -> Iterator[None]:
    """Processor time, not the clock's: a busy machine is no fault."""

    def over(number: int, frame: FrameType | None) -> None:
        raise TooSlow(f"one input took more than {_CPU_SECONDS:g} s of processor time")

    before = signal.signal(signal.SIGPROF, over)
    signal.setitimer(signal.ITIMER_PROF, _CPU_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def attack(target: Target, examples: int, number: int) -> tuple[int, str | None]:
    """How many examples were tried, and the story of the smallest that broke the promise, if one did."""
    tried = 0

    @seed(number)
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
        print_blob=False,
    )
    @given(target.food)
    def check(food: object) -> None:
        nonlocal tried
        tried += 1
        with _bounded():
            try:
                target.check(food)
            except Exception as fault:
                fault.add_note(f"fed: {food!r:.2000}")
                raise

    try:
        check()
    except Exception:
        return tried, "".join(traceback.format_exception(*sys.exc_info())[-12:])
    return tried, None


def fuzz(examples: int, seconds: float | None, first: int, only: str = "") -> tuple[dict[str, int], dict[str, str]]:
    """Attack every target in turn: so many examples of each, or for so long. What broke is not attacked again."""
    chosen = [target for target in TARGETS if only in target.name]
    counts = {target.name: 0 for target in chosen}
    stories: dict[str, str] = {}
    until = None if seconds is None else time.monotonic() + seconds
    turn = 0
    while True:
        for target in chosen:
            left = _ROUND if until else min(_ROUND, examples - counts[target.name])
            if target.name in stories or left <= 0 or (until and time.monotonic() > until):
                continue
            tried, story = attack(target, left, first + turn)
            counts[target.name] += max(tried, left if until is None else tried)
            if story:
                stories[target.name] = story
        turn += 1
        if until is not None and time.monotonic() > until:
            break
        if until is None and all(name in stories or count >= examples for name, count in counts.items()):
            break
    return counts, stories


def main() -> int:
    options = parser(__doc__ or "")
    amount = options.add_mutually_exclusive_group()
    amount.add_argument("--minutes", type=float, help="go on for so long")
    amount.add_argument("--examples", type=int, default=200, help="of every target (default: 200)")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--only", default="", help="targets whose name holds this")
    chosen = options.parse_args()
    logging.getLogger("batonpass").setLevel(logging.CRITICAL)
    began = time.monotonic()
    counts, stories = fuzz(chosen.examples, chosen.minutes and 60 * chosen.minutes, chosen.seed, chosen.only)
    for name, story in stories.items():
        print(f"--- {name}\n{story}", file=sys.stderr)
    figures: Figures = {
        "examples": sum(counts.values()),
        "targets": counts,
        "failures": len(stories),
        "failed": sorted(stories),
        "seconds": round(time.monotonic() - began, 1),
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }
    table = [["target", "examples", "broken"]]
    table += [[name, f"{count:,}", "YES" if name in stories else "no"] for name, count in counts.items()]
    show(table, figures, only_json=chosen.json)
    return 1 if stories else 0


if __name__ == "__main__":
    sys.exit(main())
