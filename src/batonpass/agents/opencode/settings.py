"""opencode's configuration, as far as it stands in files and variables."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from batonpass.agents import commented
from batonpass.agents.opencode.record import Entry
from batonpass.disk import read_plain

_NAMES = ("config.json", "opencode.json", "opencode.jsonc")  # the one that wins last


def settings(project: Path, env: Mapping[str, str]) -> Iterator[Entry]:
    """Every configuration that holds in a project, the one that wins last."""
    yield from (read(path) for path in _places(project, env))
    yield given(env, "OPENCODE_CONFIG_CONTENT")


def given(env: Mapping[str, str], variable: str) -> Entry:
    """The object in a variable; empty where there is none."""
    return commented.loads(env.get(variable, "").encode())


def read(path: Path) -> Entry:
    """The object in a file; empty where there is none that can be read."""
    try:
        return commented.loads(read_plain(path))
    except OSError:
        return {}


def _places(project: Path, env: Mapping[str, str]) -> Iterator[Path]:
    home = Path(env.get("HOME") or Path.home())
    users = Path(env.get("XDG_CONFIG_HOME") or home / ".config") / "opencode"
    yield from (users / name for name in _NAMES)
    if chosen := env.get("OPENCODE_CONFIG"):
        yield Path(chosen)
    above = [project, *project.parents][::-1]
    further = [home / ".opencode", *(folder / ".opencode" for folder in above)]
    if chosen := env.get("OPENCODE_CONFIG_DIR"):
        further.append(Path(chosen))
    yield from (folder / name for folder in (*above, *further) for name in _NAMES[1:])
