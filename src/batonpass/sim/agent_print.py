"""The scripted agent with no screen: one turn, and each line of its transcript on standard output as it is written.

Nobody can be asked, so a question is answered with no, which ends the turn.
"""

import os
import signal
import sys

from batonpass.sim.agent_faults import Faults
from batonpass.sim.agent_hooks import Hooks, Settings
from batonpass.sim.agent_loop import Loop, Work
from batonpass.sim.agent_options import Options
from batonpass.sim.agent_screen import Screen
from batonpass.sim.agent_talk import Conversation
from batonpass.sim.agent_tools import Shell
from batonpass.sim.agent_turn import Interrupted, Question, Turns
from batonpass.sim.brain import Brain

_NO_KEYBOARD = -1
_ENDED_BY_SIGNAL = 128


class _Unseen(Screen):
    """A screen that nobody looks at."""

    def measure(self) -> None:
        self._width, self._height = 80, 24

    def _write(self, text: str) -> None:
        return


class _Leave(Exception):
    """A signal came; `number` is which."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def run(options: Options, settings: Settings, brain: Brain, talk: Conversation) -> int:
    """Take the turn; the prompt comes from the command line, or else from standard input. The exit status."""
    prompt = options.prompt or sys.stdin.read()
    talk.record.echo = sys.stdout.fileno()
    source = "resume" if options.resume else "startup"
    faults, loop, shells = Faults(options.faults), Loop(_NO_KEYBOARD, lambda keys: None, _leave), list[Shell]()

    def start_shell(shell: Shell) -> None:
        shells.append(shell)
        loop.watched.append(shell.child)

    hooks = Hooks(settings, faults, lambda: {"session": talk.session, "transcript": talk.record.path})
    turns = Turns(options, settings, _Unseen(-1), hooks, faults, brain, talk, lambda: None, start_shell)
    talk.record.add("session", session=talk.session, source=source, cwd=os.getcwd(), model=options.model)
    try:
        _drive(turns.started(source), loop)
        _drive(turns.take(prompt, "human"), loop)
    except _Leave as left:
        return _ENDED_BY_SIGNAL + left.number
    finally:
        for shell in shells:
            shell.child.kill()
    return 0 if talk.record.last == "turn_ended" else 1


def _leave(number: int) -> None:
    if number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        raise _Leave(number)


def _drive(work: Work[None], loop: Loop) -> None:
    """Move the work on to its end."""
    try:
        wait = next(work)
        while True:
            if isinstance(wait, Question) and not wait.over():
                wait = work.throw(Interrupted())
            elif wait.over():
                wait = next(work)
            else:
                loop.step(wait, None, keys=False)
    except StopIteration:
        return
