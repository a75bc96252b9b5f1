"""The configuration in effect: settings, where each comes from, and the ladder they make."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from pydantic import PrivateAttr

from batonpass.config import rungs
from batonpass.config.problems import ConfigError, KeyPath, Problem, dotted, nearest
from batonpass.config.schema import CUSTOM, Settings
from batonpass.ladder import PRESETS, Action, Ladder

DEFAULT = "default"
_PASSWORD = re.compile(r"(//[^:/@\s]*):[^@\s]*@")


class Row(NamedTuple):
    """A setting as `baton config show` prints it."""

    key: str
    value: object
    origin: str  # file:line, the name of an environment variable, "default", or "ladder NAME"


class Config(Settings):
    """Every setting, by name, with its origin."""

    _origins: dict[KeyPath, str] = PrivateAttr(default_factory=dict)

    @property
    def origins(self) -> Mapping[KeyPath, str]:
        """Where each setting that is not at its default was made."""
        return self._origins

    @property
    def commits(self) -> bool:
        """Whether Baton commits its own files."""
        return self.layout == "living" if self.auto_commit is None else self.auto_commit

    def preset_for(self, session_override: str | None = None, *, headless: bool = False) -> str:
        """The name of a session's ladder: its own choice, the configured one, or the one for its kind."""
        name = session_override or self.ladder.preset or (rungs.HEADLESS if headless else rungs.INTERACTIVE)
        known = [*PRESETS, CUSTOM] if self.ladder.preset == CUSTOM else list(PRESETS)
        if name not in known:
            message = f"there is no ladder '{name}'; choose one of {', '.join(known)}"
            raise ConfigError([Problem("--ladder", None, None, "", message, nearest(name, known))])
        return name

    def ladder_for(self, session_override: str | None = None, *, headless: bool = False) -> Ladder:
        """The ladder for a session. Raises ConfigError when the session chose one that does not exist."""
        return rungs.build(self, self.preset_for(session_override, headless=headless))


def explain(config: Config) -> list[Row]:
    """Every setting with its value in effect and its origin; passwords are hidden."""
    settled = _settled(config)
    rows = []
    for path, value in _leaves(config.model_dump(mode="json", by_alias=True), ()):
        origin = config.origins.get(path, DEFAULT)
        if value is None and path in settled:
            value, origin = settled[path]
        rows.append(Row(dotted(path), _shown(value), origin))
    return rows


def json_schema() -> dict[str, object]:
    """The JSON schema of config.yaml, for editors."""
    schema = Settings.model_json_schema(by_alias=True)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "Baton configuration",
    }


def _settled(config: Config) -> dict[KeyPath, tuple[object, str]]:
    """What stands in for the settings that nobody made."""
    ladder = config.ladder_for()

    def rung(action: Action) -> tuple[float | None, int | None]:
        index = ladder.first(action)
        return (ladder.rungs[index].percent, ladder.rungs[index].tokens) if index is not None else (None, None)

    due, tokens = rung(Action.HAND_OFF)
    origin = f"ladder {ladder.name}"
    return {
        ("ladder", "preset"): (ladder.name, DEFAULT),
        ("threshold",): (due, origin),
        ("context_threshold",): (tokens, origin),
        ("notify_user_at",): (rung(Action.WARN)[0], origin),
        ("remind_at",): (rung(Action.NUDGE)[0], origin),
        ("auto_commit",): (config.commits, DEFAULT),
    }


def _leaves(value: object, path: KeyPath) -> Iterator[tuple[KeyPath, object]]:
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from _leaves(inner, (*path, key))
    else:
        yield path, value


def _shown(value: object) -> object:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return _PASSWORD.sub(r"\1:***@", value) if isinstance(value, str) else value
