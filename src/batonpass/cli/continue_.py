"""`baton continue`: start a session from a handoff."""

import os
from pathlib import Path

import typer

from batonpass.cli.client import Refused, call
from batonpass.cli.records import StartedSession
from batonpass.cli.run import START_WITHIN, agent_arguments, present


def continue_(
    ctx: typer.Context,
    file: Path | None = typer.Argument(None, help="The handoff document (default: the project's latest)."),
    agent: str = typer.Option("claude", "--agent", help="The agent to start."),
    detach: bool = typer.Option(False, "--detach", "-d", help="Start it and return at once."),
    json: bool = typer.Option(False, "--json", help="Print the session as JSON; does not attach."),
    name: str | None = typer.Option(None, "--name", "-n", help="What to call the session."),
) -> None:
    """Start a session that goes on from a handoff.

    Words after -- go to the agent: baton continue -- --model opus
    """
    if file is not None and not file.is_file():
        raise Refused(f"There is no handoff at {file}; `baton handoffs list` shows those of this project.", 2)
    started: StartedSession = call(
        "continue",
        within=START_WITHIN,
        file=str(file.absolute()) if file else None,
        cwd=os.getcwd(),
        agent=agent,
        args=agent_arguments(ctx),
        env=dict(os.environ),
        name=name,
    )
    present(started, detach=detach, json=json)
