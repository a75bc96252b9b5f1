"""`baton restore`: bring back what a reboot took."""

import typer

from batonpass.cli.client import call
from batonpass.cli.records import RestoredSession
from batonpass.cli.run import START_WITHIN
from batonpass.cli.screen import print_json, say
from batonpass.cli.words import clean

_EVERY_WITHIN = 10 * START_WITHIN


def restore(
    sessions: list[str] = typer.Argument(
        None, help="Sessions by name or id (default: all that went with their tmux server)."
    ),
    dry_run: bool = typer.Option(False, "--dry-run", help="Only say what would be done."),
    json: bool = typer.Option(False, "--json", help="Print a record for each session as JSON."),
) -> None:
    """Bring back the sessions that a reboot or the end of tmux took with it.

    Each in its own name and folder, by its own conversation id; where that cannot be resumed, from its last handoff.
    """
    found: list[RestoredSession] = call("restore", sessions=sessions or [], dry=dry_run, within=_EVERY_WITHIN)
    if json:
        print_json(found)
    elif not found:
        say("No session went with its tmux server; `baton status --all` shows what there is.")
    else:
        for one in found:
            say(f"{clean(one['name'])} ({one['session']}, {clean(one['agent'])}): {one['how']}, {clean(one['why'])}.")
    if any(one["how"] == "left" for one in found):
        raise typer.Exit(1)
