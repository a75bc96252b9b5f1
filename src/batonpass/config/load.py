"""Reads the configuration: defaults, the user's file, a project's two files, the environment; last wins."""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ValidationError

from batonpass.config import rungs, yaml
from batonpass.config.effective import Config
from batonpass.config.problems import ConfigError, KeyPath, Problem
from batonpass.config.schema import HOME_ONLY, HandoffKeys, Settings, inside
from batonpass.config.words import words
from batonpass.disk import read_plain

HOME_FILE = "config.yaml"
PROJECT_FILE = ".baton/config.yaml"
HANDOFF_FILE = ".supervisor-specific/handoff-config.yaml"
ENVIRONMENT: dict[str, KeyPath] = {"BATON_STORE": ("store",), "BATON_TMUX": ("tmux", "socket")}

_GROUPS = (name for name, field in Settings.model_fields.items() if isinstance(field.default, BaseModel | dict))
_SECTIONS = frozenset({"handoff", *_GROUPS})


@dataclass(frozen=True, slots=True)
class _Layer:
    """The sound part of one source, and how to name a place in it."""

    data: Mapping[str, object]
    origin: Callable[[KeyPath], str]
    problem: Callable[[KeyPath, str, str | None], Problem]


def load(project: Path | None, home: Path, env: Mapping[str, str]) -> Config:
    """The configuration for a project, or for the host when there is none. Raises ConfigError."""
    config, problems = _load(project, home, env)
    if problems:
        raise ConfigError(problems)
    return config


def load_lenient(
    project: Path | None, home: Path, env: Mapping[str, str], last: Config | None = None
) -> tuple[Config, tuple[Problem, ...]]:
    """As `load`, and never raises: with problems it gives `last`, or else whatever of the files is sound."""
    config, problems = _load(project, home, env)
    return (last or config) if problems else config, tuple(problems)


def _load(project: Path | None, home: Path, env: Mapping[str, str]) -> tuple[Config, list[Problem]]:
    problems: list[Problem] = []
    layers = list(_layers(project, home, env, problems))
    data: dict[str, object] = {}
    owners: dict[KeyPath, _Layer] = {}
    for layer in layers:
        if "preset" in _ladder(layer.data):
            # Who names a preset starts from it: changes to another ladder's rungs mean nothing there.
            data.pop("ladder", None)
            owners = {path: owner for path, owner in owners.items() if path[0] != "ladder"}
        _merge(data, layer.data, (), layer, owners)
    config = _config(data)
    for path, message, meant in _faults(config):
        owner = owners.get(path[:2]) or next(owners[own] for own in owners if own[0] == path[0])
        problems.append(owner.problem(path, message, meant))
        data.pop(str(path[0]), None)
    config = _config(data)
    config._origins.update({path: owner.origin(path) for path, owner in owners.items() if path[0] in data})
    return config, _in_order(problems)


def _in_order(problems: list[Problem]) -> list[Problem]:
    """File by file, from top to bottom."""
    files = list(dict.fromkeys(problem.file for problem in problems))
    return sorted(problems, key=lambda each: (files.index(each.file), each.line or 0, each.column or 0))


def _layers(project: Path | None, home: Path, env: Mapping[str, str], problems: list[Problem]) -> Iterator[_Layer]:
    user = home / HOME_FILE
    if document := _read(user, problems):
        yield _home_layer(document, home, problems)
    if project is not None:
        if document := _read(project / HANDOFF_FILE, problems):
            yield _handoff_layer(document, problems)
        # Where the project is the folder that holds Baton's home, both names are one file.
        own = project / PROJECT_FILE
        if os.path.realpath(own) != os.path.realpath(user) and (document := _read(own, problems)):
            yield _project_layer(document, project, user, problems)
    for name, path in ENVIRONMENT.items():
        if value := env.get(name):
            yield _environment_layer(name, path, value)


def _read(file: Path, problems: list[Problem]) -> yaml.Document | None:
    try:
        return yaml.read(read_plain(file).decode("utf-8-sig"), str(file))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnicodeDecodeError:
        problems.append(Problem(str(file), None, None, "", "this file is not UTF-8 text"))
    except OSError as error:
        problems.append(Problem(str(file), None, None, "", f"this file cannot be read: {error.strerror}"))
    except ConfigError as error:
        problems.extend(error.problems)
    return None


