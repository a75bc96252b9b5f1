"""Which opencode processes there are beside one, and in its folder."""

import os
from collections.abc import Iterator
from pathlib import Path

from batonpass.agents import processes
from batonpass.agents.opencode.arguments import PROGRAMS, given


def neighbours(pid: int, folder: Path) -> Iterator[int]:
    """Every other opencode that works in this folder, whatever it does, also what this one's agent runs.

    The wrapper around this one is none.
    """
    mine = given(processes.arguments(pid))
    for other in processes.everyone():
        words = processes.arguments(other) if other != pid else []
        if not is_program(words) or processes.folder(other) != folder:
            continue
        if given(words) != mine or not _are_kin(pid, other):
            yield other


def is_program(words: list[str]) -> bool:
    """Whether a command line starts opencode, also where an interpreter runs it."""
    return any(os.path.basename(word) in PROGRAMS for word in words[:2])


def _are_kin(one: int, other: int) -> bool:
    return one in processes.with_descendants(other) or other in processes.with_descendants(one)
