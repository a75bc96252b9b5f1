"""The user's own files, as the agents and the tests find them: all that must stay as it is."""

import hashlib
import json
import os
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from batonpass.agents.processes import with_descendants
from tests.gone import gone
from tests.real_agents.baton import Baton
from tests.real_agents.own_files import NAMING_HOME, NAMING_HOOKS, NOTES, OWN, fits

_FOLDERS = ("HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME")
_HOOK = b"batonpass/_entry.py"


def user_settings(claude_home: dict[str, str], **hooks: object) -> Path:
    """Write the user's own settings, with hooks by event."""
    path = Path(claude_home["CLAUDE_CONFIG_DIR"]) / "settings.json"
    path.write_text(json.dumps({"hooks": hooks}), encoding="utf-8")
    return path


def prints(*paths: Path) -> dict[str, str]:
    """What these files are, and all below these folders, by name: a checksum, or where a link leads."""
    found = (file for path in paths for file in ([path] if path.is_file() else path.rglob("*")))
    return {str(path): _print(path) for path in found if path.is_symlink() or not path.is_dir()}


def _print(path: Path) -> str:
    if path.is_symlink():
        return f"a link to {os.readlink(path)}"
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "no file"


def end(baton: Baton, words: str, *, shown: str = "") -> None:
    """The user ends the session with these words; all of it has ended, and what is given back at the end is there."""
    family = list(with_descendants(baton.status()["pid"]))
    baton.enter(words, lambda: baton.status()["state"] == "ended", f"the end that {words!r} asked for", shown=shown)
    assert all(gone(pid) for pid in family)


class UsersHome:
    """Everything of the user's before an agent ran: the home, and the agents' folders if they are elsewhere."""

    def __init__(self, agent: str, env: Mapping[str, str]) -> None:
        self._agent, self._home = agent, Path(env["HOME"])
        folders = {Path(env[name]) for name in _FOLDERS if name in env}
        self._folders = [one for one in folders if not folders & set(one.parents)]
        self._before = self._prints()
        self._words = {name: self._read(name) for name in NOTES if name in self._before}

    def assert_kept(self, baton_home: Path) -> None:
        """Nothing was changed, removed or added but what the agent's program writes itself, and no file names Baton.

        To be asked after the session's end, at which some of it is written, or given back.
        """
        now = self._prints()
        changes = list(self._changes(now))
        assert not changes, f"the user's home is not as it was: {', '.join(changes)}"
        naming = [name for name in now if self._names_baton(name, baton_home)]
        assert not naming, f"in the user's home Baton is named by {', '.join(naming)}"

    def _changes(self, now: Mapping[str, str]) -> Iterator[str]:
        for name in sorted({*self._before, *now}):
            same = self._before.get(name) == now.get(name)
            if same or fits(name, OWN[self._agent]) or self._only_noted(name, now):
                continue
            what = "added" if name not in self._before else "changed" if name in now else "removed"
            yield f"{name} ({what})"

    def _only_noted(self, name: str, now: Mapping[str, str]) -> bool:
        if name not in self._words or name not in now:
            return False
        before, after = self._words[name], self._read(name)
        return _stands(before, after) and all(fits(key, [NOTES[name]]) for key in after.keys() - before)

    def _names_baton(self, name: str, baton_home: Path) -> bool:
        path = self._home / name
        if path.is_relative_to(baton_home):
            return False
        content = bytes(path.readlink()) if path.is_symlink() else path.read_bytes() if path.is_file() else b""
        hook, home = _HOOK in content, bytes(baton_home) in content
        return (hook and not fits(name, NAMING_HOOKS)) or (home and not fits(name, NAMING_HOME))

    def _prints(self) -> dict[str, str]:
        return {os.path.relpath(path, self._home): found for path, found in prints(*self._folders).items()}

    def _read(self, name: str) -> dict[str, Any]:
        text = (self._home / name).read_text(encoding="utf-8")
        read: dict[str, Any] = tomllib.loads(text) if name.endswith(".toml") else json.loads(text)
        return read


def _stands(before: object, now: object) -> bool:
    """Whether all that stood there still does; a table may have more by now."""
    if isinstance(before, dict) and isinstance(now, dict):
        return all(key in now and _stands(value, now[key]) for key, value in before.items())
    return before == now
