"""`baton breaker`: what keeps a session from handing off again and again, and how to let it."""

import os

import typer

from batonpass.cli.client import call
from batonpass.cli.records import GuardRow
from batonpass.cli.screen import print_json, say
from batonpass.cli.words import clean, moment
from batonpass.clock import iso

app = typer.Typer(help="The guards against storms of handoffs.", no_args_is_help=True)


@app.command("show")
def show(
    session: str | None = typer.Argument(None, help="A session's name, id or pane (default: every session)."),
    json: bool = typer.Option(False, "--json", help="Print it as JSON."),
) -> None:
    """Say which sessions are held back, why, and until when."""
    rows: list[GuardRow] = call("breaker_show", session=session, cwd=os.getcwd())
    if json:
        print_json(rows)
        return
    if not rows:
        say("No session is watched.")
    for row in rows:
        say(sentence(row))


@app.command("reset")
def reset(
    session: str | None = typer.Argument(None, help="A session's name, id or pane (default: the one of this folder)."),
    json: bool = typer.Option(False, "--json", help="Print it as JSON."),
) -> None:
    """Count anew from now: handoffs start by themselves again."""
    row: GuardRow = call("breaker_reset", session=session, cwd=os.getcwd())
    if json:
        print_json(row)
    else:
        say(f"{clean(row['name'])}: the count starts anew.")


def sentence(row: GuardRow) -> str:
    """One session's guards in words."""
    name = clean(row["name"])
    count = row["handoffs_in_the_last_hour"]
    if row["guard"] is None:
        raised = row["threshold_raised_by"]
        later = f", threshold {raised:.0f} points higher for now" if raised else ""
        return f"{name}: free ({count} handoff{'' if count == 1 else 's'} in the last hour{later})."
    until = moment(row["until"])
    when = f"until {iso(until)}" if until is not None else f"until `baton breaker reset {name}`"
    return f"{name}: paused {when}: {clean(row['why'] or row['guard'])}."
