"""`baton run`: start an agent under supervision, in tmux, and attach."""

import os
import shutil
import sys
from typing import Any

import typer
from typer.core import TyperCommand

from batonpass import agents
from batonpass.cli.client import Refused, call
from batonpass.cli.records import StartedSession
from batonpass.cli.screen import print_json, say
from batonpass.cli.words import clean

# The agent is started and its pane opened before the daemon answers.
START_WITHIN = 90.0
_REST = "batonpass.agent_arguments"


class WithAgentArguments(TyperCommand):
    """A command whose words after `--` all belong to the agent, whatever they look like."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if "--" in args:
            cut = args.index("--")
            args, ctx.meta[_REST] = args[:cut], args[cut + 1 :]
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [*super().collect_usage_pieces(ctx), "[-- ARGS]"]


def run(
    ctx: typer.Context,
    agent: str = typer.Argument(agents.FIRST, metavar="AGENT", help="The agent to start."),
    detach: bool = typer.Option(False, "--detach", "-d", help="Start it and return at once."),
    json: bool = typer.Option(False, "--json", help="Print the session as JSON; does not attach."),
    name: str | None = typer.Option(None, "--name", "-n", help="What to call the session (default: its folder)."),
    ladder: str | None = typer.Option(None, "--ladder", help="When to hand off: early, graduated, tokens or staged."),
) -> None:
    """Start an agent under supervision, in tmux, and attach.

    Words after -- go to the agent: baton run AGENT -- --model NAME
    """
    size = shutil.get_terminal_size((200, 50))
    started: StartedSession = call(
        "run",
        within=START_WITHIN,
        agent=agent,
        args=agent_arguments(ctx),
        cwd=os.getcwd(),
        env=dict(os.environ),
        name=name,
        ladder=ladder,
        width=size.columns,
        height=size.lines,
    )
    present(started, detach=detach, json=json)


def agent_arguments(ctx: typer.Context) -> list[str]:
    """The words after `--` of the command line."""
    rest: list[str] = ctx.meta.get(_REST, [])
    return rest


def present(started: StartedSession, *, detach: bool, json: bool) -> None:
    """Show a session that was just started: as JSON, by attaching to it, or by saying how to."""
    notice = started.get("notice")
    if notice and not json:
        say(f"{clean(notice)}.")
    if json:
        print_json(started)
    elif not detach and sys.stdin.isatty() and sys.stdout.isatty():
        attach(started["attach"])
    else:
        say(f"Session {clean(started['name'])} ({started['session']}) runs {clean(started['agent'])}.")
        say(f"Look at it with: {' '.join(started['attach'])}")


def attach(argv: list[str]) -> None:
    """Become the command that shows the session; it does not return."""
    try:
        os.execvp(argv[0], argv)
    except OSError as problem:
        raise Refused(
            f"The session runs, but it cannot be shown here ({argv[0]}: {problem.strerror}); "
            "see it with `baton status`."
        ) from None
