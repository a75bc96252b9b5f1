"""How a Claude Code session is started, restarted and brought back."""

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from uuid import uuid4

from batonpass.agents.base import Launch, LaunchOrder, NotInstalled
from batonpass.agents.claude import limits, settings
from batonpass.agents.claude.arguments import CONVERSATION, Arguments, parse
from batonpass.agents.claude.wishes import MAY_SKIP, SKIP, approved
from batonpass.disk import write_private

# Marks of a surrounding Claude Code session or tmux pane: the new session has its own.
_FOREIGN = frozenset(
    {"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_PID", "CLAUDE_PROJECT_DIR"}
    | {"TMUX", "TMUX_PANE", limits.SETTING_WINDOW, limits.SETTING_OFF}
)
_SKILL = """\
---
name: handoff
description: Hand this session over to a fresh one with Baton.
argument-hint: "[reason]"
disable-model-invocation: true
---
The user asked Baton to hand this session off. Reason given: $ARGUMENTS

Answer with one short line that says that the handoff begins, and stop. Do not write any file and do not
go on with other work: Baton asks for the handoff document at once, in its next message.
"""


def launch(order: LaunchOrder, prime_parts: int) -> Launch:
    """Write settings and plugin into the session's folder, and say how to start. Raises LaunchError."""
    executable = program(order.env)
    args = parse(order.args)
    if order.approval is not None:
        args = approved(args, order.approval)
    given = args.value("--settings")
    users = settings.read_given(given, order.project) if given else {}
    settings_file = order.folder / "settings.json"
    # Whole at every moment: a running session may read the file that is replaced.
    write_private(settings_file, json.dumps(settings.merge(order, users, prime_parts), indent=2), durable=False)
    conversation, agent_session = _conversation(order, args)
    argv = [
        executable,
        *("--settings", str(settings_file)),
        *("--plugin-dir", str(_plugin(order.folder))),
        *conversation,
        *_options(order, args.without({"--settings"})),
    ]
    prompts = (order.kick,) if order.kick is not None else () if _is_restart(order) else args.prompts
    if prompts:
        argv += ["--", *prompts]  # an option that takes many values would swallow the prompt
    return Launch(
        argv=tuple(argv),
        env={**environment(order.env), **settings.limits_set(order, users)},
        agent_session=agent_session,
        transcript=None,  # its name cannot be computed for every folder; the first hook brings it
        chained_statusline=settings.chained_status_line(order, users),
    )


def _is_restart(order: LaunchOrder) -> bool:
    return order.kick is not None or order.resume is not None


def _conversation(order: LaunchOrder, args: Arguments) -> tuple[list[str], str | None]:
    """The options that choose the conversation, and its id where that is known before the start."""
    if order.resume is not None:
        return ["--resume", order.resume], order.resume
    if _is_restart(order) or not args.has(*CONVERSATION):
        fresh = str(uuid4())
        return ["--session-id", fresh], fresh
    forked = args.has("--fork-session")
    return [], args.value("--session-id") or (None if forked else args.value("--resume"))


def _options(order: LaunchOrder, args: Arguments) -> list[str]:
    """The user's own options. A restart takes model and mode as they were last, for the user may have
    switched either since, and a resumed conversation may not fit into another model's window."""
    restart = _is_restart(order)
    if restart:
        args = args.without(CONVERSATION)
    added: list[str] = []
    for name, value in (("--model", order.model), ("--permission-mode", order.permission_mode)):
        if value is None:
            continue
        if name == "--permission-mode" and args.has(SKIP):
            if not restart or value == "bypassPermissions":
                continue
            args, added = args.without({SKIP, MAY_SKIP}), [*added, MAY_SKIP]  # else it would win over the mode
        if restart:
            args = args.without({name})
        if not args.has(name):
            added += [name, value]
    return [*added, *args.tokens()]


def environment(env: Mapping[str, str]) -> dict[str, str]:
    """The user's environment for a session of its own."""
    return {name: value for name, value in env.items() if name not in _FOREIGN}


def program(env: Mapping[str, str]) -> str:
    """The path of Claude Code. Raises NotInstalled."""
    chosen = env.get("BATON_CLAUDE")
    found = shutil.which(chosen or "claude", path=env.get("PATH", os.defpath))
    if found:
        return str(Path(found).absolute())
    if chosen:
        raise NotInstalled(f"BATON_CLAUDE names {chosen}, which is no program that can be run; correct or unset it.")
    raise NotInstalled(
        "Claude Code is not on the PATH; install it with `npm install -g @anthropic-ai/claude-code`, "
        "or set BATON_CLAUDE to the path of its program."
    )


def _plugin(folder: Path) -> Path:
    """A plugin whose only content is the /handoff command: so no file of the user defines it."""
    plugin = folder / "plugin"
    manifest = {"name": "baton", "version": "1.0.0", "description": "Hands this session over to a fresh one."}
    write_private(plugin / ".claude-plugin" / "plugin.json", json.dumps(manifest, indent=2), durable=False)
    write_private(plugin / "skills" / "handoff" / "SKILL.md", _SKILL, durable=False)
    return plugin
