"""`baton cycles`: every passing of the baton, step by step."""

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from batonpass.cli.client import call
from batonpass.cli.records import CycleRow
from batonpass.cli.screen import console, print_json, say, table
from batonpass.cli.words import ago, clean, duration
from batonpass.clock import SystemClock

app = typer.Typer(help="Every passing of the baton, step by step.", no_args_is_help=True)

_COLOURS = {
    "done": "green",
    "ok": "green",
    "running": "cyan",
    "postponed": "yellow",
    "pending": "yellow",
    "unverified": "bold yellow",
    "failed": "bold red",
}


@app.command("list")
def list_(
    session: str | None = typer.Argument(None, help="A session's id or name (default: all)."),
    json: bool = typer.Option(False, "--json", help="Print them as JSON."),
) -> None:
    """List the cycles, newest first."""
    rows: list[CycleRow] = call("cycles_list", session=session)
    if json:
        print_json(rows)
    elif rows:
        console().print(listing(rows, now=SystemClock().now()))
    else:
        say("No baton has been passed yet. `baton handoff` passes one now.")


@app.command("show")
def show(
    cycle: str | None = typer.Argument(None, metavar="ID", help="The cycle (default: the latest)."),
    json: bool = typer.Option(False, "--json", help="Print it as JSON."),
) -> None:
    """Show a cycle: every step, its time, its attempts."""
    row: CycleRow = call("cycles_show", id=cycle)
    if json:
        print_json(row)
    else:
        console().print(timeline(row))


def listing(rows: list[CycleRow], *, now: float) -> RenderableType:
    """Cycles as a table."""
    shown = table("CYCLE", "STARTED", "TOOK", "AT", "STATE", "WAY", "SESSION", "CAUSE")
    for row in rows:
        shown.add_row(
            clean(row["id"]),
            ago(row["started"], now),
            duration(row["seconds"]),
            _percent(row["percent"]),
            _state(row["state"]),
            clean(row["way"] or "-"),
            Text(clean(row["session"])),
            Text(clean(row["cause"])),
        )
    return shown


def timeline(row: CycleRow) -> RenderableType:
    """A cycle as a headline and its steps."""
    head = Text.assemble(
        ("Cycle ", "bold"),
        (clean(row["id"]), "bold"),
        f" of session {clean(row['session'])}: ",
        _state(row["state"]),
    )
    way = f", by {clean(row['way'])}" if row["way"] else ""
    at, took = _percent(row["percent"]), duration(row["seconds"])
    lines = [head, Text(f"because: {clean(row['cause'])}, at {at}{way}, {took} in all")]
    if row["document"]:
        lines.append(Text(f"handoff: {clean(row['document'])}"))
    if row["note"]:
        lines.append(Text(f"note: {clean(row['note'])}"))
    steps = table("STEP", "STATE", "TOOK", "TRIES", "NOTE")
    for step in row["steps"]:
        steps.add_row(
            clean(step["step"]).replace("_", " "),
            _state(step["state"]),
            duration(step["seconds"]),
            str(step["attempts"]),
            Text(clean(step["note"] or "")),
        )
    return Group(*lines, Text(), steps)


def _state(state: str) -> Text:
    return Text(clean(state).replace("_", " "), _COLOURS.get(state, "yellow"))


def _percent(percent: float | None) -> str:
    return "?" if percent is None else f"{percent:.0f} %"
