"""Misbehaviour on demand: what goes wrong, when, and how often.

A fault is an object `{"fault": KIND, …}` in a JSON list, which is read again before every turn. Each may say
`turn` (only in that turn of the process, from 1), `times` (how often in this process), and `once` (a file
that is made when the fault strikes and keeps it from striking again, also in another process).

| fault | what happens | more |
|---|---|---|
| handoff_never, handoff_garbage | a file in the allowed folder is not written, or holds rubbish | |
| handoff_deleted | a file in the allowed folder is written and deleted again | |
| ignore_clear | `/clear` does nothing | |
| hang | stays busy | `seconds`, or `until` a file appears |
| dialog | asks a question | `at`: start or turn |
| die | kills itself | `at`: start, prompt, tool, before_stop, after_stop, clear |
| drop_enter | an Enter is not heard | |
| lose_hook | a hook is not run | `hook` |
| background | a shell runs on and starts a turn when it ends | `command`, or it ends after the next clear |
| api_error | the model fails | `error`, as in `Reply.error`, `text`, the provider's words, `at`: prompt or tool |
| slow_start | starts late | `seconds` |
| control | prints control sequences | `text` |
"""

import os
from collections.abc import Mapping

from batonpass.sim.agent_options import read_json

KINDS = frozenset(
    [
        "handoff_never",
        "handoff_garbage",
        "handoff_deleted",
        "ignore_clear",
        "hang",
        "dialog",
        "die",
        "drop_enter",
        "lose_hook",
        "background",
        "api_error",
        "slow_start",
        "control",
    ]
)

Fault = Mapping[str, object]


class Faults:
    """The faults of one process. A file that is missing or broken holds none, and `problem` says so."""

    def __init__(self, source: str | None) -> None:
        self._source = source
        self._faults: list[Fault] = []
        self._struck: dict[str, int] = {}
        self.turn = 0
        self.problem: str | None = None
        self.reload()

    def reload(self) -> None:
        """Read the faults again, so that a rehearsal can change its mind between turns."""
        if self._source is None:
            return
        try:
            found = read_json(self._source)
        except FileNotFoundError:
            found = []
        except (OSError, ValueError) as error:
            self.problem = f"The faults in {self._source} cannot be read ({error}); the last ones stay in force."
            return
        listed = found if isinstance(found, list) else [found]
        self._faults = [one for one in listed if isinstance(one, dict) and one.get("fault") in KINDS]
        unknown = [one for one in listed if one not in self._faults]
        self.problem = f"There is no such fault: {unknown[0]!r}; it is left out." if unknown else None

    def strike(self, kind: str, **where: str) -> Fault | None:
        """The fault of that kind whose time has come, or None. Asking counts as striking."""
        for fault in self._faults:
            if fault["fault"] == kind and self._due(fault, where):
                key = repr(sorted(fault.items()))
                self._struck[key] = self._struck.get(key, 0) + 1
                once = fault.get("once")
                if isinstance(once, str):
                    with open(once, "a", encoding="utf-8"):
                        pass
                return fault
        return None

    def _due(self, fault: Fault, where: Mapping[str, str]) -> bool:
        if any(fault.get(name, value) != value for name, value in where.items()):
            return False
        if fault.get("turn", self.turn) != self.turn:
            return False
        struck = self._struck.get(repr(sorted(fault.items())), 0)
        times, once = fault.get("times"), fault.get("once")
        return not (isinstance(times, int) and struck >= times) and not (isinstance(once, str) and os.path.exists(once))


def seconds(fault: Fault, default: float = 0.0) -> float:
    value = fault.get("seconds", default)
    return float(value) if isinstance(value, int | float) else default


def text(fault: Fault, name: str, default: str = "") -> str:
    value = fault.get(name, default)
    return value if isinstance(value, str) else default
