"""`baton demo`: a whole handoff, live, with no account."""

import importlib

import typer


def demo(
    agent: str | None = typer.Option(
        None, "--agent", help="The real agent of this name, on a scripted model; without it the agent is scripted too."
    ),
    keep: bool = typer.Option(False, "--keep", help="Leave project, state and logs where they are, and say where."),
) -> None:
    """Watch a whole handoff, live. Needs no account and changes nothing of yours."""
    # Imported only here: the simulation is heavy, and no other command needs it.
    show = importlib.import_module("batonpass.sim.demo")
    raise typer.Exit(show.run(agent or show.AGENTS[0], keep=keep))
