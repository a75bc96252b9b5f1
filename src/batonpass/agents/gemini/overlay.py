"""A home for one session of Gemini CLI: links to everything of the user's, and one extension of Baton's.

The program reads and writes through the links, so that sign-in, settings, policies and sessions stay the user's own.
What it replaces by a new file of the same name becomes a copy here. Such a copy of the user's own words is given back;
the links are made anew at every launch.
"""

import json
import os
import shlex
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from batonpass.agents.base import LaunchOrder
from batonpass.agents.gemini.places import user_folder, user_home
from batonpass.disk import read_plain, write_bytes, write_private

EXTENSION = "baton-hooks"
HANDOFF = "The user asked Baton to hand this session off."  # how the prompt of /handoff begins

_OWN = ("extensions",)  # folders of which only the entries are links
_FOLDERS = ("tmp", "history", "policies")  # which the program makes when it needs them, but not through a link
# Where these are not there yet the program makes them: through a link they become the user's.
_THE_USERS = (
    "settings.json", "oauth_creds.json", "google_accounts.json", "gemini-credentials.json", "GEMINI.md",
    "mcp-oauth-tokens.json", "mcp-oauth-tokens-v2.json",
)  # fmt: skip
_MADE_LATER = (*_THE_USERS, "installation_id", "projects.json")  # of these two it makes sense by itself
_HOME = "gemini-home"  # in a session's folder
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
    home, users = order.folder / _HOME, user_folder(order.env)
    inside = home / ".gemini"
    for folder in _FOLDERS:
        (users / folder).mkdir(mode=0o700, parents=True, exist_ok=True)
    _link_all(users, inside, _OWN)
    for name in _MADE_LATER:
        _link(users / name, inside / name)
    for folder in _OWN:
        _link_all(users / folder, inside / folder)
    _link(users / "settings.json", home / "settings.json")  # the launcher looks there for its memory settings
    for name in (".agents", ".env"):
        _link(user_home(order.env) / name, home / name)
    _write_extension(inside / "extensions" / EXTENSION, order)
    pattern = json.dumps(_pattern(order.draft_dir))
    write_private(rule(order.folder), _POLICY.format(pattern=pattern), durable=False)
    _linked_now(order.folder)
    return home


def rule(folder: Path) -> Path:
    """The policy by which a session may write its drafts. It stands beside the user's: those are one folder, linked."""
    return folder / _HOME / f"{EXTENSION}.toml"


def give_back(folder: Path, env: Mapping[str, str], *, still: float = 0.0) -> list[str]:
    """Give the user what the program put in the place of a link; what a person should know of it, in sentences.

    Only what lies still for so many seconds, and makes it a link again. The user's own file is replaced only if it is
    as it was when the links were made; else the copy is laid beside it. Raises OSError; then the copy is where it was.
    """
    told: list[str] = []
    links = {name: folder / _HOME / ".gemini" / name for name in _THE_USERS}
    copies = {name: copy for name, copy in links.items() if copy.is_file() and not copy.is_symlink()}
    ready = {name: copy for name, copy in copies.items() if time.time() - copy.stat().st_mtime >= still}
    for name, copy in ready.items():
        there = user_folder(env) / name
        told += _lay(copy, Path(os.path.realpath(there)), folder)
        _link(there, copy)
    if ready and len(ready) == len(copies):
        _linked_now(folder)
    return told


def _linked_now(folder: Path) -> None:
    """Note when everything was a link: by the clock, for what was written a moment ago must be older than that."""
    os.utime(rule(folder), ns=(time.time_ns(), time.time_ns()))


def _lay(copy: Path, own: Path, folder: Path) -> Iterator[str]:
    content, there = read_plain(copy, follow=False), own.exists()
    if there and read_plain(own) == content:
        return
    if there and own.stat().st_mtime_ns >= rule(folder).stat().st_mtime_ns:
        beside = own.with_name(f"{own.name}.{folder.name}")
        write_bytes(beside, content)
        yield f"{own} was changed meanwhile, so what this session wrote for it is kept beside it, as {beside}"
    else:
        write_bytes(own, content, mode=own.stat().st_mode & 0o777 if there else 0o600)


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
    if here.is_symlink() or here.is_file():  # a copy that the program made in the place of a link: see give_back
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
    # A `gemini -p` that a tool of the session runs inherits its home, and has this mark: it does not speak for it.
    command = f'test -n "$GEMINI_CLI" || {shlex.join((*order.hook, *role))}'
    return {"type": "command", "name": f"baton {role[0]}", "command": command, "timeout": _TIMEOUTS[role[0]]}


def _pattern(folder: Path) -> str:
    """What the arguments of a write into the draft folder look like, as an expression of JavaScript."""
    path = json.dumps(str(folder))[1:-1]
    special = "".join(f"\\{char}" if char in r"\^$.|?*+()[]{}/" else char for char in path)
    return f'"file_path":"{special}/[A-Za-z0-9_.-]+"'
