"""`baton handoff`: pass the baton now."""

import os

import typer

from batonpass.cli.client import Refused, call
from batonpass.cli.cycles import timeline
from batonpass.cli.records import CycleRow
from batonpass.cli.screen import console, print_json, say
from batonpass.cli.words import clean

# Longer than all deadlines of a cycle together, so that it is the daemon who says how it ended.
_ENDS_WITHIN = 3600.0


def handoff(
    session: str | None = typer.Argument(
        None, help="A session's id or name, or its pane (default: the one of this folder)."
    ),
    to: str | None = typer.Option(None, "--to", metavar="AGENT", help="Pass the baton to this agent instead."),
    why: str | None = typer.Option(None, "--why", help="The reason; it is kept with the handoff."),
    wait: bool = typer.Option(True, "--wait/--no-wait", help="Wait until the baton is passed."),
    json: bool = typer.Option(False, "--json", help="Print the cycle as JSON."),
) -> None:
    """Pass the baton now: have the session write its handoff, and go on fresh from it."""
    started: dict[str, str] = call("handoff", session=session, cwd=os.getcwd(), why=why, to=to)
    cycle = clean(started["cycle"])
    begun = f"Session {clean(started['session'])} hands off in cycle {cycle}"
    if not wait:
        if json:
            print_json(started)
        else:
            say(f"{begun}; see `baton cycles show {cycle}`.")
        return
    if not json:
        say(f"{begun}. Ctrl-C stops the waiting, not the cycle.")
    _report(_ended(cycle), json=json)


def _ended(cycle: str) -> CycleRow:
    try:
        row: CycleRow = call("handoff_wait", cycle=cycle, within=_ENDS_WITHIN)
    except KeyboardInterrupt:
        raise Refused(f"The cycle goes on without you; see `baton cycles show {cycle}`.", 130) from None
    return row


def _report(row: CycleRow, *, json: bool) -> None:
    if json:
        print_json(row)
    else:
        console().print(timeline(row))
    if row["state"] != "done":
        raise typer.Exit(1)
