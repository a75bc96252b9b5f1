"""A shell, or one command, in which an agent and Baton find a private home and know only a scripted model.

    python -m batonpass.sim.rehearse claude http://127.0.0.1:8765
    python -m batonpass.sim.rehearse claude http://127.0.0.1:8765 --home DIR -- baton run claude

Nothing of the user's own is read or changed: home, Baton's state and tmux server all lie in that folder.
"""

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from batonpass.sim.rehearsal import claude_environment, codex_environment, gemini_environment, opencode_environment

_ENVIRONMENTS: Mapping[str, Callable[[Path, Path, str], dict[str, str]]] = {
    "claude": claude_environment,
    "codex": codex_environment,
    "gemini": gemini_environment,
    "opencode": opencode_environment,
}
_HOME = Path("/tmp/baton-rehearsal")  # not in $TMPDIR: the path of a socket must be short


def environment(agent: str, url: str, home: Path, project: Path, *, env: Mapping[str, str]) -> dict[str, str]:
    """The whole environment of a rehearsal in this project; where the user says that the program is, it is."""
    program = f"BATON_{agent.upper()}"
    own = {"BATON_HOME": str(home / "baton"), "BATON_TMUX": str(home / "tmux")}
    named = {program: env[program]} if program in env else {}
    return {**_ENVIRONMENTS[agent](home / "user", project, url), **own, **named}


def main(argv: Sequence[str] | None = None) -> None:
    """Become the command; it has this process's place, terminal and status."""
    what = (__doc__ or "").partition("\n")[0]
    usage = "python -m batonpass.sim.rehearse AGENT URL [--home DIR] [-- COMMAND]"
    parser = argparse.ArgumentParser(usage=usage, description=what)
    parser.add_argument("agent", choices=sorted(_ENVIRONMENTS))
    parser.add_argument("url", help="where its scripted model listens")
    parser.add_argument("--home", type=Path, default=_HOME, help=f"the private folder (default: {_HOME})")
    words = list(sys.argv[1:] if argv is None else argv)
    at = words.index("--") if "--" in words else len(words)  # the command may have such dashes of its own
    given, command = parser.parse_args(words[:at]), words[at + 1 :] or [os.environ.get("SHELL", "/bin/sh")]
    home = given.home.absolute()
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    whole = environment(given.agent, given.url, home, Path.cwd(), env=os.environ)
    try:
        os.execvpe(command[0], command, whole)
    except OSError as error:
        parser.exit(1, f"{command[0]} cannot be started ({error.strerror}); nothing was started.\n")


if __name__ == "__main__":
    main()
