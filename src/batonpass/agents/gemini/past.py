"""Conversations of Gemini CLI that are on record: found by their id, or told by the file itself."""

from collections.abc import Mapping
from pathlib import Path

from batonpass.agents import processes
from batonpass.agents.base import Past
from batonpass.agents.gemini.places import project_of
from batonpass.agents.gemini.resume import session_of, transcript
from batonpass.agents.gemini.running import ID, running


def past(wanted: str, env: Mapping[str, str]) -> Past | None:
    """The conversation of that id, or in that file; None for a sub-agent's, which nobody could go on with."""
    path = transcript(wanted, env) if ID.fullmatch(wanted) else Path(wanted)
    session = session_of(path) if path is not None and path.name.startswith("session-") else None
    folder = project_of(path) if path is not None else None
    if path is None or session is None or folder is None:
        return None
    live = (found for pid in processes.everyone() if (found := running(pid)) and found.agent_session == session)
    process = next(live, None)
    return Past(session, path, folder, process.pid if process else None)
