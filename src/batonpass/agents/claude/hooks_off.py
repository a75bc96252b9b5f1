"""Whether Claude Code's settings let hooks run: without them Baton knows less, and types what it has to say."""

import json
from collections.abc import Mapping
from pathlib import Path

from batonpass.agents.base import HooksOff
from batonpass.agents.claude.settings import config_folder


def hooks_off(env: Mapping[str, str], project: Path) -> HooksOff | None:
    own = config_folder(env) / "settings.json"
    for path in (project / ".claude/settings.local.json", project / ".claude/settings.json", own):
        try:
            settings = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as problem:
            return HooksOff(f"{path} cannot be read: {problem}", f"mend {path}")
        if isinstance(settings, dict) and settings.get("disableAllHooks") is True:
            found = f"switched off by disableAllHooks in {path}: Baton follows these sessions by their record"
            return HooksOff(found, f"take disableAllHooks out of {path}")
    return None
