"""How a Gemini CLI session is started, restarted and brought back: in an overlay, so that no file is changed."""

import logging
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from uuid import uuid4

from batonpass.agents.base import Launch, LaunchError, LaunchOrder, NotInstalled
from batonpass.agents.gemini import overlay, resume
from batonpass.agents.gemini.arguments import Arguments, parse
from batonpass.agents.gemini.limits import COMPRESS_AT, compress_at
from batonpass.agents.gemini.places import OVERLAY, USERS_HOME, policy_files, read_settings, user_folder, user_home
from batonpass.agents.gemini.wishes import approved

log = logging.getLogger(__name__)

# Marks of a surrounding Gemini session or tmux pane: the new session has its own.
_FOREIGN = frozenset(
    {"GEMINI_CLI", "GEMINI_SESSION_ID", "GEMINI_CWD", "GEMINI_CLI_NO_RELAUNCH", "TMUX", "TMUX_PANE", COMPRESS_AT}
)
_TRUSTED = "GEMINI_CLI_TRUSTED_FOLDERS_PATH"


def launch(order: LaunchOrder) -> Launch:
    """Build the overlay and say how to start. Raises LaunchError; then nothing of the user's was lost or replaced."""
    executable, args = program(order.env), parse(order.args)
    if order.approval is not None:
        args = approved(args, order.approval)
    restart = order.kick is not None or order.resume is not None
    _keep(order, args, restart)
    conversation, agent_session = _conversation(order, args, restart)
    prompt = order.kick if restart else args.prompt
    argv = [executable, *_options(args), *_policies(order, args), *conversation]
    if prompt is not None:
        argv.append(f"--prompt-interactive={prompt}")
    return Launch(argv=tuple(argv), env=_environment(order), agent_session=agent_session, transcript=None)


def _keep(order: LaunchOrder, args: Arguments, restart: bool) -> None:
    """Keep what a start could destroy: the record that is resumed, and what the last process left in the overlay."""
    taken_up = order.resume if restart else args.resumed
    try:
        if taken_up is not None:
            resume.keep_copy(taken_up, order.env, order.folder)
        elif args.resumes and not restart:
            resume.keep_all(order.project, order.env, order.folder)
        for word in overlay.give_back(order.folder, order.env):
            log.warning("%s", word)
    except OSError as error:
        kept = "what must be kept before it could not be copied"
        raise LaunchError(f"Gemini CLI was not started, for {kept}: {error}; mend that and try again.") from None


def _conversation(order: LaunchOrder, args: Arguments, restart: bool) -> tuple[list[str], str | None]:
    """The options that choose the conversation, and its id where that is known before the start."""
    if order.resume is not None:
        return ["--resume", order.resume], order.resume
    if restart or not args.conversation:
        fresh = str(uuid4())
        return ["--session-id", fresh], fresh
    return [token for option in args.conversation for token in option.tokens], args.named


def _options(args: Arguments) -> Iterator[str]:
    """The user's own options, also for a restart: the model in its record may be one that it chose for one prompt."""
    for option in args.options:
        yield from option.tokens
    chosen = args.values("--extensions")
    if chosen and chosen != ["none"]:
        yield from ("--extensions", overlay.EXTENSION)


def _policies(order: LaunchOrder, args: Arguments) -> Iterator[str]:
    """Names Baton's rule beside all others that hold: who names policies on the command line has no others.

    Those of a project hold only where it is trusted, and an administrator's are not for Baton to name: then it is not
    named, and a person is asked whether the draft may be written.
    """
    settled = {path: read_settings(path).get("policyPaths") for path in policy_files(order.project, order.env)}
    users = settled.pop(user_folder(order.env) / "settings.json")
    if args.values("--policy"):
        paths: list[object] = []
    elif any(settled.values()):
        return
    else:
        paths = users if isinstance(users, list) and users else [str(user_folder(order.env) / "policies")]
    named = [*paths, str(overlay.rule(order.folder))]
    if all(isinstance(path, str) and "," not in path for path in named):  # a comma would part it in two
        for path in named:
            yield from ("--policy", str(path))


def _environment(order: LaunchOrder) -> dict[str, str]:
    env = _own(order.env)
    env[USERS_HOME] = str(user_home(order.env))
    env[OVERLAY] = str(overlay.build(order))
    env.setdefault(_TRUSTED, str(user_folder(order.env) / "trustedFolders.json"))
    if share := compress_at(order.project, order.env):
        env[COMPRESS_AT] = str(share)
    return env


def environment(env: Mapping[str, str]) -> dict[str, str]:
    """The environment of a run with no overlay: the user's own, also below a session that has one."""
    own = _own(env)
    if own.pop(USERS_HOME, None) and own.pop(OVERLAY, None):
        own.pop(_TRUSTED, None)
    return own


def _own(env: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in env.items() if name not in _FOREIGN}


def program(env: Mapping[str, str]) -> str:
    """The path of Gemini CLI. Raises NotInstalled."""
    chosen = env.get("BATON_GEMINI")
    found = shutil.which(chosen or "gemini", path=env.get("PATH", os.defpath))
    if found:
        return str(Path(found).absolute())
    if chosen:
        raise NotInstalled(f"BATON_GEMINI names {chosen}, which is no program that can be run; correct or unset it.")
    raise NotInstalled(
        "Gemini CLI is not on the PATH; install it with `npm install -g @google/gemini-cli`, "
        "or set BATON_GEMINI to the path of its program."
    )
