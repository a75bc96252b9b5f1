"""`baton status`: every session with its bar, zone, forecast, chain and what is happening to it."""

import time
from collections.abc import Callable
from pathlib import Path

import typer
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from batonpass.cli.client import Refused, call
from batonpass.cli.records import Status
from batonpass.cli.screen import console, print_json
from batonpass.cli.status_view import view
from batonpass.clock import SystemClock

_EVERY = 1.0


def status(
    session: str | None = typer.Argument(None, help="Only this one: its id, name or pane."),
    json: bool = typer.Option(False, "--json", help="Print it as JSON."),
    watch: bool = typer.Option(False, "--watch", "-w", help="Go on showing it, live, until Ctrl-C."),
    ended: bool = typer.Option(False, "--all", "-a", help="Sessions that ended as well."),
    all_hosts: bool = typer.Option(False, "--all-hosts", help="Every host that shares the store, and its sessions."),
) -> None:
    """Show every session, or one: how full it is, how long it lasts, what is happening to it."""
    if json and watch:
        raise Refused("Choose one of --json and --watch.", 2)
    if session and all_hosts:
        raise Refused("Name a session of this host, or take --all-hosts.", 2)

    def fetch() -> Status:
        answer: Status = call("status", session=session, all=ended, all_hosts=all_hosts)
        return answer

    if json:
        print_json(fetch())
    elif watch:
        live(console(), fetch, lambda: time.sleep(_EVERY))
    else:
        console().print(_shown(fetch()))


def live(screen: Console, fetch: Callable[[], Status], pause: Callable[[], None]) -> None:
    """Show the status again after every pause, until Ctrl-C; a daemon that is away is waited for."""
    shown: RenderableType = Text()
    with Live(console=screen, auto_refresh=False, screen=screen.is_terminal) as display:
        try:
            while True:
                try:
                    latest = shown = _shown(fetch())
                except Refused as problem:
                    latest = Group(shown, Text(f"\n{problem.message}", "bold red"))
                display.update(latest, refresh=True)
                pause()
        except KeyboardInterrupt:
            pass
    screen.print(shown)


def _shown(answer: Status) -> RenderableType:
    return view(answer, now=SystemClock().now(), home=Path.home())
