"""Whether Codex's settings let hooks run; without them its sessions are followed by record and keys."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

from batonpass.agents.base import HooksOff
from batonpass.agents.codex.launch import codex_home

_MANAGED = Path("/etc/codex/requirements.toml")


def hooks_off(env: Mapping[str, str], managed: Path = _MANAGED) -> HooksOff | None:
    own = codex_home(env) / "config.toml"
    for path, table, key, forbids in (
        (managed, "", "allow_managed_hooks_only", True),
        (managed, "features", "hooks", False),
        (own, "features", "hooks", False),
    ):
        try:
            settings = tomllib.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as problem:
            return HooksOff(f"{path} cannot be read: {problem}", f"mend {path}")
        where = settings.get(table) if table else settings
        if isinstance(where, dict) and where.get(key) is forbids:
            found = f"switched off by {key} in {path}: Baton follows these sessions by their record and types prompts"
            return HooksOff(found, f"take {key} out of {path}")
    return None
