"""What the agent's tools did: files written, commands run, the last test."""

import os
import re
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from batonpass.facts.errors import Errors
from batonpass.facts.model import Command
from batonpass.facts.reverted import EVERYTHING, reverted_by
from batonpass.facts.testruns import TestRuns
from batonpass.transcripts import vocabulary
from batonpass.transcripts.events import Event, ToolCalled, ToolReturned

_LAST_COMMANDS = 15
_TAIL_LINES = 12
_TAIL_CHARS = 1_200

_TEST = re.compile(
    r"(?:^|[\s;&|/])(?:pytest|tox|nox|jest|vitest|mocha|rspec|phpunit|ctest|unittest"
    r"|(?:npm|pnpm|yarn|bun|cargo|go|make|mvn|gradle|gradlew|dotnet|mix|deno|swift|rake) (?:run )?test\w*"
    r"|scripts/test\S*)(?=$|[\s;&|:])"
)


class Tools:
    """Sees events one by one; holds the files touched, the last commands and what of them failed."""

    def __init__(self, project: Path, is_own: Callable[[str], bool]) -> None:
        self._project = project
        self._is_own = is_own
        self._touched: dict[str, None] = {}
        self._writing: dict[str, list[str]] = {}
        self._commands: dict[str, Command] = {}
        self._order: deque[str] = deque()
        self._reverted: dict[str, None] = {}
        self.last_test: Command | None = None
        self.errors = Errors()
        self.tests = TestRuns()

    def see(self, event: Event) -> None:
        if isinstance(event, ToolCalled):
            self._called(event)
        elif isinstance(event, ToolReturned):
            self._returned(event)

    @property
    def touched(self) -> tuple[str, ...]:
        """Files that were written; a call whose result is not known yet counts, a refused one does not."""
        unfinished = [path for paths in self._writing.values() for path in paths]
        return tuple(dict.fromkeys([*self._touched, *unfinished]))

    @property
    def reverted(self) -> tuple[str, ...]:
        """Files that were written and then taken back by a command."""
        return tuple(self._reverted)

    @property
    def commands(self) -> tuple[Command, ...]:
        return tuple(self._commands[call] for call in self._order)

    def _called(self, event: ToolCalled) -> None:
        name = event.tool.lower()
        if name in vocabulary.SHELLS:
            self._ran(event)
        elif name in vocabulary.PATCHERS:
            text = " ".join(str(value) for value in event.arguments.values())
            self._writing[event.call_id] = self._relative(vocabulary.PATCHED.findall(text))
        elif name in vocabulary.WRITERS:
            path = vocabulary.given(event.arguments, vocabulary.PATH)
            self._writing[event.call_id] = self._relative([path] if path else [])

    def _ran(self, event: ToolCalled) -> None:
        command = vocabulary.given(event.arguments, vocabulary.COMMAND)
        if not command:
            return
        is_test = bool(_TEST.search(command))
        if event.call_id in self._commands:  # a record may hold a call twice
            self._order.remove(event.call_id)
        self._commands[event.call_id] = Command(event.at, command, None, None, "", is_test)
        self._order.append(event.call_id)
        while len(self._order) > _LAST_COMMANDS:
            del self._commands[self._order.popleft()]

    def _returned(self, event: ToolReturned) -> None:
        written = self._writing.pop(event.call_id, None)
        if written and event.ok:
            self._touched.update(dict.fromkeys(written))
            for path in written:
                self._reverted.pop(path, None)
        started = self._commands.get(event.call_id)
        if started is None:
            return
        tail = _tail(event.text)
        ended = replace(started, ok=event.ok, exit=_exit_code(event), tail=tail)
        self._commands[event.call_id] = ended
        named = False
        if ended.test:
            self.last_test = ended
            named = self.tests.ended(ended.command, event.ok, event.text)
        elif event.ok:
            self._take_back(ended.command)
        if not named:  # tests that failed by name are followed by name
            self.errors.ended(ended)

    def _take_back(self, command: str) -> None:
        named = reverted_by(command)
        back = list(self._touched) if EVERYTHING in named else self._relative(list(named))
        for path in back:
            for known in [known for known in self._touched if known == path or known.startswith(f"{path}/")]:
                del self._touched[known]
                self._reverted[known] = None

    def _relative(self, paths: list[str]) -> list[str]:
        """Paths as git names them; those outside of the project stay absolute."""
        relative = []
        for path in paths:
            full = os.path.normpath(os.path.join(self._project, path))
            inside = os.path.relpath(full, self._project)
            name = full if inside.startswith("..") else inside
            if not self._is_own(name):
                relative.append(name)
        return relative


def _exit_code(event: ToolReturned) -> int | None:
    """The code where the result says it: agents put it first or last, not in the middle of the output."""
    if event.ok:
        return 0
    said = vocabulary.EXIT_CODE.search(event.text[:80]) or vocabulary.EXIT_CODE.search(event.text[-80:])
    return int(said.group(1)) if said else None


def _tail(text: str) -> str:
    """The last whole lines: a line is kept or left out, never cut, so that no half of a secret is left."""
    kept: list[str] = []
    for line in reversed(text.rstrip().split("\n")[-_TAIL_LINES:]):
        if sum(map(len, kept)) + len(line) > _TAIL_CHARS:
            kept.append("[…]")
            break
        kept.append(line)
    return "\n".join(reversed(kept))
