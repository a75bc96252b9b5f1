"""The rows under the input box: the agent's own, and what the status line command prints."""

import json
import time
from collections.abc import Sequence

from batonpass.sim.agent_loop import Child, Loop
from batonpass.sim.agent_screen import DIM, Screen

_TIMEOUT = 5.0


class StatusLine:
    """Runs the status line command after each response, one at a time; the newest figures are told last."""

    def __init__(self, argv: Sequence[str] | None, loop: Loop, screen: Screen) -> None:
        self._argv = argv
        self._loop = loop
        self._screen = screen
        self._child: Child | None = None
        self._since = 0.0
        self._next: str | None = None
        self._own = ""
        self._printed: list[str] = []

    def show(self, session: str, used: int | None, window: int, model: str, transcript: str) -> None:
        """Show these figures and tell them to the command; `used` is None until a response has told."""
        figure = f"{used / 1000:.1f}k tokens ({100 * used / window:.0f}%)" if used is not None else "unknown"
        self._own = f"{DIM}{model} · context: {figure}"
        self._screen.status = [*self._printed, self._own]
        if self._argv:
            payload = {
                "session": session,
                "used": used,
                "window": window,
                "model": model,
                "transcript": transcript,
            }
            self._next = json.dumps(payload)
            self.look()

    def look(self) -> None:
        """Take what the command has printed, and run it again when there is news."""
        if self._child is not None:
            if not self._child.ended and time.monotonic() - self._since > _TIMEOUT:
                self._child.kill()
            if not self._child.ended:
                return
            self._loop.watched.remove(self._child)
            self._printed = [line for line in self._child.output.splitlines()[:2] if line.strip()]
            self._screen.status = [*self._printed, self._own]
            self._screen.draw()
            self._child = None
        if self._next is not None and self._argv:
            payload, self._next = self._next, None
            try:
                self._child = Child(self._argv, stdin=payload)
            except OSError:
                return
            self._since = time.monotonic()
            self._loop.watched.append(self._child)
