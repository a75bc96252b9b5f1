"""What the user types into the scripted agent: the box, dialogs, Enter, Escape, Ctrl-C."""

import time
from collections import deque

from batonpass.sim.agent_faults import Faults
from batonpass.sim.agent_keys import Key, Keys
from batonpass.sim.agent_loop import Wait
from batonpass.sim.agent_screen import Screen
from batonpass.sim.agent_turn import Question

_TWICE = 0.8  # seconds within which a second Ctrl-C leaves
_ESCAPE = 0.05  # after this long an Escape is the key and not the beginning of a sequence


class Inbox(Wait):
    """Prompts and commands that wait for their turn, each with its origin."""

    def __init__(self) -> None:
        self.waiting: deque[tuple[str, str]] = deque()

    def over(self) -> bool:
        return bool(self.waiting)


class Input:
    """Turns keys into prompts, answers to a question, and the wishes to interrupt or to leave."""

    def __init__(self, screen: Screen, faults: Faults) -> None:
        self._screen = screen
        self._faults = faults
        self._keys = Keys()
        self._last_ctrl_c = -_TWICE
        self.inbox = Inbox()
        self.question: Question | None = None  # the dialog that is open: keys go there
        self.settle_at: float | None = None  # when to ask `settle`
        self.interrupt = False
        self.leave = False

    def heard(self, data: bytes) -> None:
        for key in self._keys.feed(data):
            self._press(key)
        self.settle_at = time.monotonic() + _ESCAPE if self._keys.undecided else None

    def settle(self) -> None:
        """Take a lone Escape for the key, once enough time has passed."""
        if self.settle_at is not None and time.monotonic() >= self.settle_at:
            self.settle_at = None
            for key in self._keys.settle():
                self._press(key)

    def _press(self, key: Key) -> None:
        if self.question is not None and not self.question.over():
            self._choose(self.question, key)
            return
        box = self._screen.box
        match key.name:
            case "text" | "paste":
                self._screen.box = box + key.text
            case "newline":
                self._screen.box = box + "\n"
            case "backspace":
                self._screen.box = box[:-1]
            case "ctrl-u":
                self._screen.box = box.rpartition("\n")[0]
            case "enter":
                self._submit()
            case "escape":
                self.interrupt = True
            case "ctrl-c":
                self._ctrl_c()

    def _choose(self, question: Question, key: Key) -> None:
        """Enter takes what is pointed at, Escape the last option. A paste is dropped, as in real agents."""
        last = len(question.options) - 1
        if key.name == "enter":
            question.chosen = question.pointer
        elif key.name == "escape":
            question.chosen = last
        elif key.name == "up":
            question.pointer = max(0, question.pointer - 1)
        elif key.name == "down":
            question.pointer = min(last, question.pointer + 1)
        elif key.name == "text" and key.text in [str(number + 1) for number in range(last + 1)]:
            question.chosen = int(key.text) - 1

    def _submit(self) -> None:
        text = self._screen.box.strip()
        self._faults.reload()
        if text and not self._faults.strike("drop_enter"):
            self._screen.box = ""
            self.inbox.waiting.append((text, "human"))

    def _ctrl_c(self) -> None:
        now = time.monotonic()
        if now - self._last_ctrl_c < _TWICE:
            self.leave = True
        elif self._screen.box:
            self._screen.box = ""
        else:
            self.interrupt = True
        self._last_ctrl_c = now
