"""How a Codex session is started, restarted and brought back: by flags alone, no file is written."""

import hashlib
import json
import os
import re
import shlex
import shutil
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from batonpass.agents.base import Launch, LaunchError, LaunchOrder, NotInstalled
from batonpass.agents.codex.arguments import Arguments, parse
from batonpass.agents.codex.wishes import approved, as_left
from batonpass.disk import read_plain

COMPACT_LIMIT = "BATON_CODEX_COMPACT_LIMIT"  # tells the watch where the user has Codex compact itself
NOTICE = (
    "Codex asks before it runs hooks that it does not know; you asked for this session, so Baton has vouched for "
    "its own hooks, for this session only and on its command line: no file of yours was changed"
)

# Marks of a surrounding Codex session or tmux pane: the new session has its own.
_FOREIGN = frozenset({"CODEX_THREAD_ID", "CODEX_SESSION_ID", "TMUX", "TMUX_PANE", COMPACT_LIMIT})
_ALONE = "--no-daemon"
_LAYER = "/<session-flags>/config.toml"  # how Codex calls what came by flags
_TIMEOUTS = {"ask": 30, "prime": 10, "compact": 10, "permit": 10, "note": 5, "event": 3}


def launch(order: LaunchOrder, prime_parts: int) -> Launch:
    """Say how to start. Raises LaunchError."""
    executable, args = program(order.env), parse(order.args)
    if any(value.startswith("hooks") for value in args.values("--config")):
        raise LaunchError(
            "Hooks given with -c would replace Baton's or be replaced by them; put yours into config.toml or "
            "hooks.json of Codex, where both run. Nothing was started."
        )
    if order.approval is not None:
        args = approved(args, order.approval)
    restart = order.kick is not None or order.resume is not None
    if restart and order.permission_mode is not None:
        args = as_left(args, order.permission_mode)
    if order.resume is not None:
        command: tuple[str, ...] = ("resume", order.resume)
    else:
        command = () if restart else args.command
    prompt = order.kick if restart else args.prompt
    argv = [executable, _ALONE, *_hook_flags(order, prime_parts), *_options(order, args, restart), *command]
    if prompt is not None:
        argv += ["--", prompt]
    env = environment(order.env)
    if limit := _compact_limit(order.env, args):
        env[COMPACT_LIMIT] = str(limit)
    return Launch(argv=tuple(argv), env=env, agent_session=order.resume, transcript=None, notice=NOTICE)


def codex_home(env: Mapping[str, str]) -> Path:
    """Where Codex keeps its files for this environment."""
    if folder := env.get("CODEX_HOME"):
        return Path(folder)
    return Path(env.get("HOME") or Path.home()) / ".codex"


def _options(order: LaunchOrder, args: Arguments, restart: bool) -> Iterator[str]:
    """The user's own options. A restart takes the model as it was last, for the user may have switched it."""
    switched = order.model if restart else None
    for option in args.options:
        if option.name != _ALONE and not (switched and option.name == "--model"):
            yield from option.tokens
    if switched:
        yield from ("--model", switched)


def _hook_flags(order: LaunchOrder, prime_parts: int) -> Iterator[str]:
    """Baton's hooks as a layer of their own, which adds to the user's, and the word that they are known."""
    trusted: list[str] = []
    for event, roles in _roles(prime_parts).items():
        hooks: list[str] = []
        for index, role in enumerate(roles):
            command, seconds = shlex.join((*order.hook, *role)), _TIMEOUTS[role[0]]
            hooks.append(f'{{type="command",command={_toml(command)},timeout={seconds}}}')
            place = f"{_LAYER}:{_snake(event)}:0:{index}"
            trusted.append(f"{_toml(place)}={{trusted_hash={_toml(trust(_snake(event), command, seconds))}}}")
        yield from ("-c", f"hooks.{event}=[{{hooks=[{','.join(hooks)}]}}]")
    yield from ("-c", f"hooks.state={{{','.join(trusted)}}}")


def _roles(prime_parts: int) -> dict[str, list[tuple[str, ...]]]:
    return {
        "SessionStart": [("prime", str(part)) for part in range(1, prime_parts + 1)],
        "UserPromptSubmit": [("note",)],
        "Stop": [("ask",)],
        "PermissionRequest": [("permit",)],
        "PreCompact": [("compact",)],
        "SessionEnd": [("event",)],
    }


def trust(event: str, command: str, seconds: int) -> str:
    """The print by which Codex knows a hook again."""
    hook = {"async": False, "command": command, "timeout": seconds, "type": "command"}
    whole = json.dumps({"event_name": event, "hooks": [hook]}, sort_keys=True, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(whole.encode()).hexdigest()


def _toml(text: str) -> str:
    """A TOML string; JSON's escapes are TOML's, but for DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")


def _snake(event: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()


def _compact_limit(env: Mapping[str, str], args: Arguments) -> int | None:
    """Where the user has Codex compact itself, if anywhere: on the command line, or in the configuration."""
    name = "model_auto_compact_token_limit"
    for value in reversed(args.values("--config")):
        key, _, given = value.partition("=")
        if key.strip() == name and given.strip().isdecimal():
            return int(given)
    try:
        settings: dict[str, Any] = tomllib.loads(read_plain(codex_home(env) / "config.toml").decode("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    limit = settings.get(name)
    return limit if isinstance(limit, int) and limit > 0 else None


def environment(env: Mapping[str, str]) -> dict[str, str]:
    """The user's environment for a session of its own."""
    return {name: value for name, value in env.items() if name not in _FOREIGN}


def program(env: Mapping[str, str]) -> str:
    """The path of Codex. Raises NotInstalled."""
    chosen = env.get("BATON_CODEX")
    found = shutil.which(chosen or "codex", path=env.get("PATH", os.defpath))
    if found:
        return str(Path(found).absolute())
    if chosen:
        raise NotInstalled(f"BATON_CODEX names {chosen}, which is no program that can be run; correct or unset it.")
    raise NotInstalled(
        "Codex is not on the PATH; install it with `npm install -g @openai/codex`, "
        "or set BATON_CODEX to the path of its program."
    )
