"""What a running Claude Code says of itself: the file it keeps for its process."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from batonpass.agents import processes
from batonpass.agents.base import Binding, Found, Status
from batonpass.agents.claude.settings import config_folder
from batonpass.disk import read_plain
from batonpass.session import State
from batonpass.untrusted import count, identifier

_STATES = {"idle": State.IDLE, "shell": State.IDLE, "busy": State.BUSY, "waiting": State.WAITING}


def state_file(binding: Binding) -> Path | None:
    """The file of the bound process; None while no process is known."""
    return None if binding.pid is None else config_folder(binding.env) / "sessions" / f"{binding.pid}.json"


def status(binding: Binding, proc: Path = Path("/proc")) -> Status:
    """State by its own word. DEAD when the process is gone, also where its file was left behind."""
    path = state_file(binding)
    if path is None or binding.pid is None:
        return Status(State.UNKNOWN)
    alive, started = _process(binding.pid, proc)
    if not alive:
        return Status(State.DEAD)
    try:
        word = msgspec.json.decode(read_plain(path), type=dict[str, Any])
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return Status(State.UNKNOWN)  # not written yet, or a version that keeps none
    if started is not None and str(word.get("procStart", started)) != started:
        return Status(State.DEAD)  # the number now belongs to another process
    said = word.get("status")
    since = count(word.get("statusUpdatedAt"))
    return Status(
        state=_STATES.get(said, State.UNKNOWN) if isinstance(said, str) else State.UNKNOWN,
        agent_session=identifier(word.get("sessionId")),
        since=None if since is None else since / 1000,
        waiting_for=_string(word.get("waitingFor")),
        background=said == "shell",
    )


def find(pid: int) -> Found | None:
    """The Claude Code that runs as that process or below it, by the file that it keeps for itself."""
    for candidate in processes.with_descendants(pid):
        env = processes.environment(candidate)
        binding = Binding(candidate, None, None, Path(), env)
        said = status(binding)
        if said.agent_session is not None and said.state is not State.DEAD:
            return Found(candidate, said.agent_session, transcript(said.agent_session, env), env)
    return None


def transcript(session: str | None, env: Mapping[str, str]) -> Path | None:
    """The record of a conversation: its name is unique, its folder's name is the agent's own business."""
    if session is None:
        return None
    return next(config_folder(env).glob(f"projects/*/{session}.jsonl"), None)


def _process(pid: int, proc: Path) -> tuple[bool, str | None]:
    """Whether the process lives, and when it started by the kernel (None where that is not told)."""
    if not proc.is_dir():
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False, None
        except PermissionError:
            pass
        return True, None
    try:
        facts = (proc / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False, None
    # The program's name, in brackets, may hold blanks and brackets itself: count from its end.
    fields = facts.rpartition(")")[2].split()
    return fields[0] not in ("Z", "X"), fields[19]


def _string(value: object) -> str | None:
    return value if isinstance(value, str) else None
