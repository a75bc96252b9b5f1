"""`baton adopt`: take over a session that already runs."""

import os

import typer

from batonpass.cli.client import Refused, call
from batonpass.cli.records import StartedSession
from batonpass.cli.screen import print_json, say
from batonpass.cli.words import clean


def adopt(
    pane: str | None = typer.Argument(None, help="A tmux pane such as %3 (default: the one you are in)."),
    agent: str | None = typer.Option(None, "--agent", help="Which agent runs there (default: found out)."),
    json: bool = typer.Option(False, "--json", help="Print the session as JSON."),
) -> None:
    """Watch over an agent that already runs in a tmux pane. Writes nothing of yours."""
    pane = pane or os.environ.get("TMUX_PANE")
    if not pane:
        raise Refused("Say which tmux pane to adopt, for example `baton adopt %3`; `tmux list-panes -a` shows them.", 2)
    adopted: StartedSession = call("adopt", pane=pane, agent=agent)
    if json:
        print_json(adopted)
    else:
        say(f"Baton now watches {clean(adopted['agent'])} in pane {clean(pane)} as {clean(adopted['name'])}.")
        if notice := adopted.get("notice"):
            say(f"Note: {clean(notice)}.")
