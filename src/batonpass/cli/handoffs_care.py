"""`baton handoffs check|chain|archive|clean`: what needs no daemon, only the project's files."""

import os
import subprocess
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
from batonpass.handoff.layouts import every
from batonpass.handoff.layouts import layout as layout_of
from batonpass.handoff.retention import carry_out, plan
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
        note = commit(project.root, layout.commit_paths(wanted), wanted, target) if config.commits else None
    except OSError as error:
        raise Refused(f"{wanted} was not archived: {error}; it was kept where it is") from None
    if json:
        print_json({"archived": str(wanted), "to": str(target), "note": note})
    else:
        say(f"{wanted.name} is now {str(target).removeprefix(f'{project.root}/')}." + (f" {note}" if note else ""))


def clean_up(
    dry_run: bool = typer.Option(False, "--dry-run", help="Only say what would be done."),
    json: bool = typer.Option(False, "--json", help="Print it as JSON."),
) -> None:
    """Archive handoffs of complete epics, and delete archived ones that are older than retention_days.

    What the current epic has, the latest handoff, and its predecessor always stay.
    """
    project, config = _here(Path.cwd())
    archived, deleted = list[Path](), list[Path]()
    for layout in every(project.root, config):
        due = plan(layout, retention_days=config.retention_days, now=SystemClock().now())
        done = (list(due.archive), list(due.delete)) if dry_run else carry_out(layout, due)
        archived, deleted = archived + done[0], deleted + done[1]
    if json:
        print_json({"archived": [str(p) for p in archived], "deleted": [str(p) for p in deleted], "dry_run": dry_run})
        return
    would = "would be " if dry_run else ""
    for what, files in (("archived", archived), ("deleted", deleted)):
        for path in files:
            say(f"{would}{what}: {clean(str(path).removeprefix(f'{project.root}/'))}")
    if not archived and not deleted:
        say("Nothing is old enough, and no epic that has handoffs here is complete.")


def commit(root: Path, paths: Sequence[Path], *moved: Path | None) -> str:
    """Commit Baton's own files, where git can; what happened in one sentence."""
    files = [str(path) for path in dict.fromkeys([*paths, *(path for path in moved if path)])]
    git = ["git", "-C", str(root)]
    try:
        subprocess.run([*git, "add", "-A", "--", *files], check=True, capture_output=True, timeout=20)
        message = "docs: orchestrator handoff archived"
        subprocess.run(
            [*git, "commit", "--only", "-m", message, "--", *files], check=True, capture_output=True, timeout=20
        )
    except (OSError, subprocess.SubprocessError) as error:
        return f"It was not committed: {error}."
    return "It is committed."


def _project(path: Path) -> Project:
    """The project that a document lies in, with the folders that its configuration names."""
    return _here(path.parent)[0]


def _here(folder: Path) -> tuple[Project, Config]:
    project = find(folder)
    config, _ = load_lenient(project.root, Path(home(os.environ)), os.environ)
    return project.configured(config), config
