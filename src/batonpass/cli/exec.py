"""`baton exec`: one headless run of an agent; its answer, events and usage."""

import asyncio
import os
import signal
import sys
from dataclasses import asdict
from pathlib import Path

import typer

from batonpass import agents
from batonpass.agents.base import LaunchError
from batonpass.agents.headless import HeadlessOrder, HeadlessResult
from batonpass.agents.headless_run import run
from batonpass.agents.wishes import Approval
from batonpass.cli.client import Refused
from batonpass.cli.run import agent_arguments
from batonpass.cli.screen import json_line
from batonpass.cli.words import clean, tokens
from batonpass.transcripts.events import Event


def exec_(
    ctx: typer.Context,
    agent: str = typer.Argument(..., metavar="AGENT", help=f"The agent to run: {', '.join(agents.headless_names())}."),
    prompt: str = typer.Argument(..., metavar="PROMPT", help="What it is to do; - takes it from standard input."),
    resume: str | None = typer.Option(None, "--resume", metavar="ID", help="Go on with this conversation."),
    model: str | None = typer.Option(None, "--model", metavar="M", help="The agent's own name of a model."),
    approval: Approval = typer.Option(
        Approval.ASK,
        "--approval",
        help="What it may do, since nobody can be asked: only read (plan), what it does unasked (ask), change files "
        "in this folder too (edits), everything (all).",
    ),
    timeout: float = typer.Option(600.0, "--timeout", min=0.1, metavar="SECONDS", help="Then it is stopped."),
    json: bool = typer.Option(False, "--json", help="Print each event as a line of JSON; the last one is the result."),
) -> None:
    """Run an agent without a screen: a prompt in, its answer out, its usage on standard error.

    Words after -- go to the agent: baton exec AGENT "Summarise README.md" -- --option-of-its-own
    """
    order = HeadlessOrder(
        prompt=sys.stdin.read() if prompt == "-" else prompt,
        folder=Path.cwd(),
        env=dict(os.environ),
        resume=resume,
        model=model,
        approval=approval,
        args=tuple(agent_arguments(ctx)),
        seconds=timeout,
    )
    if not order.prompt.strip():
        raise Refused("The prompt is empty, so nothing was started.", 2)
    try:
        result = asyncio.run(_until_signalled(agent, order, json))
        _show(result, json)
    except agents.UnknownAgent as unknown:
        raise Refused(str(unknown), 2) from None
    except LaunchError as problem:
        raise Refused(str(problem)) from None
    except BrokenPipeError:  # whoever read this has heard enough, and the agent was stopped
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains when it ends
        raise typer.Exit(1) from None
    if result.error is not None:
        raise typer.Exit(1)


async def _until_signalled(agent: str, order: HeadlessOrder, json: bool) -> HeadlessResult:
    """A run that also ends, with all that it started, when this command is told to end."""
    task = asyncio.create_task(run(agents.headless(agent), order, _print if json else _pass))
    for number in (signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, _cancel_once, task)
    try:
        return await task
    except asyncio.CancelledError:
        raise Refused(f"The run of {agent} was ended from outside; what it started was stopped.") from None


def _cancel_once(task: asyncio.Task[HeadlessResult]) -> None:
    """A second signal must not interrupt the stopping."""
    if not task.cancelling():
        task.cancel()


def _print(event: Event) -> None:
    print(json_line({"event": _name(event), **asdict(event)}), flush=True)


def _pass(event: Event) -> None:
    return


def _name(event: Event) -> str:
    """`ToolCalled` as people and programs read it: tool_called."""
    words = "".join(f"_{c.lower()}" if c.isupper() else c for c in type(event).__name__)
    return words.removeprefix("_")


def _show(result: HeadlessResult, json: bool) -> None:
    if json:
        print(json_line({"event": "result", **asdict(result)}), flush=True)
        return
    if result.text:
        print(clean(result.text, lines=True))
    used = f"{tokens(result.used)} of {tokens(result.window)} tokens used"
    conversation = f"conversation {clean(result.agent_session)}" if result.agent_session else "no conversation"
    typer.echo(f"{result.agent}: {conversation}, {used}", err=True)
    if result.error is not None:
        typer.echo(f"baton: {result.agent} did not finish ({result.error}): {clean(result.detail)}", err=True)
