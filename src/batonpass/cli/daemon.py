"""`baton daemon`: the supervisor in the background; it starts by itself when a command needs it."""

import importlib
import os
import time

import typer

from batonpass.cli.client import NotRunning, Refused, call, log_path, state_home
from batonpass.cli.records import DaemonRow
from batonpass.cli.screen import print_json, say
from batonpass.cli.words import ago, clean
from batonpass.clock import SystemClock

app = typer.Typer(help="The supervisor in the background.", no_args_is_help=True)

_STOP_WITHIN = 15.0


@app.command("status")
def status(json: bool = typer.Option(False, "--json", help="Print it as JSON.")) -> None:
    """Say whether the daemon runs (exit code 3 when it does not). Does not start it."""
    try:
        running: DaemonRow = call("ping", start=False)
    except NotRunning:
        if not json:
            raise
        print_json({"running": False})
        raise typer.Exit(3) from None
    if json:
        print_json({"running": True, **running})
    else:
        since = ago(running["started"], SystemClock().now())
        what = f"pid {running['pid']}, Baton {clean(running['version'])}, started {since}"
        say(f"The daemon runs on {clean(running['host'])}: {what}.")
        say(f"Its state is in {state_home()}, its log is {log_path()}.")


@app.command("stop")
def stop() -> None:
    """Stop the daemon. Sessions go on; a cycle under way is finished by the next daemon."""
    try:
        call("stop", start=False)
    except NotRunning:
        say("No Baton daemon is running.")
        return
    _await_end()
    say("The daemon has stopped. The sessions go on, unwatched until the next command starts it again.")


def _await_end() -> None:
    deadline = time.monotonic() + _STOP_WITHIN
    while time.monotonic() < deadline:
        try:
            call("ping", start=False, within=1.0)
        except NotRunning:
            return
        except Refused:
            pass  # it is on its way out: the connection was cut, or it no longer answers
        time.sleep(0.05)
    raise Refused(f"The daemon was asked to stop and still answers after {_STOP_WITHIN:g} s: look at {log_path()}.")


@app.command("run")
def run() -> None:
    """Run the daemon in the foreground; for services and for finding faults."""
    os.environ["BATON_HOME"] = state_home()
    try:
        os.makedirs(state_home(), mode=0o700, exist_ok=True)
        os.chdir(state_home())  # so that it keeps no project's folder in use
    except OSError as problem:
        raise Refused(
            f"Baton's state cannot be kept in {state_home()} ({problem.strerror}): "
            "make the folder writable, or set BATON_HOME to another one."
        ) from None
    raise typer.Exit(importlib.import_module("batonpass.supervisor.daemon").main() or 0)
