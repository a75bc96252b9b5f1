"""Processes that Baton did not start: who runs below a pane, with which words and environment.

Where the system shows no processes in /proc, nothing is found.
"""

import os
from collections.abc import Iterator
from pathlib import Path


def with_descendants(pid: int) -> Iterator[int]:
    """The process itself, then its children, level by level."""
    waiting = [pid]
    while waiting:
        one = waiting.pop(0)
        yield one
        try:
            children = Path(f"/proc/{one}/task/{one}/children").read_text(encoding="ascii")
        except OSError:
            continue
        waiting += [int(child) for child in children.split()]


def arguments(pid: int) -> list[str]:
    """Its command line."""
    return _words(pid, "cmdline")


def environment(pid: int) -> dict[str, str]:
    """The environment that it was started with."""
    return dict(word.partition("=")[::2] for word in _words(pid, "environ") if "=" in word)


def _words(pid: int, name: str) -> list[str]:
    try:
        return os.fsdecode(Path(f"/proc/{pid}/{name}").read_bytes()).split("\0")
    except OSError:
        return []
