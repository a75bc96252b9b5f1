"""The tools that a scripted agent really runs: `write` and `shell`."""

import os
from collections.abc import Mapping
from typing import NamedTuple

from batonpass.sim.agent_faults import Faults
from batonpass.sim.agent_hooks import Settings
from batonpass.sim.agent_loop import Child, Children, Work
from batonpass.sim.agent_record import new_id

SHELL_TIMEOUT = 120.0
_GARBAGE = b"\x00\xff\xfe not a handoff \x1b[2J\n" * 3


class Result(NamedTuple):
    ok: bool
    text: str


class Shell:
    """A command that goes on while the conversation does."""

    def __init__(self, command: str, *, until_clear: bool = False) -> None:
        self.id = "b" + new_id()[:7]
        self.command = command
        self.until_clear = until_clear
        self.child = Child(["/bin/sh", "-c", command], stdin=None if until_clear else "", merge=True)

    def described(self) -> dict[str, str]:
        return {"id": self.id, "kind": "shell", "state": "running", "description": self.command}

    def notice(self) -> str:
        """What the conversation is told when it has ended."""
        outcome = "completed" if self.child.status == 0 else "failed"
        summary = f'Background command "{self.command}" {outcome} (exit code {self.child.status})'
        return (
            f"<task-notification>\n<task-id>{self.id}</task-id>\n<status>{outcome}</status>\n"
            f"<summary>{summary}</summary>\n</task-notification>"
        )


def verdict(mode: str, allowed: bool) -> str:
    """Whether a file may be written: yes, no, or ask. As real agents have it, planning asks in any case."""
    if mode in ("accept", "acceptEdits", "auto", "bypassPermissions"):
        return "yes"
    if allowed and mode != "plan":
        return "yes"
    return "no" if mode == "dontAsk" else "ask"


def write(path: str, arguments: Mapping[str, object], settings: Settings, faults: Faults) -> Result:
    """Write the file, with the folders it needs; an error is a result, not an exception."""
    content = str(arguments.get("content", "")).encode("utf-8", "replace")
    if settings.allows(path):
        if faults.strike("handoff_never"):
            return Result(False, f"Error: {path} was not written.")
        if faults.strike("handoff_garbage"):
            content = _GARBAGE
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)
        if settings.allows(path) and faults.strike("handoff_deleted"):
            os.unlink(path)
    except OSError as error:
        return Result(False, f"Error: {error}")
    return Result(True, f"Wrote {content.count(10)} lines to {path}")


def shell(command: str) -> Work[Result]:
    """Run a command in the project; what it prints is the result."""
    try:
        child = Child(["/bin/sh", "-c", command], merge=True)
    except OSError as error:
        return Result(False, f"Error: {error}")
    wait = Children([child], SHELL_TIMEOUT)
    try:
        yield wait
    finally:
        child.kill()
    if wait.timed_out:
        return Result(False, f"Error: the command was ended after {SHELL_TIMEOUT:.0f} s")
    return Result(child.status == 0, child.output.rstrip("\n") or f"(exit status {child.status})")
