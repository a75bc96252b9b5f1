"""The scripted agent: a small coding-agent CLI to rehearse with.

    python -m batonpass.sim.agent [--settings FILE] [--session-id ID] [--resume ID] [--model M] [--home DIR]
        [--permission-mode MODE] [--brain SPEC] [--faults FILE] [--window N] [--no-compact] [--print] [-- PROMPT]

It has what Baton meets in real agents: an input box, dialogs, hooks, a status line, a transcript, a state
file, slash commands, its own compaction. What it thinks is a Brain; how it misbehaves is a list of faults.
"""

import os
import signal
import sys
import termios
import time
import tty
from collections.abc import Mapping, Sequence
from contextlib import suppress

from batonpass.sim import agent_faults, agent_options, agent_print, agent_screen
from batonpass.sim.agent_brain import load
from batonpass.sim.agent_faults import Faults
from batonpass.sim.agent_hooks import Hooks, Settings
from batonpass.sim.agent_input import Input
from batonpass.sim.agent_loop import Loop, Pause, Wait, Work
from batonpass.sim.agent_options import Options
from batonpass.sim.agent_record import StateFile
from batonpass.sim.agent_screen import Screen
from batonpass.sim.agent_statusline import StatusLine
from batonpass.sim.agent_talk import Conversation
from batonpass.sim.agent_tools import Shell
from batonpass.sim.agent_turn import Interrupted, Question, Turns, die_if
from batonpass.sim.brain import Brain

_SPIN = 0.25
_FAREWELL = 2.0  # for the last hooks
_HANDING_OFF = "Baton has been asked for a handoff; it will ask for the document now."


class Leave(Exception):
    """The user is done."""


