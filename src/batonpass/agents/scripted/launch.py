"""How a scripted agent is started, restarted and brought back."""

import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from uuid import uuid4

import batonpass
from batonpass.agents.base import Launch, LaunchOrder
from batonpass.agents.wishes import Approval, Wishes
from batonpass.disk import write_private
from batonpass.sim import agent_options
from batonpass.sim.agent_options import PREFIX, VALUE_FLAGS

# The pane brings its own; those of the terminal that the launch came from would name another one.
_FOREIGN = frozenset({"TMUX", "TMUX_PANE"})
PROGRAM = (sys.executable, "-m", "batonpass.sim.agent")


def launch(order: LaunchOrder, prime_parts: int) -> Launch:
    """Its settings go into order.folder; BATON_SCRIPTED_* of the user's environment reach it."""
    settings = order.folder / "scripted.json"
    write_private(settings, json.dumps(_settings(order, prime_parts), indent=2), durable=False)
    options, prompts = _split(order.args)
    if order.approval is not None:
        said = _split(arguments(Wishes(approval=order.approval), {}))[0]
        options = [*((flag, value) for flag, value in options if flag != "--permission-mode"), *said]
    if order.kick is not None or order.resume is not None:
        options, prompts = _of_restart(options, order), []
    given = dict(options)
    home = given.get("--home") or agent_options.home_of(order.env)
    own = {"--settings": str(settings), "--home": home}
    session = order.resume or given.get("--session-id") or given.get("--resume")
    if order.resume:
        own["--resume"] = order.resume
    elif not session:
        session = own["--session-id"] = str(uuid4())
    kept = {"--model": order.model, "--permission-mode": order.permission_mode}
    own |= {flag: value for flag, value in kept.items() if value and flag not in given}
    words = [*_words(options, without=own), *_words(own.items())]
    prompt = [order.kick] if order.kick is not None else prompts
    return Launch(
        argv=(*PROGRAM, *words, *(["--", *prompt] if prompt else [])),
        env=environment(order.env, home),
        agent_session=session,
        transcript=Path(agent_options.transcript_path(home, session)) if session else None,
    )


_APPROVALS = {
    "plan": Approval.PLAN,
    "default": Approval.ASK,
    "acceptEdits": Approval.EDITS,
    "accept": Approval.EDITS,
    "bypassPermissions": Approval.ALL,
}


def wishes(args: Sequence[str], model: str | None, mode: str | None) -> Wishes:
    given = dict(_split(args)[0])
    return Wishes(approval=_APPROVALS.get(mode or given.get("--permission-mode") or ""))


def arguments(wanted: Wishes, models: Mapping[str, str]) -> tuple[str, ...]:
    model = models.get(wanted.size) if wanted.size else None
    mode = next((name for name, approval in _APPROVALS.items() if approval is wanted.approval), None)
    return (*(("--model", model) if model else ()), *(("--permission-mode", mode) if mode else ()))


def _settings(order: LaunchOrder, prime_parts: int) -> dict[str, object]:
    reports = ("session_end", "stop_failed", "tool", "compact")
    hooks: dict[str, object] = {name: [[*order.hook, "event"]] for name in reports}
    hooks["session_start"] = [[*order.hook, "prime", str(part + 1)] for part in range(prime_parts)]
    hooks["prompt"] = [[*order.hook, "note"]]
    hooks["stop"] = [[*order.hook, "ask"]]
    hooks["permission"] = [[*order.hook, "permit"]]
    return {"hooks": hooks, "statusline": list(order.statusline), "allow": [str(order.draft_dir)]}


def environment(env: Mapping[str, str], home: str) -> dict[str, str]:
    """The user's environment, with the package within reach of a bare interpreter."""
    root = str(Path(batonpass.__file__).parent.parent)
    paths = [root, *(path for path in env.get("PYTHONPATH", "").split(os.pathsep) if path and path != root)]
    kept = {name: value for name, value in env.items() if name not in _FOREIGN}
    return {**kept, "PYTHONPATH": os.pathsep.join(paths), PREFIX + "HOME": home}


def _split(args: Sequence[str]) -> tuple[list[tuple[str, str | None]], list[str]]:
    """The user's arguments as flags with their values, and prompts."""
    options: list[tuple[str, str | None]] = []
    prompts: list[str] = []
    rest = list(args)
    while rest:
        word = rest.pop(0)
        flag, equals, value = word.partition("=")
        if word == "--":
            return options, prompts + rest
        if not word.startswith("--"):
            prompts.append(word)
        elif flag in VALUE_FLAGS:
            options.append((flag, value if equals else rest.pop(0) if rest else None))
        else:
            options.append((word, None))
    return options, prompts


def _of_restart(options: list[tuple[str, str | None]], order: LaunchOrder) -> list[tuple[str, str | None]]:
    """The options that still hold: not the choice of a conversation, nor what was switched since."""
    dropped = {"--resume", "--session-id"}
    dropped |= {"--model"} if order.model else set()
    dropped |= {"--permission-mode"} if order.permission_mode else set()
    return [(flag, value) for flag, value in options if flag not in dropped]


def _words(options: Iterable[tuple[str, str | None]], without: Iterable[str] = ()) -> list[str]:
    """Flags and values as words, joined by `=` so that a value may begin with a dash."""
    left_out = set(without)
    return [flag if value is None else f"{flag}={value}" for flag, value in options if flag not in left_out]
