"""`baton handoffs`: the documents, in their order."""

import os
from pathlib import Path

import typer
from rich.console import RenderableType
from rich.text import Text

from batonpass.cli import handoffs_care
from batonpass.cli.client import call
from batonpass.cli.records import HandoffRow, HandoffText
from batonpass.cli.screen import console, print_json, say, table
from batonpass.cli.words import ago, clean, near
from batonpass.clock import SystemClock

app = typer.Typer(help="The handoff documents.", no_args_is_help=True)
app.command("check")(handoffs_care.check)
app.command("chain")(handoffs_care.chain)
app.command("archive")(handoffs_care.archive)
app.command("clean")(handoffs_care.clean_up)


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
