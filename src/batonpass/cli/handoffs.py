"""`baton handoffs`: the documents, in their order."""

import os
from pathlib import Path

import typer
from rich.console import RenderableType
from rich.text import Text

from batonpass.cli.client import Refused, call
from batonpass.cli.records import HandoffRow, HandoffText
from batonpass.cli.screen import console, print_json, say, table
from batonpass.cli.words import ago, clean, near
from batonpass.clock import SystemClock
from batonpass.config.load import load_lenient
from batonpass.handoff.audit import Audit, audit
from batonpass.home import home
from batonpass.project import Project, find

app = typer.Typer(help="The handoff documents.", no_args_is_help=True)


@app.command("list")
def list_(
    everywhere: bool = typer.Option(False, "--all", "-a", help="Of every project, not only of this folder's."),
    json: bool = typer.Option(False, "--json", help="Print them as JSON."),
) -> None:
    """List the handoffs of this project."""
    rows: list[HandoffRow] = call("handoffs_list", project=None if everywhere else os.getcwd(), all=everywhere)
    if json:
        print_json(rows)
    elif rows:
        console().print(listing(rows, now=SystemClock().now(), cwd=Path.cwd(), home=Path.home()))
    else:
        say(
            "No handoffs yet." if everywhere else "No handoffs in this project yet; --all shows those of every project."
        )


@app.command("show")
def show(
    which: str | None = typer.Argument(
        None, metavar="FILE|NUMBER", help="A document, or its number (default: the latest)."
    ),
    json: bool = typer.Option(False, "--json", help="Print it as JSON."),
) -> None:
    """Print a handoff document."""
    number = int(which) if which and which.isdecimal() else None
    file = os.path.abspath(which) if which and number is None else None
    row: HandoffText = call("handoffs_show", file=file, number=number, cwd=os.getcwd())
    if json:
        print_json(row)
    else:
        typer.echo(clean(row["text"], lines=True).rstrip("\n"))


@app.command("check")
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


def _project(path: Path) -> Project:
    """The project that a document lies in, with the folders that its configuration names."""
    project = find(path.parent)
    config, _ = load_lenient(project.root, Path(home(os.environ)), os.environ)
    return project.configured(config)


def listing(rows: list[HandoffRow], *, now: float, cwd: Path, home: Path) -> RenderableType:
    """Handoffs as a table; paths as they can be typed here."""
    shown = table("#", "CREATED", "AT", "SEALED", "SESSION", "PATH")
    for row in rows:
        shown.add_row(
            str(row["number"]),
            ago(row["created"], now),
            "?" if row["percent"] is None else f"{row['percent']:.0f} %",
            Text("yes", "green") if row["sealed"] else Text("no", "bold red"),
            Text(clean(row["session"])),
            Text(near(clean(row["path"]).removeprefix(f"{cwd}/"), home)),
        )
    return shown
