"""What commands print: plain JSON for programs, tables and sentences for people."""

import json
import sys

from rich.console import Console
from rich.table import Table
from rich.text import Text

from batonpass.cli.words import clean, obeyed


def console() -> Console:
    """Standard output for people. Made anew each time, since tests and pagers replace the stream."""
    return Console(highlight=False)


def print_json(value: object) -> None:
    """The value as JSON on standard output, and nothing else; what a terminal would obey is escaped."""
    sys.stdout.write(_escaped(json.dumps(value, indent=2, ensure_ascii=False)) + "\n")


def json_line(value: object) -> str:
    """The value as one line of JSON, escaped likewise."""
    return _escaped(json.dumps(value, ensure_ascii=False))


def _escaped(text: str) -> str:
    return "".join(c if c == "\n" or not obeyed(c) else json.dumps(c)[1:-1] for c in text)


def say(text: str | Text) -> None:
    """A sentence; its brackets are brackets, not markup."""
    console().print(Text(clean(text, lines=True)) if isinstance(text, str) else text, soft_wrap=True)


def table(*titles: str) -> Table:
    """An open table that wraps nothing but its last column."""
    made = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for title in titles[:-1]:
        made.add_column(title, no_wrap=True)
    made.add_column(titles[-1], overflow="fold")
    return made
