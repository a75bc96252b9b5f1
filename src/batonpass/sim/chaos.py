"""Crashes on demand: the daemon ends itself, as `kill -9` would, when it reaches a named point of a cycle.

Only a daemon that is started with BATON_CHAOS in its environment loads this. Its value is a point
(`ask:offered`), a point with the number of the visit to crash at (`ask:offered*3`), or several with commas:
the first that is reached counts. It happens once: the daemon that follows lives.
"""

import os
import signal
from collections.abc import Callable
from pathlib import Path

ENV = "BATON_CHAOS"

STEPS = ("prepare", "safe_point", "ask", "await", "check", "seal", "pass", "prime", "verify", "close")
PHASES = ("before", "begun", "acted", "ended")
# Between two effects of one step: what was done must be found again, what was not must be done.
INSIDE = (
    "ask:written",  # the request is in the store and nowhere else
    "ask:offered",  # it lies ready for the hook, or is about to be typed
    "seal:planned",  # the final name is chosen
    "seal:stored",  # the document is on disk and not in the store
    "pass:primed",  # the handoff lies ready for the successor
    "pass:typing",  # /clear is about to be typed
    "pass:started",  # a new process was started
    "keys:pasted",  # text stands in the box
    "keys:entered",  # and was sent
    "close:counted",  # the chain is counted, the cycle is not closed
)
POINTS = tuple(f"{step}:{phase}" for step in STEPS for phase in PHASES) + INSIDE


def probe(spec: str, home: Path) -> Callable[[str], None]:
    """What the steps call at every point; ends this process at the one that was asked for."""
    wanted = dict(_parse(entry) for entry in spec.split(",") if entry)
    done = home / "run" / "chaos"
    visits: dict[str, int] = {}

    def visit(point: str) -> None:
        visits[point] = visits.get(point, 0) + 1
        if visits[point] == wanted.get(point) and not done.exists():
            done.write_text(point, encoding="utf-8")
            os.kill(os.getpid(), signal.SIGKILL)

    return visit


def _parse(entry: str) -> tuple[str, int]:
    point, _, visit = entry.partition("*")
    return point, int(visit or 1)
