"""Writes what a benchmark found into docs/benchmarks.md: one section each, replaced at the next run."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from _common import ROOT, Table, text_table

PAGE = ROOT / "docs" / "benchmarks.md"
_HEAD = "# Benchmarks\n\nEvery table here was written by the command above it.\n"


def write_section(
    key: str, title: str, command: str, table: Table, where: Mapping[str, str], more: Sequence[str] = (),
    page: Path = PAGE,
) -> None:  # fmt: skip
    """Put a section where the one with that key was, or at the end; the rest of the page stays as it is."""
    machine = ", ".join(f"{name} {value}" for name, value in where.items())
    lines = [f"<!-- {key} -->", f"## {title}", "", command, "", *text_table(table), "", *more, f"On: {machine}."]
    section = "\n".join([*lines, f"<!-- /{key} -->"])
    known = page.read_text(encoding="utf-8") if page.exists() else _HEAD
    place = re.compile(rf"<!-- {re.escape(key)} -->.*?<!-- /{re.escape(key)} -->", re.DOTALL)
    text = place.sub(lambda _: section, known) if place.search(known) else f"{known.rstrip()}\n\n{section}\n"
    page.write_text(text, encoding="utf-8")
