"""How an opencode session is started, restarted and brought back: by arguments and environment, no file is written."""

import os
import secrets
import shutil
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path

from batonpass.agents.base import Launch, LaunchError, LaunchOrder, NotInstalled
from batonpass.agents.opencode import permissions
from batonpass.agents.opencode.arguments import Arguments, parse
from batonpass.agents.opencode.wishes import approved

PORT = "BATON_OPENCODE_PORT"  # tells the watch where this session listens
PASSWORD = "OPENCODE_SERVER_PASSWORD"
USER = "OPENCODE_SERVER_USERNAME"
NOTICE = (
    "opencode listens on this machine's loopback for this session, behind a password made for it, "
    "so that nothing need be typed; no file of yours was changed"
)

# Marks of a surrounding opencode session or tmux pane: the new session has its own.
_FOREIGN = frozenset({"OPENCODE", "OPENCODE_PID", "AGENT", "TMUX", "TMUX_PANE", PORT})


def launch(order: LaunchOrder) -> Launch:
    """Say how to start. Raises LaunchError."""
    executable, args = program(order.env), parse(order.args)
    if args.folder is not None and (order.project / args.folder).resolve() != order.project.resolve():
        raise LaunchError(f"opencode would work in {args.folder}; run `baton run opencode` in that folder instead.")
    if order.approval is not None:
        args = approved(args, order.approval)
    restart = order.kick is not None or order.resume is not None
    port = _port(args)
    argv = [executable, *_options(order, args, restart)]
    if args.value("--port") is None:
        argv += ["--port", str(port)]
    if order.resume is not None:
        argv += ["--session", order.resume]
    if order.kick is not None:
        argv.append(f"--prompt={order.kick}")
    env = environment(order.env)
    env[PORT], env["PWD"] = str(port), str(order.project)
    env[PASSWORD] = env.get(PASSWORD) or secrets.token_urlsafe(24)  # an empty one would let everybody in
    if order.approval is not None:
        env |= permissions.asking(order.approval, order.project, env)
    return Launch(argv=tuple(argv), env=env, agent_session=order.resume, transcript=None, notice=NOTICE)


def _options(order: LaunchOrder, args: Arguments, restart: bool) -> Iterator[str]:
    """The user's own options. A restart takes the model as it was last, for the user may have switched it."""
    switched = order.model if restart else None
    for option in args.options if restart else (*args.options, *args.conversation):
        if not (switched and option.name == "--model"):
            yield from option.tokens
    if switched:
        yield from ("--model", switched)


def _port(args: Arguments) -> int:
    """The user's own, or one that is free now: an earlier process may still hold the one before."""
    given = args.value("--port")
    if given is not None:
        if not given.isdecimal() or not 0 < int(given) < 65_536:
            raise LaunchError(f"{given} is no port that Baton could reach opencode at; give a number, or leave it out.")
        return int(given)
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def environment(env: Mapping[str, str]) -> dict[str, str]:
    """The user's environment for a session of its own."""
    return {name: value for name, value in env.items() if name not in _FOREIGN}


def program(env: Mapping[str, str]) -> str:
    """The path of opencode. Raises NotInstalled."""
    chosen = env.get("BATON_OPENCODE")
    found = shutil.which(chosen or "opencode", path=env.get("PATH", os.defpath))
    if found:
        return str(Path(found).absolute())
    if chosen:
        raise NotInstalled(f"BATON_OPENCODE names {chosen}, which is no program that can be run; correct or unset it.")
    raise NotInstalled(
        "opencode is not on the PATH; install it with `npm install -g opencode-ai`, "
        "or set BATON_OPENCODE to the path of its program."
    )
