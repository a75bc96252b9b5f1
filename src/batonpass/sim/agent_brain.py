"""Which brain a scripted agent thinks with."""

import re
from collections.abc import Mapping
from importlib import import_module
from typing import cast

from batonpass.sim.brain import Brain

_DEFAULT = "batonpass.sim.worker:Worker"
_SPEC = re.compile(r"\s*(?P<name>[\w.]+:\w+)?\s*(?P<settings>\{.*\})?\s*", re.DOTALL)


def load(spec: str | None, env: Mapping[str, str]) -> Brain:
    """The brain of a spec: `module:Class`, its settings as a JSON object, or both with a space between.

    Settings go to the class's `from_json`; without any, the class is made by `from_env` where it has one.
    Raises ValueError with a sentence for the user.
    """
    match = _SPEC.fullmatch(spec or "")
    if match is None:
        raise ValueError(f"--brain wants module:Class, settings as JSON, or both, not {spec!r}.")
    name, settings = match["name"] or _DEFAULT, match["settings"]
    module, _, attribute = name.partition(":")
    try:
        kind = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"The brain {name} cannot be loaded ({error}); check --brain.") from error
    if settings:
        return cast(Brain, kind.from_json(settings))
    return cast(Brain, kind.from_env(env) if hasattr(kind, "from_env") else kind())
