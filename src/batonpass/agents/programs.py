"""Where an agent's program is, and the environment that it is started with."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from batonpass.agents.base import NotInstalled

_FOREIGN = frozenset({"TMUX", "TMUX_PANE"})


def variable(name: str) -> str:
    """The variable that names an agent's program, where it is not the one on the PATH."""
    return f"BATON_{name.upper()}"


def program(name: str, install: str, env: Mapping[str, str]) -> str:
    """The path of an agent's program; `install` is the command that brings it. Raises NotInstalled."""
    chosen = env.get(variable(name))
    found = shutil.which(chosen or name, path=env.get("PATH", os.defpath))
    if found:
        return str(Path(found).absolute())
    if chosen:
        raise NotInstalled(
            f"{variable(name)} names {chosen}, which is no program that can be run; correct or unset it."
        )
    raise NotInstalled(f"{name} is not on the PATH; install it with `{install}`, or set {variable(name)} to its path.")


def environment(env: Mapping[str, str]) -> dict[str, str]:
    """The user's environment without the marks of a surrounding tmux pane."""
    return {name: value for name, value in env.items() if name not in _FOREIGN}
