"""`baton continue`: start a session from a handoff."""

import os
from pathlib import Path

import typer

from batonpass.cli.client import Refused, call
from batonpass.cli.records import StartedSession, Written
from batonpass.cli.run import START_WITHIN, agent_arguments, present
from batonpass.cli.screen import print_json, say
from batonpass.cli.words import clean

_RESCUED_WITHIN = 180.0 + START_WITHIN


def continue_(
    ctx: typer.Context,
    file: Path | None = typer.Argument(None, help="The handoff document (default: the project's latest)."),
    source: str | None = typer.Option(
        None,
        "--from",
        metavar="SESSION",
        help="Rescue a session that is dead or stuck at its limit: write its handoff from its record and the project "
        "alone, and go on from that. A session's id or name, or an agent's conversation id or transcript.",
    ),
    start: bool = typer.Option(True, "--start/--no-start", help="With --from: only write the handoff."),
    agent: str | None = typer.Option(None, "--agent", help="The agent to start (default: the same again)."),
    detach: bool = typer.Option(False, "--detach", "-d", help="Start it and return at once."),
    json: bool = typer.Option(False, "--json", help="Print the session as JSON; does not attach."),
    name: str | None = typer.Option(None, "--name", "-n", help="What to call the session."),
) -> None:
    """Start a session that goes on from a handoff, or from what is left of a session.

    Words after -- go to the agent: baton continue -- --model opus
    """
    if file is not None and source is not None:
        raise Refused("Give a handoff or --from SESSION, not both.", 2)
    if not start and source is None:
        raise Refused("--no-start goes with --from SESSION: there is nothing else to write.", 2)
    if file is not None and not file.is_file():
        raise Refused(f"There is no handoff at {file}; `baton handoffs list` shows those of this project.", 2)
    answer = call(
        "continue",
        within=_RESCUED_WITHIN if source else START_WITHIN,
        file=str(file.absolute()) if file else None,
        cwd=os.getcwd(),
        agent=agent,
        args=agent_arguments(ctx),
        env=dict(os.environ),
        name=name,
        only_write=not start,
        rescue=_meant(source) if source else None,
    )
    if start:
        started: StartedSession = answer
        present(started, detach=detach, json=json)
    else:
        _written(answer, json=json)


def _meant(source: str) -> str:
    """A transcript by its whole path; anything else as it was typed."""
    return os.path.abspath(source) if source.endswith(".jsonl") else source


def _written(answer: Written, *, json: bool) -> None:
    if json:
        print_json(answer)
        return
    document = clean(answer["document"])
    say(f"The handoff of {clean(answer['name'])} is written: {document}")
    say(f"Go on from it with: baton continue {document}")
