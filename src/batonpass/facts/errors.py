"""Commands whose last run failed, and the ways around them."""

import re
from collections import OrderedDict

from batonpass.facts.model import Command, Note

_MOST = 200
_FAILING_IS_NORMAL = {"grep", "rg", "diff", "test", "[", "which", "ls", "cmp", "pgrep", "find", "cat", "kill", "pkill"}
_LEAD = re.compile(r"^(?:(?:cd|export|source|\.) [^&;|]*(?:&&|;)\s*|\w+=\S*\s+|(?:sudo|time|env|nice|timeout \S+)\s+)+")
_TAIL = re.compile(r"(?:\s*(?:2?>&?\s*\S+|\|\s*(?:tail|head|grep|tee|cat|less|sed|awk)\b.*))+$", re.DOTALL)


class Errors:
    """Is told of every command that ended; holds those that failed and never succeeded since."""

    def __init__(self) -> None:
        self._failed: OrderedDict[str, Command] = OrderedDict()
        self.workarounds: list[Note] = []

    def ended(self, command: Command) -> None:
        line = plain(command.command)
        program = _program(line)
        if command.ok is False and program not in _FAILING_IS_NORMAL:
            self._failed[line] = command
            self._failed.move_to_end(line)
            while len(self._failed) > _MOST:
                self._failed.popitem(last=False)
        elif command.ok:
            self._failed.pop(line, None)
            self._worked(command, line, program)

    @property
    def open(self) -> tuple[Command, ...]:
        return tuple(command for command in self._failed.values())

    def _worked(self, command: Command, line: str, program: str) -> None:
        """Another way with the same program succeeded: the first way is settled, and known not to work."""
        words = line.split()
        for other in [key for key in self._failed if _program(key) == program and key.split()[:2] == words[:2]]:
            failed = self._failed[other]
            if failed.test:
                continue
            del self._failed[other]
            last = failed.tail.rstrip().split("\n")[-1].strip()[:160]
            # What a tool printed is data: quoted, so that it reads as nothing else.
            why = f" with `{last.replace('`', chr(39))}`" if last else ""
            text = f"`{other[:160]}` failed{why}; `{line[:160]}` worked."
            self.workarounds = [*self.workarounds, Note(command.at, text, "tool")][-20:]


def plain(command: str) -> str:
    """A command line without what does not change what it does: where to, how much of the output.

    >>> plain("cd api && FOO=1 pytest -q 2>&1 | tail -5")
    'pytest -q'
    """
    line = " ".join(command.split())
    return _TAIL.sub("", _LEAD.sub("", line)) or line


def _program(line: str) -> str:
    return line.split()[0].rsplit("/", 1)[-1] if line.split() else ""
