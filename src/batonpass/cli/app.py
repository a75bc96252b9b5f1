"""The `baton` command: every sub-command in one front, and one place where refusals become exit codes."""

import sys
from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperGroup

from batonpass import __version__
from batonpass.cli import (
    adopt,
    breaker,
    config,
    continue_,
    cycles,
    daemon,
    demo,
    doctor,
    exec,
    handoff,
    handoffs,
    init,
    restore,
    run,
    status,
)
from batonpass.cli.client import Refused
from batonpass.cli.words import clean


class Front(TyperGroup):
    """Turns what a command refuses into one sentence on standard error and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except Refused as refusal:
            typer.echo(f"baton: {clean(refusal.message, lines=True)}", err=True)
            raise typer.Exit(refusal.code) from None
        except KeyboardInterrupt:
            raise typer.Exit(130) from None


app = typer.Typer(
    name="baton",
    cls=Front,
    help="Keeps AI coding agents working across context windows, and proves its handoffs.",
    epilog="Start with `baton run claude`, and see `baton status`. Exit codes: 0 done, 1 failed, "
    "2 wrong usage, 3 the answer is no.",
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)

_WORK = "Work"
_LOOK = "Look"
_CARE = "Set-up and care"


@app.callback()
def _front(
    version: bool = typer.Option(
        False, "--version", is_eager=True, help="Show the version.", callback=lambda v: _version(v)
    ),
) -> None:
    pass


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"baton {__version__}")
        raise typer.Exit


app.command("run", cls=run.WithAgentArguments, rich_help_panel=_WORK)(run.run)
app.command("exec", cls=run.WithAgentArguments, rich_help_panel=_WORK)(exec.exec_)
app.command("adopt", rich_help_panel=_WORK)(adopt.adopt)
app.command("handoff", rich_help_panel=_WORK)(handoff.handoff)
app.command("continue", cls=run.WithAgentArguments, rich_help_panel=_WORK)(continue_.continue_)
app.command("restore", rich_help_panel=_WORK)(restore.restore)
app.command("status", rich_help_panel=_LOOK)(status.status)
app.add_typer(handoffs.app, name="handoffs", rich_help_panel=_LOOK)
app.add_typer(cycles.app, name="cycles", rich_help_panel=_LOOK)
app.add_typer(breaker.app, name="breaker", rich_help_panel=_CARE)
app.command("init", rich_help_panel=_CARE)(init.init)
app.command("uninstall", rich_help_panel=_CARE)(init.uninstall)
app.command("demo", rich_help_panel=_CARE)(demo.demo)
app.command("doctor", rich_help_panel=_CARE)(doctor.doctor)
app.add_typer(config.app, name="config", rich_help_panel=_CARE)
app.add_typer(daemon.app, name="daemon", rich_help_panel=_CARE)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line; the exit code."""
    try:
        app(list(sys.argv[1:] if argv is None else argv), prog_name="baton")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    return 0
