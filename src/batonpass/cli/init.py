"""`baton init` and `baton uninstall`: the instruction in the agents' own files, added and taken out again."""

import difflib
import os
from dataclasses import dataclass
from pathlib import Path

import typer

from batonpass import agents, block
from batonpass.cli.client import Refused
from batonpass.cli.screen import print_json, say
from batonpass.cli.words import clean
from batonpass.config import load_lenient
from batonpass.handoff.instructions import instructions
from batonpass.handoff.layouts import layout as layout_of
from batonpass.home import home
from batonpass.project import find

_DRY = typer.Option(False, "--dry-run", help="Only show what would change.")
_JSON = typer.Option(False, "--json", help="Print it as JSON.")


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of one file."""

    agent: str
    file: Path
    what: str  # added, updated, removed, unchanged
    before: bytes | None
    after: bytes | None


def init(
    agent: list[str] = typer.Option([agents.FIRST], "--agent", help="For this agent; may be given again for others."),
    dry_run: bool = _DRY,
    json: bool = _JSON,
) -> None:
    """Tell this project's agents where handoffs are, in the file that they always load; shows the change.

    Sessions of `baton run` know it by their hooks; this is for all others, and for a /clear that nobody watches.
    """
    project = find(Path.cwd()).root
    config, _ = load_lenient(project, Path(home(os.environ)), os.environ)
    text = instructions(layout_of(config.layout, project, config))
    changes = []
    for name in dict.fromkeys(agent):
        path = project / _file_of(name)
        before = _read(path, project)
        after = _made(path, before, text)
        what = "unchanged" if after == before else "updated" if before and block.holds(before) else "added"
        changes.append(_carried_out(Change(name, path, what, before, after), dry_run))
    _tell(project, changes, dry_run=dry_run, json=json)


def uninstall(dry_run: bool = _DRY, json: bool = _JSON) -> None:
    """Take what `baton init` added out of this project again; everything else stays byte for byte."""
    project = find(Path.cwd()).root
    changes = []
    for name in agents.names():
        path = project / _file_of(name)
        before = _read(path, project)
        if before is not None and block.holds(before):
            after = _unmade(path, before)
            changes.append(_carried_out(Change(name, path, "removed", before, after), dry_run))
    _tell(project, changes, dry_run=dry_run, json=json)


def _file_of(agent: str) -> str:
    try:
        return agents.get(agent).memory_file
    except agents.UnknownAgent as error:
        raise Refused(str(error), 2) from None


def _read(path: Path, project: Path) -> bytes | None:
    try:
        return block.read(path, project)
    except OSError as error:
        raise Refused(f"{path} is not touched: {error.strerror or error}") from None


def _made(path: Path, before: bytes | None, text: str) -> bytes:
    try:
        return block.added(before, text)
    except block.BrokenBlock as error:
        raise Refused(f"{path} {error}.") from None


def _unmade(path: Path, before: bytes) -> bytes | None:
    try:
        return block.removed(before)
    except block.BrokenBlock as error:
        raise Refused(f"{path} {error}.") from None


def _carried_out(change: Change, dry_run: bool) -> Change:
    if not dry_run and change.after != change.before:
        try:
            block.write(change.file, change.after)
        except OSError as error:
            raise Refused(f"{change.file} could not be written ({error.strerror or error}); it is as it was") from None
    return change


def _tell(project: Path, changes: list[Change], *, dry_run: bool, json: bool) -> None:
    if json:
        files = [{"agent": each.agent, "file": str(each.file), "change": each.what} for each in changes]
        print_json({"project": str(project), "files": files, "dry_run": dry_run})
        return
    for change in changes:
        for line in difference(change, project):
            say(clean(line))
    would = "would be " if dry_run else ""
    for change in changes:
        said = "is up to date" if change.what == "unchanged" else f"{would}{_PAST[change.what]}"
        say(f"{clean(change.file.name)}: Baton's instruction {said}.")
    if not changes:
        say("Nothing of Baton's is in this project's agent files.")


_PAST = {"added": "added", "updated": "brought up to date", "removed": "taken out"}


def difference(change: Change, project: Path) -> list[str]:
    """The change as a diff that a person reads before committing it."""
    name = str(change.file.relative_to(project))
    old, new = ((data or b"").decode("utf-8", "replace").splitlines() for data in (change.before, change.after))
    return list(difflib.unified_diff(old, new, f"a/{name}", f"b/{name}", n=1, lineterm=""))
