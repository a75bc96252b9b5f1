"""`baton doctor`: what is missing, and the command that mends it."""

import os
from dataclasses import asdict
from pathlib import Path

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from batonpass.cli.checks import Check, checks
from batonpass.cli.screen import console, print_json
from batonpass.cli.words import clean


def doctor(json: bool = typer.Option(False, "--json", help="Print it as JSON.")) -> None:
    """Say what is missing on this machine, and the command that mends it."""
    found = list(checks(os.environ, Path.cwd()))
    ok = all(check.ok for check in found if check.essential)
    if json:
        print_json({"ok": ok, "checks": [asdict(check) for check in found]})
    else:
        console().print(report(found), soft_wrap=True)
    if not ok:
        raise typer.Exit(1)


def report(found: list[Check]) -> RenderableType:
    """The checks, one line each, with what mends those that fail."""
    lines = []
    for check in found:
        mark, colour = ("✔", "green") if check.ok else ("✘", "bold red") if check.essential else ("!", "yellow")
        lines.append(Text.assemble((f"{mark} {check.name:<14}", colour), clean(check.found)))
        if check.mend:
            lines.append(Text.assemble("  → ", (check.mend, "bold")))
    missing = sum(not check.ok and check.essential for check in found)
    lines.append(Text())
    lines.append(
        Text("Everything that Baton needs is here.", "green")
        if not missing
        else Text(f"{missing} thing{'' if missing == 1 else 's'} must be mended before Baton can work.", "bold red")
    )
    return Group(*lines)
