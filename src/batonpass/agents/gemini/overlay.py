"""A home for one session of Gemini CLI: links to everything of the user's, and one extension of Baton's.

The program reads and writes through the links, so that sign-in, settings and sessions stay the user's own. What it
replaces by a new file of the same name becomes a copy here; the links are made anew at every launch.
"""

import json
import os
import shlex
from contextlib import suppress
from pathlib import Path

from batonpass.agents.base import LaunchOrder
from batonpass.agents.gemini.places import user_folder, user_home
from batonpass.disk import write_private

EXTENSION = "baton-hooks"
HANDOFF = "The user asked Baton to hand this session off."  # how the prompt of /handoff begins

_OWN = ("extensions", "policies")  # folders of which only the entries are links
_FOLDERS = ("tmp", "history")  # which the program makes at its first start, but not through a link
# Where these are not there yet the program makes them: through a link they become the user's.
_MADE_LATER = (
    "settings.json", "oauth_creds.json", "google_accounts.json", "gemini-credentials.json", "installation_id",
    "projects.json", "GEMINI.md", "mcp-oauth-tokens.json", "mcp-oauth-tokens-v2.json",
)  # fmt: skip
# The handoff rides on the prompt's hook: one that a busy machine cuts off would have taken it along.
_TIMEOUTS = {"ask": 30_000, "prime": 15_000, "note": 15_000, "event": 3_000}
_COMMAND = f'''\
description = "Hand this session over to a fresh one with Baton."
prompt = """
{HANDOFF} Reason given: {{{{args}}}}

Answer with one short line that says that the handoff begins, and stop. Do not write any file and do not
go on with other work: Baton asks for the handoff document at once, in its next message.
"""
'''
# Only a plain name below the draft folder fits: the quotes of a text are escaped in the arguments, a slash leads away.
_POLICY = """\
[[rule]]
toolName = "write_file"
argsPattern = {pattern}
decision = "allow"
priority = 500
"""


def build(order: LaunchOrder) -> Path:
    """Make or renew the overlay of a session; gives the folder that the program takes for its home."""
    home, users = order.folder / "gemini-home", user_folder(order.env)
    inside = home / ".gemini"
    for folder in _FOLDERS:
        (users / folder).mkdir(mode=0o700, parents=True, exist_ok=True)
    _link_all(users, inside, _OWN)
    for name in _MADE_LATER:
        _link(users / name, inside / name)
    for folder in _OWN:
        _link_all(users / folder, inside / folder)
    _link(users / "settings.json", home / "settings.json")  # the launcher looks there for its memory settings
    _link(user_home(order.env) / ".agents", home / ".agents")
    _write_extension(inside / "extensions" / EXTENSION, order)
    rule = _POLICY.format(pattern=json.dumps(_pattern(order.draft_dir)))
    write_private(inside / "policies" / f"{EXTENSION}.toml", rule, durable=False)
    return home


def _link_all(there: Path, here: Path, but: tuple[str, ...] = ()) -> None:
    """Links to every entry of a folder of the user's, and to nothing that is not there any more."""
    here.mkdir(mode=0o700, parents=True, exist_ok=True)
    for entry in here.iterdir():
        if entry.is_symlink():
            entry.unlink()
    with suppress(FileNotFoundError):
        for entry in there.iterdir():
            if entry.name not in but and entry.name != EXTENSION:
                _link(entry, here / entry.name)


def _link(there: Path, here: Path) -> None:
    if here.is_symlink() or here.is_file():  # a copy that the program made in the place of a link
        here.unlink()
    if not here.exists():
        os.symlink(there, here)


def _write_extension(folder: Path, order: LaunchOrder) -> None:
    manifest = {"name": EXTENSION, "version": "1.0.0", "description": "Lets Baton watch this session."}
    write_private(folder / "gemini-extension.json", json.dumps(manifest, indent=2), durable=False)
    write_private(folder / "hooks" / "hooks.json", json.dumps({"hooks": _hooks(order)}, indent=2), durable=False)
    write_private(folder / "commands" / "handoff.toml", _COMMAND, durable=False)


def _hooks(order: LaunchOrder) -> dict[str, list[dict[str, object]]]:
    roles = {
        "SessionStart": ("prime", "1"),
        "SessionEnd": ("event",),
        "BeforeAgent": ("note",),
        "AfterAgent": ("ask",),
        "Notification": ("event",),
    }
    return {event: [{"matcher": "*", "hooks": [_hook(order, role)]}] for event, role in roles.items()}


def _hook(order: LaunchOrder, role: tuple[str, ...]) -> dict[str, object]:
    command = shlex.join((*order.hook, *role))
    return {"type": "command", "name": f"baton {role[0]}", "command": command, "timeout": _TIMEOUTS[role[0]]}


def _pattern(folder: Path) -> str:
    """What the arguments of a write into the draft folder look like, as an expression of JavaScript."""
    path = json.dumps(str(folder))[1:-1]
    special = "".join(f"\\{char}" if char in r"\^$.|?*+()[]{}/" else char for char in path)
    return f'"file_path":"{special}/[A-Za-z0-9_.-]+"'
