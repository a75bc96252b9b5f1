"""Where Gemini CLI keeps the files of its user."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from batonpass.agents import commented
from batonpass.disk import read_plain

USERS_HOME = "BATON_GEMINI_HOME"  # in a session's environment: the home behind its overlay
OVERLAY = "GEMINI_CLI_HOME"

_SYSTEM = "/Library/Application Support/GeminiCli" if sys.platform == "darwin" else "/etc/gemini-cli"


def user_home(env: Mapping[str, str]) -> Path:
    """The home that the user's own `gemini` works with, also where an overlay stands before it."""
    return Path(env.get(USERS_HOME) or env.get(OVERLAY) or env.get("HOME") or Path.home())


def user_folder(env: Mapping[str, str]) -> Path:
    """Its folder there: settings, sign-in, sessions."""
    return user_home(env) / ".gemini"


def settings_files(project: Path, env: Mapping[str, str]) -> tuple[Path, ...]:
    """Where settings may stand, those with the last word first: the administrator's, the project's, the user's."""
    return _system(env), project / ".gemini" / "settings.json", user_folder(env) / "settings.json"


def policy_files(project: Path, env: Mapping[str, str]) -> tuple[Path, ...]:
    """Where policies may be named: in all settings, and in what an administrator has set for want of them."""
    defaults = env.get("GEMINI_CLI_SYSTEM_DEFAULTS_PATH") or _system(env).with_name("system-defaults.json")
    return *settings_files(project, env), Path(defaults)


def _system(env: Mapping[str, str]) -> Path:
    return Path(env.get("GEMINI_CLI_SYSTEM_SETTINGS_PATH") or f"{_SYSTEM}/settings.json")


def read_settings(path: Path) -> dict[str, Any]:
    """A settings file, which may have comments; empty when there is none that can be read."""
    try:
        return commented.loads(read_plain(path))
    except OSError:
        return {}


def project_of(record: Path) -> Path | None:
    """The folder that a session file belongs to, as the program notes it beside the sessions of a project."""
    try:
        noted = read_plain(record.parent.parent / ".project_root").decode("utf-8").strip()
    except (OSError, ValueError):
        return None
    return Path(noted) if noted.startswith("/") else None


def chats_of(project: Path, env: Mapping[str, str]) -> Path | None:
    """Where the sessions of a project are: the program names a folder for it, and notes the project in there."""
    for noted in user_folder(env).glob("tmp/*/.project_root"):
        if project_of(noted.parent / "chats" / "x") == project:
            return noted.parent / "chats"
    return None
