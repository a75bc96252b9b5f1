"""`baton config`: every setting, its value, and where it comes from. Needs no daemon."""

import json as json_
import os
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import RenderableType
from rich.text import Text

from batonpass.cli.client import Refused, state_home
from batonpass.cli.screen import console, print_json, table
from batonpass.cli.words import clean, near

if TYPE_CHECKING:
    from batonpass.config import Row

app = typer.Typer(help="Every setting, and where it comes from.", no_args_is_help=True)


@app.command("show")
def show(
    json: bool = typer.Option(False, "--json", help="Print it as JSON."),
    schema: bool = typer.Option(False, "--schema", help="Print the JSON schema of config.yaml, for editors."),
) -> None:
    """Show every setting for this folder's project, its value, and the line that set it."""
    # Imported only here: reading and checking settings is slow to load, and no other command needs it.
    from batonpass.config import ConfigError, explain, json_schema, load
    from batonpass.project import find

    if schema:
        print_json(json_schema())
        return
    root = find(Path.cwd()).root
    try:
        rows = explain(load(root, Path(state_home()), os.environ))
    except ConfigError as error:
        raise Refused(f"The configuration has mistakes; mend them and try again.\n{error}") from None
    if json:
        print_json([row._asdict() for row in rows])
    else:
        console().print(listing(rows, root=root, home=Path.home()))


def listing(rows: "list[Row]", *, root: Path, home: Path) -> RenderableType:
    """Settings as a table, with files named as seen from the project; what somebody set stands out."""
    shown = table("SETTING", "VALUE", "FROM")
    for row in rows:
        style = "dim" if row.origin == "default" else "bold"
        value = row.value if isinstance(row.value, str) else json_.dumps(row.value, ensure_ascii=False)
        origin = clean(row.origin).removeprefix(f"{root}/")
        shown.add_row(Text(row.key, style), Text(clean(value), style), Text(near(origin, home), style))
    return shown
