"""The configuration in effect for each project, read again when one of its files has changed."""

import logging
import os
from collections.abc import Mapping
from pathlib import Path

from batonpass.config import HANDOFF_FILE, HOME_FILE, PROJECT_FILE, Config, ConfigError, load_lenient
from batonpass.ladder import Ladder

log = logging.getLogger(__name__)

Stamp = tuple[tuple[int, int] | None, ...]


class Settings:
    """Asked on every reading, so it looks at files' dates and parses only what is new.

    A broken file leaves what was good in force; its problems are kept for people to see.
    """

    def __init__(self, home: Path, env: Mapping[str, str]) -> None:
        self._home, self._env = home, env
        self._known: dict[Path | None, tuple[Stamp, Config]] = {}
        self.problems: dict[Path | None, tuple[str, ...]] = {}

    def __call__(self, project: Path | None) -> Config:
        stamp = self._stamp(project)
        known = self._known.get(project)
        if known is not None and known[0] == stamp:
            return known[1]
        config, problems = load_lenient(project, self._home, self._env, known[1] if known else None)
        self.problems[project] = tuple(str(problem) for problem in problems)
        for problem in self.problems[project]:
            log.warning("configuration: %s", problem)
        self._known[project] = (stamp, config)
        return config

    def ladder(self, project: Path, chosen: str | None) -> Ladder:
        """The ladder of a session; one that is not there any more gives way to the configured one."""
        config = self(project)
        try:
            return config.ladder_for(chosen)
        except ConfigError as error:
            log.warning("%s; the configured ladder is used", error)
            return config.ladder_for()

    def _stamp(self, project: Path | None) -> Stamp:
        files = [self._home / HOME_FILE]
        if project is not None:
            files += [project / HANDOFF_FILE, project / PROJECT_FILE]
        return tuple(_dated(file) for file in files)


def _dated(file: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
