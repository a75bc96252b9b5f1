"""The hooks of the scripted agent: commands that are told what happens and may answer.

A hook that fails, hangs or prints nonsense changes nothing: the agent goes on as if it had not answered.
"""

import json
import os
from collections.abc import Callable, Mapping, Sequence

from batonpass.sim.agent_faults import Faults
from batonpass.sim.agent_loop import Child, Children, Work
from batonpass.sim.agent_options import read_json

Argv = Sequence[str]

_TIMEOUTS = {"stop": 35.0, "session_start": 10.0, "permission": 10.0, "session_end": 1.5}
_TIMEOUT = 5.0


class Settings:
    """The settings file: `hooks` (name to one argv or several), `statusline` (an argv), `allow` (folders)."""

    def __init__(self, source: str | None) -> None:
        """Raises ValueError with a sentence for the user when the file cannot be used."""
        try:
            found = read_json(source) if source else {}
        except (OSError, ValueError) as error:
            raise ValueError(
                f"The settings {source} cannot be read ({error}); correct or leave out --settings."
            ) from None
        given = found if isinstance(found, dict) else {}
        hooks = given.get("hooks")
        self.hooks = {name: _argvs(value) for name, value in (hooks.items() if isinstance(hooks, dict) else ())}
        lines = _argvs(given.get("statusline"))
        self.statusline: Argv | None = lines[0] if lines else None
        allow = given.get("allow")
        self.allow = [os.path.realpath(str(path)) for path in (allow if isinstance(allow, list) else ())]

    def allows(self, path: str) -> bool:
        """Whether a file may be written without asking."""
        real = os.path.realpath(path)
        return any(real.startswith(folder.rstrip("/") + "/") for folder in self.allow)


def _argvs(value: object) -> list[Argv]:
    """One argv, or a list of them."""
    if not isinstance(value, list) or not value:
        return []
    if all(isinstance(word, str) for word in value):
        return [value]
    return [argv for argv in value if isinstance(argv, list) and argv and all(isinstance(w, str) for w in argv)]


class Hooks:
    """Runs the hooks of one agent; `common` gives the fields that every payload carries."""

    def __init__(self, settings: Settings, faults: Faults, common: Callable[[], Mapping[str, object]]) -> None:
        self._settings = settings
        self._faults = faults
        self._common = common

    def run(self, name: str, **fields: object) -> Work[list[Mapping[str, object]]]:
        """Tell every hook of that name, side by side; their answers in the order of the settings."""
        argvs = self._settings.hooks.get(name, [])
        if not argvs or self._faults.strike("lose_hook", hook=name):
            return []
        payload = json.dumps({"hook": name, **self._common(), **fields})
        children = [child for argv in argvs if (child := _started(argv, payload)) is not None]
        try:
            yield Children(children, _TIMEOUTS.get(name, _TIMEOUT))
        finally:
            for child in children:
                child.kill()
        return [answer for child in children if (answer := _answer(child)) is not None]


def _started(argv: Argv, payload: str) -> Child | None:
    try:
        return Child(argv, stdin=payload)
    except OSError:
        return None


def _answer(child: Child) -> Mapping[str, object] | None:
    if child.status != 0:
        return None
    try:
        answer = json.loads(child.output)
    except ValueError:
        return None
    return answer if isinstance(answer, dict) else None
