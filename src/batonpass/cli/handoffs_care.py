"""`baton handoffs check|chain|archive|clean`: what needs no daemon, only the project's files."""

import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import typer

from batonpass.cli.client import Refused
from batonpass.cli.screen import print_json, say
from batonpass.cli.words import clean
from batonpass.clock import SystemClock, iso
from batonpass.config import Config, load_lenient
from batonpass.handoff.audit import Audit, audit
from batonpass.handoff.commits import commit
from batonpass.handoff.layouts import every
from batonpass.handoff.layouts import layout as layout_of
from batonpass.handoff.retention import tidy
from batonpass.handoff.story import Chapter, story
from batonpass.home import home
from batonpass.project import Project, find

_MOST_DONE = 6


def check(
    file: Path = typer.Argument(..., metavar="FILE", help="A handoff document."),
    json: bool = typer.Option(False, "--json", help="Print the findings as JSON."),
) -> None:
    """Compare a handoff with its project: what is missing, wrong or dead in it. Works without the daemon."""
    path = Path(os.path.abspath(file))
    try:
        found = audit(path, _project(path), at=SystemClock().now())
    except OSError as error:
        raise Refused(f"{path} cannot be checked: {error.strerror or error}", 2) from None
    if json:
        print_json(_findings(found))
    else:
        for line in verdict(found):
            say(line)
    if not found.ok:
        raise typer.Exit(3)


def verdict(found: Audit) -> list[str]:
    """The findings as a person reads them: the score first, then what to do about each."""
    state = {True: "sealed", False: "changed since it was sealed", None: "not sealed"}[found.sealed]
    head = f"{found.path.name}: {found.gaps.score} of 100, {state}"
    if found.ok:
        lines = [f"{head}; nothing is missing."]
    else:
        count = len(found.gaps)
        lines = [f"{head}; {count} {'thing is' if count == 1 else 'things are'} missing or wrong:"]
        lines += [f"- {clean(gap.message)}" for gap in found.gaps]
    return lines + [f"Not compared: {clean(sentence)}" for sentence in found.unseen]


def _findings(found: Audit) -> dict[str, object]:
    return {
        "file": str(found.path),
        "project": str(found.project),
        "ok": found.ok,
        "score": found.gaps.score,
        "sealed": found.sealed,
        "gaps": [{"kind": gap.kind, "subject": gap.subject, "message": gap.message} for gap in found.gaps],
        "not_compared": list(found.unseen),
    }


def chain(json: bool = typer.Option(False, "--json", help="Print it as JSON.")) -> None:
    """Tell the story of this project's handoffs: what was done between each. Works without the daemon."""
    project, config = _here(Path.cwd())
    chapters = story(every(project.root, config))
    if json:
        print_json([{**asdict(each), "path": str(each.path) if each.path else None} for each in chapters])
    elif not chapters:
        say("No handoffs in this project yet.")
    for chapter in () if json else chapters:
        for line in told(chapter, project.root):
            say(line)


def told(chapter: Chapter, root: Path) -> list[str]:
    """One handoff as a person reads it: when, of what, what was done, what was left."""
    when = iso(chapter.created) if chapter.created is not None else "earlier"
    full = "" if chapter.percent is None else f" at {chapter.percent:.0f} %"
    where = str(chapter.path).removeprefix(f"{root}/") if chapter.path else "updated in place since"
    lines = [f"#{chapter.number or '?'}  {when}{full}  {clean(where)}{'' if chapter.sealed else '  (not sealed)'}"]
    lines.append(f"    {clean(chapter.task) or 'no task is named'}")
    lines += [f"    done: {clean(text)}" for text in chapter.done[:_MOST_DONE]]
    if len(chapter.done) > _MOST_DONE:
        lines.append(f"    and {len(chapter.done) - _MOST_DONE} more")
    if chapter.left:
        lines.append(f"    left open: {len(chapter.left)}, first: {clean(chapter.left[0])}")
    return lines


def archive(
    file: Path | None = typer.Argument(None, metavar="[FILE]", help="A handoff (default: the latest)."),
    json: bool = typer.Option(False, "--json", help="Print it as JSON."),
) -> None:
    """Put a handoff away. A living document begins anew from its template; its archive is committed with it."""
    project, config = _here(Path.cwd())
    layout = layout_of(config.layout, project.root, config)
    wanted = Path(os.path.abspath(file)) if file else layout.latest()
    if wanted is None or wanted not in layout.list():
        raise Refused(f"{wanted or 'a handoff'} is not there to be archived; see: baton handoffs list", 3)
    try:
        target = layout.archive(wanted)
        note = _committed(project.root, [*layout.commit_paths(wanted), wanted, target]) if config.commits else None
    except OSError as error:
        raise Refused(f"{wanted} was not archived: {error}; it was kept where it is") from None
    if json:
        print_json({"archived": str(wanted), "to": str(target), "note": note})
    else:
        say(f"{wanted.name} is now {str(target).removeprefix(f'{project.root}/')}." + (f" {note}" if note else ""))


def _committed(root: Path, files: Sequence[Path | None]) -> str:
    failed = commit(root, [file for file in files if file], "docs: orchestrator handoff archived")
    return f"It was not committed: {failed}." if failed else "It is committed."


def clean_up(
    dry_run: bool = typer.Option(False, "--dry-run", help="Only say what would be done."),
    json: bool = typer.Option(False, "--json", help="Print it as JSON."),
) -> None:
    """Archive handoffs of complete epics, delete archived ones older than retention_days, and old checkpoints.

    What the current epic has, the latest handoff, and its predecessor always stay. The daemon does this once a day.
    """
    project, config = _here(Path.cwd())
    done = tidy(project.root, config, SystemClock().now(), dry_run=dry_run)
    kinds = (("archived", done.archived), ("deleted", done.deleted), ("checkpoints", done.checkpoints))
    if json:
        listed = {name: [str(path) for path in paths] for name, paths in kinds}
        print_json({**listed, "note": done.note, "dry_run": dry_run})
        return
    would = "would be " if dry_run else ""
    for name, paths in kinds:
        for path in paths:
            what = "archived" if name == "archived" else "deleted"
            say(f"{would}{what}: {clean(str(path).removeprefix(f'{project.root}/'))}")
    if done.note:
        say(f"It was not committed: {clean(done.note)}.")
    if not done.any:
        say("Nothing is old enough, and no epic that has handoffs here is complete.")


def _project(path: Path) -> Project:
    """The project that a document lies in, with the folders that its configuration names."""
    return _here(path.parent)[0]


def _here(folder: Path) -> tuple[Project, Config]:
    project = find(folder)
    config, _ = load_lenient(project.root, Path(home(os.environ)), os.environ)
    return project.configured(config), config
