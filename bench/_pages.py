"""Writes what a long run found into docs/benchmarks.md, between the marks that the page has for it."""

import json
import re
from pathlib import Path

from _common import ROOT, Figures, Table, machine, text_table

PAGE = ROOT / "docs" / "benchmarks.md"


def write_block(key: str, command: str, table: Table, figures: Figures, picture: str = "", page: Path = PAGE) -> None:
    """Replace what stands between the page's marks of that key, or add it at the end; all else stays as it is."""
    where = ", ".join(f"{name} {value}" for name, value in machine().items())
    shown = [f"![{key} over time]({picture})", ""] if picture else []
    block = [f"`{command}` ({where})", "", *text_table(table), "", *shown, "```json", json.dumps(figures), "```"]
    text = "\n".join([f"<!-- {key} -->", *block, f"<!-- /{key} -->"])
    known = page.read_text(encoding="utf-8") if page.exists() else "# Benchmarks\n"
    place = re.compile(rf"<!-- {re.escape(key)} -->.*?<!-- /{re.escape(key)} -->", re.DOTALL)
    whole = place.sub(lambda _: text, known) if place.search(known) else f"{known.rstrip()}\n\n{text}\n"
    page.write_text(whole, encoding="utf-8")
