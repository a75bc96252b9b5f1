"""Conversations of Claude Code that are on record: found by their id, or told by the file itself."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from batonpass.agents.base import Binding, Past
from batonpass.agents.claude import status
from batonpass.agents.claude.settings import config_folder
from batonpass.disk import open_plain
from batonpass.session import State
from batonpass.untrusted import identifier

_LINES = 200  # the first lines may be of a kind that names no folder
_LINE_LIMIT = 1 << 20


def past(wanted: str, env: Mapping[str, str]) -> Past | None:
    """The conversation of that id, or in that file."""
    path = Path(wanted) if wanted.endswith(".jsonl") else status.transcript(identifier(wanted), env)
    told = _told(path) if path is not None else None
    if path is None or told is None:
        return None
    session, folder = told
    return Past(session, path, folder, _running(session, env))


def _told(path: Path) -> tuple[str, Path] | None:
    """Whose conversation a file holds, and where it began to work."""
    try:
        with open_plain(path) as stream:
            for _ in range(_LINES):
                line = stream.readline(_LINE_LIMIT)
                if not line:
                    return None
                entry = _entry(line)
                session, folder = identifier(entry.get("sessionId")), entry.get("cwd")
                if session and isinstance(folder, str) and folder.startswith("/"):
                    return session, Path(folder)
    except OSError:
        return None
    return None


def _entry(line: bytes) -> dict[str, Any]:
    try:
        return msgspec.json.decode(line, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}


def _running(session: str, env: Mapping[str, str]) -> int | None:
    """The process that has the conversation in front, by the files that running ones keep."""
    for file in config_folder(env).glob("sessions/*.json"):
        if file.stem.isdecimal():
            said = status.status(Binding(int(file.stem), None, None, Path(), env))
            if said.agent_session == session and said.state is not State.DEAD:
                return int(file.stem)
    return None
