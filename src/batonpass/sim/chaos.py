"""Trouble on demand, for rehearsals: the daemon crashes, fails to write or stands still at a named point of a cycle.

Only a daemon that is started with BATON_CHAOS in its environment loads this. Its value is a point
(`ask:offered`), a point with the number of the visit to crash at (`ask:offered*3`), or several with commas:
the first that is reached counts. The daemon then ends itself, as `kill -9` would; it happens once, and the daemon
that follows lives. With the name of an error (`seal:writing*2=ENOSPC`) it does not end, but meets that error at its
first so many visits. `-` is no point.

Whatever the value, a file `hold.STEP` in a session's folder keeps its cycle at the beginning of that step until the
file is gone; `held.STEP` tells that it stands there.
"""

import asyncio
import errno
import os
import signal
from collections.abc import Callable
from pathlib import Path

ENV = "BATON_CHAOS"
_LOOK_SECONDS = 0.02

STEPS = ("prepare", "safe_point", "ask", "await", "check", "seal", "pass", "prime", "verify", "close")
PHASES = ("before", "begun", "acted", "ended")
# Between two effects of one step: what was done must be found again, what was not must be done.
INSIDE = (
    "ask:written",  # the request is in the store and nowhere else
    "ask:offered",  # it lies ready for the hook, or is about to be typed
    "seal:planned",  # the final name is chosen
    "seal:writing",  # the document is about to be written
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
    """What the steps call at every point; ends this process, or raises OSError, at the one that was asked for."""
    wanted = dict(_parse(entry) for entry in spec.split(",") if entry)
    done = home / "run" / "chaos"
    visits: dict[str, int] = {}

    def visit(point: str) -> None:
        visits[point] = visits.get(point, 0) + 1
        number, error = wanted.get(point, (0, ""))
        if error and visits[point] <= number:
            code = getattr(errno, error)
            raise OSError(code, os.strerror(code))
        if not error and visits[point] == number and not done.exists():
            done.write_text(point, encoding="utf-8")
            os.kill(os.getpid(), signal.SIGKILL)

    return visit


async def hold(folder: Path, step: str) -> None:
    """Stand still at the beginning of a step for as long as a file in the session's folder asks for it."""
    wanted, held = folder / f"hold.{step}", folder / f"held.{step}"
    if wanted.exists():
        held.touch()
        while wanted.exists():  # noqa: ASYNC110  (the other process has no event of ours)
            await asyncio.sleep(_LOOK_SECONDS)
        held.unlink(missing_ok=True)


def _parse(entry: str) -> tuple[str, tuple[int, str]]:
    place, _, error = entry.partition("=")
    point, _, visit = place.partition("*")
    return point, (int(visit or 1), error)
