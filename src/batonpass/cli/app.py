"""The `baton` command: every sub-command in one front, and one place where refusals become exit codes.

A command line loads the module of its own command and no other: what people type often answers at once.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

from batonpass import __version__
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


@dataclass(frozen=True)
class Command:
    """One word after `baton`: the module and the name in it that make it, and where help lists it."""

    name: str
    module: str
    made_by: str
    panel: str
    takes_agent_arguments: bool = False

    def join(self, app: typer.Typer) -> None:
        made = getattr(import_module(f"batonpass.cli.{self.module}"), self.made_by)
        if isinstance(made, typer.Typer):
            app.add_typer(made, name=self.name, rich_help_panel=self.panel)
        elif self.takes_agent_arguments:
            kind = import_module("batonpass.cli.run").WithAgentArguments
            app.command(self.name, cls=kind, rich_help_panel=self.panel)(made)
        else:
            app.command(self.name, rich_help_panel=self.panel)(made)


_WORK = "Work"
_LOOK = "Look"
_CARE = "Set-up and care"
COMMANDS = (
    Command("run", "run", "run", _WORK, takes_agent_arguments=True),
    Command("exec", "exec", "exec_", _WORK, takes_agent_arguments=True),
    Command("adopt", "adopt", "adopt", _WORK),
    Command("handoff", "handoff", "handoff", _WORK),
    Command("continue", "continue_", "continue_", _WORK, takes_agent_arguments=True),
    Command("restore", "restore", "restore", _WORK),
    Command("status", "status", "status", _LOOK),
    Command("handoffs", "handoffs", "app", _LOOK),
    Command("cycles", "cycles", "app", _LOOK),
    Command("breaker", "breaker", "app", _CARE),
    Command("init", "init", "init", _CARE),
    Command("uninstall", "init", "uninstall", _CARE),
    Command("demo", "demo", "demo", _CARE),
    Command("doctor", "doctor", "doctor", _CARE),
    Command("config", "config", "app", _CARE),
    Command("daemon", "daemon", "app", _CARE),
)


def front(asked: str | None = None) -> typer.Typer:
    """All commands, or the one that is asked for; an unknown word gets all of them, to name the nearest."""
    app = typer.Typer(
        name="baton",
        cls=Front,
        help="Keeps AI coding agents working across context windows, and proves its handoffs.",
        epilog="Start with `baton run`, and see `baton status`. Exit codes: 0 done, 1 failed, "
        "2 wrong usage, 3 the answer is no.",
        no_args_is_help=True,
        add_completion=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        pretty_exceptions_enable=False,
    )
    app.callback()(_front)
    for command in [one for one in COMMANDS if one.name == asked] or COMMANDS:
        command.join(app)
    return app


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


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line; the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        front(words[0] if words else None)(words, prog_name="baton")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    return 0