class Agent:
    """One run of the program, from the first row on the screen to the last hook."""

    def __init__(self, options: Options, settings: Settings, brain: Brain, talk: Conversation) -> None:
        self.options = options
        self.faults = Faults(options.faults)
        self.screen = Screen(sys.stdout.fileno())
        self.state = StateFile(options.home)
        self.input = Input(self.screen, self.faults)
        self.inbox = self.input.inbox
        self.loop = Loop(sys.stdin.fileno(), self._heard, self._signalled)
        self.line = StatusLine(settings.statusline, self.loop, self.screen)
        hooks = Hooks(settings, self.faults, self._common)
        self.turns = Turns(
            options,
            settings,
            self.screen,
            hooks,
            self.faults,
            brain,
            talk,
            self._show_usage,
            self._start_shell,
        )
        self._wait: Wait = Pause(0)
        self._leaving: tuple[str, int] | None = None  # why, and the exit status

    def run(self) -> int:
        """Live until the user leaves or a signal comes; the exit status."""
        self.screen.begin()
        why, status = self._live()
        self._farewell(why)
        self.screen.end()
        self.state.remove()
        return status

    def _live(self) -> tuple[str, int]:
        life = self._life()
        try:
            self._wait = next(life)
            while self._leaving is None:
                while self._wait.over():
                    self._wait = next(life)
                self._publish()
                self.loop.step(self._wait, self._next_look())
                self._look()
                if self.input.interrupt:
                    self.input.interrupt = False
                    if self.screen.busy is not None:
                        self._wait = life.throw(Interrupted())
        except Leave:
            return "prompt_input_exit", 0
        finally:
            life.close()
        return self._leaving

    def _life(self) -> Work[None]:
        yield from self._start()
        while True:
            if not self.inbox.waiting:
                yield self.inbox
            text, origin = self.inbox.waiting.popleft()
            self.screen.busy = "Working"
            self._publish()
            with suppress(Interrupted):  # outside a turn there is nothing to undo
                yield from self._handle(text, origin)
            self.screen.busy = None
            self.screen.draw()

    def _start(self) -> Work[None]:
        if fault := self.faults.strike("slow_start"):
            yield Pause(agent_faults.seconds(fault))
        die_if(self.faults, "start")
        title = f"{agent_screen.ORANGE}✻{agent_screen.RESET} "
        self.screen.say(f"Scripted agent · {self.options.model} · {os.getcwd()}", mark=title)
        if self.faults.problem:
            self.screen.say(self.faults.problem, colour=agent_screen.RED)
        if self.faults.strike("dialog", at="start"):
            question = Question("Do you want to trust the files in this folder?", "dialog open")
            yield question
            if question.chosen:
                raise Leave
        self._open(self.turns.talk, "resume" if self.options.resume else "startup")
        yield from self.turns.started("resume" if self.options.resume else "startup")
        if self.options.prompt:
            self.inbox.waiting.append((self.options.prompt, "human"))
        self.screen.draw()

    def _open(self, talk: Conversation, source: str, command: str = "") -> None:
        """Make a conversation the one in front; `command` is what was typed for it, word for word."""
        self.turns.talk = talk
        about = {"cwd": os.getcwd(), "model": self.options.model, "command": command}
        talk.record.add("session", session=talk.session, source=source, **about)
        self._publish()
        self._show_usage()

    def _handle(self, text: str, origin: str) -> Work[None]:
        word, _, rest = text.partition(" ")
        if origin != "human" or not word.startswith("/") or "/" in word[1:]:
            yield from self.turns.take(text, origin)
        elif word == "/exit":
            raise Leave
        elif word == "/clear":
            yield from self._clear(text)
        elif word == "/compact":
            yield from self.turns.compact("manual")
            self._show_usage()
        elif word == "/resume":
            yield from self._resume(rest.strip(), text)
        elif word == "/handoff":
            yield from self.turns.take(text, origin, fixed=_HANDING_OFF)
        else:
            self.screen.say(f"Unknown command: {word}", mark="  ⎿  ", colour=agent_screen.RED)

    def _clear(self, command: str) -> Work[None]:
        self.faults.reload()
        if self.faults.strike("ignore_clear"):
            return
        yield from self._exchange(Conversation(self.options.home), "clear", command)
        for shell in self.turns.background:
            if shell.until_clear:
                shell.child.hang_up()

    def _resume(self, session: str, command: str) -> Work[None]:
        try:
            talk = Conversation.resumed(self.options.home, session)
        except OSError:
            self.screen.say(f"No conversation found with session ID: {session}", colour=agent_screen.RED)
            return
        yield from self._exchange(talk, "resume", command)

    def _exchange(self, talk: Conversation, source: str, command: str) -> Work[None]:
        yield from self.turns.hooks.run("session_end", reason=source)
        die_if(self.faults, "clear")
        self.turns.talk.record.close()
        self._open(talk, source, command)
        self.screen.say(f"Conversation {talk.session} ({source})", mark="✻ ", colour=agent_screen.GREY)
        yield from self.turns.started(source)

    def _farewell(self, why: str) -> None:
        """The last hooks, within a bound; background shells end with the agent."""
        work, until = self.turns.hooks.run("session_end", reason=why), time.monotonic() + _FAREWELL
        try:
            wait = next(work)
            while time.monotonic() < until:
                while wait.over():
                    wait = next(work)
                self.loop.step(wait, until, keys=False)
        except StopIteration:
            pass
        work.close()
        for shell in self.turns.background:
            shell.child.kill()

    def _heard(self, data: bytes) -> None:
        if data:
            self.input.heard(data)
        else:
            self._leaving = self._leaving or ("other", 129)

    def _signalled(self, number: int) -> None:
        if number == signal.SIGWINCH:
            self.screen.resized()
        elif number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            self._leaving = ("other", 0 if number == signal.SIGINT else 128 + number)

    def _next_look(self) -> float | None:
        spinning = self.screen.busy is not None and self.screen.dialog is None
        spin = time.monotonic() + _SPIN if spinning else None
        return min((due for due in (spin, self.input.settle_at) if due is not None), default=None)

    def _look(self) -> None:
        """After every wake: an Escape that was a key, a status line that came, a shell that ended."""
        self.input.settle()
        if self.input.leave:
            self._leaving = ("prompt_input_exit", 0)
        self.line.look()
        for shell in [shell for shell in self.turns.background if shell.child.ended]:
            self.turns.background.remove(shell)
            self.loop.watched.remove(shell.child)
            self.inbox.waiting.append((shell.notice(), "system"))
        self.screen.spin()

    def _publish(self) -> None:
        """Say on disk and on the screen what the agent is doing."""
        wait = self._wait
        question = wait if isinstance(wait, Question) and not wait.over() else None
        idle = wait is self.inbox and self.screen.busy is None
        status = "waiting" if question else "busy" if not idle else "shell" if self.turns.background else "idle"
        self.input.question = question
        self.screen.dialog = (question.text, question.options, question.pointer) if question else None
        self.screen.queued = [text for text, _ in self.inbox.waiting]
        self.state.put(self.turns.talk.session, status, question.about if question else None)
        self.screen.draw()

    def _common(self) -> Mapping[str, object]:
        """What every hook is told."""
        return {
            "session": self.turns.talk.session,
            "transcript": self.turns.talk.record.path,
            "cwd": os.getcwd(),
            "pid": os.getpid(),
            "model": self.options.model,
            "permission_mode": self.options.permission_mode,
        }

    def _show_usage(self) -> None:
        talk = self.turns.talk
        self.line.show(talk.session, talk.used, self.options.window, self.options.model, talk.record.path)

    def _start_shell(self, shell: Shell) -> None:
        self.turns.background.append(shell)
        self.loop.watched.append(shell.child)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program in this terminal; the exit status."""
    options = agent_options.parse(sys.argv[1:] if argv is None else argv, os.environ)
    if not options.printing and not (sys.stdin.isatty() and sys.stdout.isatty()):
        print(
            "The scripted agent needs a terminal, or --print; start it in one, or with: baton run scripted",
            file=sys.stderr,
        )
        return 2
    try:
        settings = Settings(options.settings)
        brain = load(options.brain, os.environ)
        talk = _conversation(options)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    if options.printing:
        return agent_print.run(options, settings, brain, talk)
    keyboard = sys.stdin.fileno()
    before = termios.tcgetattr(keyboard)
    tty.setraw(keyboard)
    try:
        return Agent(options, settings, brain, talk).run()
    finally:
        with suppress(termios.error):  # the terminal may be gone
            termios.tcsetattr(keyboard, termios.TCSADRAIN, before)


def _conversation(options: Options) -> Conversation:
    if options.resume is None:
        return Conversation(options.home, options.session_id)
    try:
        return Conversation.resumed(options.home, options.resume)
    except FileNotFoundError:
        raise ValueError(f"No conversation found with session ID: {options.resume}") from None


if __name__ == "__main__":
    sys.exit(main())
