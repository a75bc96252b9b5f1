"""`baton demo`: a whole handoff, live, in a place of its own, checked at the end."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from rich.console import Console
from rich.text import Text

from batonpass.cli.client import Refused
from batonpass.sim.demo_end import closing
from batonpass.sim.demo_play import WORK, Play
from batonpass.sim.demo_proof import Proof, gather, proofs
from batonpass.sim.demo_show import show_on
from batonpass.sim.demo_stage import CannotPlay, Stage, stage

AGENTS = ("scripted", "claude")


class _Ended(BaseException):
    """Somebody wants the demo to end."""


def run(agent: str = "scripted", *, keep: bool = False) -> int:
    """Perform it in the caller's terminal; 0 when everything that it claims was seen to be so.

    Whatever happens, no process stays, and without `keep` no file does.
    """
    console = Console(highlight=False)
    if agent not in AGENTS:
        return _complain(console, f"There is no demo with '{agent}'; there is one with {' and with '.join(AGENTS)}.", 2)
    try:
        with _interruptible(), stage(agent, WORK, keep=keep) as place, _deaf_at_the_end():
            ok = _perform(place, console)
            kept = f"Kept: project, state and logs are in {place.root}." if keep else ""
    except (CannotPlay, Refused) as problem:
        return _complain(console, str(problem), 1)
    except _Ended:
        return _complain(console, "The demo was stopped; everything that it had started has ended.", 130)
    console.print(Text(kept or "All of this was private and is gone again. Yours: baton run claude", "bold"))
    return 0 if ok else 1


def _perform(place: Stage, console: Console) -> bool:
    with show_on(console) as (show, width, height):
        play = Play(place, _named(place.agent), show)
        play.perform(width=width, height=height)
    found = _check(play, place)
    console.print(closing(play.scene, found, console.width))
    console.print()
    return all(proof.ok for proof in found)


def _check(play: Play, place: Stage) -> tuple[Proof, ...]:
    cycle = play.scene.cycle
    assert cycle is not None
    old = play.transcripts.get(str(cycle.get("old_agent_session")))
    new = play.transcripts.get(str(cycle.get("new_agent_session")))
    if not cycle["document"] or old is None or new is None:
        return (Proof("the baton was passed", False, f"cycle {cycle['id']} is {cycle['state']}: {cycle['note']}"),)
    return proofs(gather(cycle, place.agent, Path(old), Path(new), place.model))


def _named(agent: str) -> str:
    if agent == "scripted":
        return "the scripted agent"
    words = subprocess.run(
        [os.environ["BATON_CLAUDE"], "--version"], capture_output=True, encoding="utf-8", timeout=30, check=False
    )
    return f"Claude Code {words.stdout.split(' ')[0].strip()}, on a scripted model"


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Make every signal that asks for an end unwind the stack, so that everything is cleared away."""

    def end(number: int, frame: FrameType | None) -> None:
        raise _Ended

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, end) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _deaf_at_the_end() -> Iterator[None]:
    """From here on clearing away is not disturbed by an impatient second Ctrl-C."""
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)


def _complain(console: Console, sentence: str, code: int) -> int:
    console.print(Text(sentence, "bold red" if code != 130 else "bold"))
    return code
