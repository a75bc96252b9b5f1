"""`baton demo`: a whole handoff, live, with no account."""

import importlib

import typer


def demo(
    agent: str = typer.Option("scripted", "--agent", help="scripted, or claude: the real one on a scripted model."),
    keep: bool = typer.Option(False, "--keep", help="Leave project, state and logs where they are, and say where."),
) -> None:
    """Watch a whole handoff, live. Needs no account and changes nothing of yours."""
    # Imported only here: the simulation is heavy, and no other command needs it.
    raise typer.Exit(importlib.import_module("batonpass.sim.demo").run(agent, keep=keep))
