"""Whether Gemini CLI's settings let hooks run; without them its sessions are followed by record and keys."""

from collections.abc import Mapping
from pathlib import Path

from batonpass.agents.base import HooksOff
from batonpass.agents.gemini.places import read_settings, settings_files


def hooks_off(env: Mapping[str, str], project: Path) -> HooksOff | None:
    for path in settings_files(project, env):
        switch = read_settings(path).get("hooksConfig")
        enabled = switch.get("enabled") if isinstance(switch, dict) else None
        if enabled is False:
            found = f"switched off in {path}: Baton follows these sessions by their record and types prompts"
            return HooksOff(found, f"take hooksConfig.enabled out of {path}")
        if enabled is True:
            break  # what comes after has less to say
    return None