def _home_layer(document: yaml.Document, home: Path, problems: list[Problem]) -> _Layer:
    data = _sound(document, document.data, (), Settings, problems)
    return _file_layer(document, _with_prompts(data, home))


def _project_layer(document: yaml.Document, project: Path, user: Path, problems: list[Problem]) -> _Layer:
    data = _sound(document, document.data, (), Settings, problems)
    for key in sorted(HOME_ONLY & data.keys()):
        message = f"this may only be set in {user}, because a project's file comes with its clone"
        problems.append(document.problem((key,), message))
    data = {key: value for key, value in data.items() if key not in HOME_ONLY}
    prompts = data.get("prompts")
    for name, file in list(prompts.items()) if isinstance(prompts, dict) else []:
        try:
            inside(file or "prompt")
        except ValueError as error:
            problems.append(document.problem(("prompts", name), str(error)))
            data.pop("prompts", None)
    return _file_layer(document, _with_prompts(data, project))


def _handoff_layer(document: yaml.Document, problems: list[Problem]) -> _Layer:
    keys = HandoffKeys.model_fields
    for key in document.data:
        if key in keys:
            problems.append(document.problem((key,), "this key belongs under 'handoff:'"))
        elif key != "handoff":
            problems.append(document.problem((key,), "unknown key", "handoff"))
    body = document.data.get("handoff")
    if body is not None and not isinstance(body, dict):
        problems.append(document.problem(("handoff",), "must have keys of its own"))
    known = {}
    for key, value in body.items() if isinstance(body, dict) else ():
        if key in Settings.model_fields and key not in keys:
            message = f"this is no key of this file; set it in {PROJECT_FILE}"
            problems.append(document.problem(("handoff", key), message))
        else:
            known[key] = value
    return _file_layer(document, _sound(document, known, ("handoff",), HandoffKeys, problems), ("handoff",))


def _environment_layer(name: str, path: KeyPath, value: str) -> _Layer:
    data: object = value
    for part in reversed(path):
        data = {part: data}
    assert isinstance(data, dict)
    return _Layer(data, lambda _: name, lambda _, message, meant: Problem(name, None, None, "", message, meant))


def _file_layer(document: yaml.Document, data: Mapping[str, object], prefix: KeyPath = ()) -> _Layer:
    def origin(path: KeyPath) -> str:
        return f"{document.file}:{document.places[(*prefix, *path)][0]}"

    def problem(path: KeyPath, message: str, meant: str | None) -> Problem:
        return document.problem((*prefix, *path), message, meant)

    return _Layer(data, origin, problem)


def _sound(
    document: yaml.Document,
    given: Mapping[str, object],
    prefix: KeyPath,
    model: type[BaseModel],
    problems: list[Problem],
) -> dict[str, object]:
    """What of the keys is right. A section with nothing in it is as good as none."""
    data = {key: value for key, value in given.items() if value is not None or key not in _SECTIONS}
    try:
        model.model_validate_json(json.dumps(data))
    except ValidationError as error:
        for fault in error.errors(include_url=False):
            message, meant = words(fault, model)
            problems.append(document.problem((*prefix, *fault["loc"]), message, meant))
            data.pop(str(fault["loc"][0]), None)
    return data


def _with_prompts(data: dict[str, object], base: Path) -> dict[str, object]:
    """Files of prompts are named from where the configuration stands."""
    prompts = data.get("prompts")
    if not isinstance(prompts, dict):
        return data
    named = {key: str(base / os.path.expanduser(file)) if file else None for key, file in prompts.items()}
    return {**data, "prompts": named}


def _merge(
    into: dict[str, object],
    data: Mapping[str, object],
    path: KeyPath,
    layer: _Layer,
    owners: dict[KeyPath, _Layer],
) -> None:
    for key, value in data.items():
        here = (*path, key)
        if isinstance(value, dict):
            inner = into.setdefault(key, {})
            assert isinstance(inner, dict)
            _merge(inner, value, here, layer, owners)
        else:
            into[key] = value
            owners[here] = layer


def _ladder(data: Mapping[str, object]) -> Mapping[str, object]:
    ladder = data.get("ladder")
    return ladder if isinstance(ladder, dict) else {}


def _config(data: Mapping[str, object]) -> Config:
    return Config.model_validate_json(json.dumps(data))


def _faults(config: Config) -> Iterator[tuple[KeyPath, str, str | None]]:
    """What no single key shows to be wrong."""
    yield from rungs.faults(config)
