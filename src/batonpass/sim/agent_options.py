"""How the scripted agent is configured: flags first, then BATON_SCRIPTED_* in the environment."""

import argparse
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

COMPACT_MARGIN = 33_000  # tokens below the window at which it compacts itself
BLOCK_MARGIN = 23_000  # and, with compaction off, at which it refuses to go on
DEFAULT_MODEL = "scripted-1"
PREFIX = "BATON_SCRIPTED_"

# Flags that take a value: the adapter must know them to tell a value from a prompt.
VALUE_FLAGS = (
    "--settings",
    "--session-id",
    "--resume",
    "--model",
    "--permission-mode",
    "--home",
    "--brain",
    "--faults",
    "--window",
)


@dataclass(frozen=True, slots=True)
class Options:
    settings: str | None
    session_id: str | None
    resume: str | None
    model: str
    permission_mode: str
    home: str
    brain: str | None
    faults: str | None
    window: int
    compact: bool
    printing: bool  # one turn with no screen
    prompt: str | None


def parse(argv: Sequence[str], env: Mapping[str, str]) -> Options:
    """The options of one run; wrong usage ends the program with status 2."""
    parser = argparse.ArgumentParser(prog="scripted", description="A scripted coding agent to rehearse with.")
    for flag in VALUE_FLAGS:
        parser.add_argument(flag)
    parser.add_argument("--no-compact", action="store_true")
    parser.add_argument("--print", action="store_true", dest="printing")
    parser.add_argument("prompt", nargs="*")
    given = parser.parse_args(argv)
    model = given.model or env.get(PREFIX + "MODEL") or DEFAULT_MODEL
    try:
        window = int(given.window) if given.window else window_of(model, env)
    except ValueError:
        parser.error(f"--window wants a number of tokens, not {given.window!r}")
    return Options(
        settings=given.settings,
        session_id=given.session_id,
        resume=given.resume,
        model=model,
        permission_mode=given.permission_mode or env.get(PREFIX + "PERMISSION_MODE") or "default",
        home=given.home or home_of(env),
        brain=given.brain or env.get(PREFIX + "BRAIN"),
        faults=given.faults or env.get(PREFIX + "FAULTS"),
        window=window,
        compact=not (given.no_compact or env.get(PREFIX + "NO_COMPACT")),
        printing=given.printing,
        prompt=" ".join(given.prompt) or None,
    )


def home_of(env: Mapping[str, str]) -> str:
    """Where transcripts and state files live."""
    given = env.get(PREFIX + "HOME")
    if given:
        return given
    from batonpass.home import home  # it loads OpenSSL: three megabytes in each of hundreds of agents

    return os.path.join(home(env), "scripted")


def window_of(model: str | None, env: Mapping[str, str]) -> int:
    """The window of a model: a `[1m]` in its name means a million tokens, as with real agents."""
    text = env.get(PREFIX + "WINDOW", "")
    if text.isdigit() and int(text) > 0:
        return int(text)
    return 1_000_000 if model and "[1m]" in model else 200_000


def limit_of(window: int, compact: bool) -> int:
    """Tokens at which it compacts itself, or stops when compaction is off."""
    return max(1, window - (COMPACT_MARGIN if compact else BLOCK_MARGIN))


def transcript_path(home: str, session: str) -> str:
    return os.path.join(home, "transcripts", f"{session}.jsonl")


def state_path(home: str, pid: int) -> str:
    return os.path.join(home, "state", f"{pid}.json")


def read_json(path_or_text: str) -> object:
    """JSON from a file, or from the text itself when it starts like JSON. Raises OSError or ValueError."""
    if path_or_text.lstrip()[:1] in ("{", "["):
        return json.loads(path_or_text)
    with open(path_or_text, encoding="utf-8") as file:
        return json.load(file)
