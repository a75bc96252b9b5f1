"""What Baton needs of a machine, looked at without changing it; each finding names what mends it."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from batonpass import __version__, agents
from batonpass.agents import programs
from batonpass.cli.client import NotRunning, Refused, call, log_path, state_home

# Older ones lack the control-mode flags by which Baton looks on without resizing anybody's windows.
_TMUX_SINCE = (3, 2)
# Releases before this one have been seen to crash while control clients, of which Baton is one, come and go.
_TMUX_STEADY = (3, 5)
_PYTHON_SINCE = (3, 11)
_ANSWER_WITHIN = 20.0


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at. `mend` is the command that puts it right, empty when all is well."""

    name: str
    ok: bool
    found: str
    mend: str = ""
    essential: bool = True


def checks(env: Mapping[str, str], cwd: Path) -> Iterator[Check]:
    """Every check, in the order in which a person would mend things."""
    yield python(sys.version_info[:3])
    yield tmux(env)
    yield git(env)
    yield state_folder(Path(state_home()))
    yield daemon()
    yield from ports()
    for name in agents.names():
        if agents.get(name).package:
            yield agent(name, env)
            if agents.get(name).has_hooks:
                yield hooks(name, env, cwd)
    yield from experimental(env)


def python(version: tuple[int, ...]) -> Check:
    """Whether this Python is new enough."""
    found = ".".join(map(str, version))
    return Check(
        "python",
        version >= _PYTHON_SINCE,
        found,
        "" if version >= _PYTHON_SINCE else "install Python 3.11 or newer",
    )


def tmux(env: Mapping[str, str]) -> Check:
    """Whether tmux is there, new enough, and of a release that does not crash."""
    said = _version_of(["tmux", "-V"], env)
    if said is None:
        return Check("tmux", False, "not found", _install("tmux"))
    numbers = re.search(r"(\d+)\.(\d+)", said)
    # A development build names no number ("tmux master"): it is newer than any release.
    release = (int(numbers[1]), int(numbers[2])) if numbers else _TMUX_STEADY
    if release < _TMUX_SINCE:
        return Check("tmux", False, said, f"{_install('tmux')}   (3.2 or newer is needed)")
    if release < _TMUX_STEADY:
        found = f"{said} works, but can crash, and your sessions with it, while control clients come and go"
        return Check("tmux", False, found, f"{_install('tmux')}   (3.5 or newer is steady)", essential=False)
    return Check("tmux", True, said)


def git(env: Mapping[str, str]) -> Check:
    """Whether git is there."""
    said = _version_of(["git", "--version"], env)
    return Check("git", said is not None, said or "not found", "" if said else _install("git"))


def state_folder(home: Path) -> Check:
    """Whether Baton can write its state; a folder that is not there yet is not made."""
    nearest = home
    while not nearest.exists() and nearest != nearest.parent:
        nearest = nearest.parent
    try:
        with tempfile.TemporaryFile(dir=nearest):
            pass
    except OSError as problem:
        mend = f"make {nearest} a folder that you can write to, or set BATON_HOME to another"
        return Check("state", False, f"{home} cannot be written ({problem.strerror})", mend)
    return Check("state", True, str(home))


def daemon() -> Check:
    """Whether the daemon is well; one that does not run is well too, since it starts by itself."""
    try:
        running = call("ping", start=False, within=5.0)
    except NotRunning:
        return Check("daemon", True, "not running; it starts by itself")
    except Refused as problem:
        return Check("daemon", False, problem.message, f"look at {log_path()}, then: baton daemon stop")
    found = f"running, pid {running['pid']}, Baton {running['version']}"
    if running["version"] != __version__:
        return Check(
            "daemon",
            False,
            f"{found}, but this command is {__version__}",
            "baton daemon stop",
            essential=False,
        )
    return Check("daemon", True, found)


def ports() -> Iterator[Check]:
    """Whether every live session that is driven over a port is reached there; it works without, by record and keys."""
    try:
        sessions = call("status", start=False, within=5.0)["sessions"]
    except (NotRunning, Refused):
        return  # see `daemon`
    for row in sessions:
        answers, name = row.get("answers"), row["name"]
        if answers is not None:
            found = f"{row['agent']} of {name} {'answers' if answers else 'does not answer'} on its port"
            mend = "" if answers else f"end it and start it again: baton run {row['agent']}"
            yield Check("port", answers, found, mend, essential=False)


def agent(name: str, env: Mapping[str, str]) -> Check:
    """Whether an agent is there; who does not use it misses nothing."""
    package = agents.get(name).package
    program = env.get(programs.variable(name)) or name
    said = _version_of([program, "--version"], env)
    if said is not None:
        return Check(name, True, said, essential=False)
    install = f"npm install -g {package}"
    if shutil.which("npm", path=env.get("PATH")) is None:
        install = f"{_install('nodejs npm')} && {install}"
    return Check(name, False, f"{program} not found", install, essential=False)


def hooks(name: str, env: Mapping[str, str], cwd: Path) -> Check:
    """Whether an agent's own settings let hooks run."""
    off = agents.get(name).hooks_off(env, cwd)
    if off is None:
        return Check(f"{name} hooks", True, "allowed")
    return Check(f"{name} hooks", False, off.found, off.mend, essential=False)


def experimental(env: Mapping[str, str]) -> Iterator[Check]:
    """The agents of the second tier; nobody needs one, so one that is not there is no fault."""
    for name in agents.experimental_names():
        said = _version_of([env.get(programs.variable(name)) or name, "--version"], env)
        found = f"{said or 'not installed'} (experimental: only `baton exec {name}`, with its usage)"
        yield Check(name, True, found, essential=False)


def _version_of(argv: list[str], env: Mapping[str, str]) -> str | None:
    """What a program says of its version, in one line; None when it is not there or fails."""
    program = shutil.which(argv[0], path=env.get("PATH"))
    if program is None:
        return None
    try:
        done = subprocess.run(
            [program, *argv[1:]],
            env=dict(env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_ANSWER_WITHIN,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    lines = done.stdout.decode("utf-8", "replace").strip().splitlines()
    return lines[0] if lines else None


def _install(packages: str) -> str:
    if sys.platform == "darwin":
        return f"brew install {packages.replace('nodejs npm', 'node')}"
    sudo = "" if os.geteuid() == 0 else "sudo "
    for manager, command in (("apt-get", "install -y"), ("dnf", "install -y"), ("pacman", "-S")):
        if shutil.which(manager):
            return f"{sudo}{manager} {command} {packages}"
    return f"install {packages} with your package manager"
