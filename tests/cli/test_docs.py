"""What README and guide say of the commands is true."""

import re
from pathlib import Path

import pytest
import typer.main

from batonpass.cli.app import front
from batonpass.cli.records import CycleRow, HandoffRow, SessionRow, StepRow

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "guide").glob("*.md"))]
# Handled before the commands for people are even loaded.
FOR_AGENTS = {"hook", "statusline", "become"}


def words() -> set[str]:
    """Every command and every option of a command, as typed after `baton`."""
    known = set(FOR_AGENTS)
    for name, command in typer.main.get_command(front()).commands.items():  # type: ignore[attr-defined]
        parts = {f"{name} {sub}": c for sub, c in getattr(command, "commands", {}).items()} or {name: command}
        for path, leaf in parts.items():
            known |= {path} | {
                f"{path} {option}"
                for p in leaf.params
                for option in (*p.opts, *p.secondary_opts)
                if option.startswith("-")
            }
    return known


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_and_option_that_is_named_exists(page: Path) -> None:
    known = words()
    groups = {path.split()[0] for path in known if " " in path and not path.split()[1].startswith("-")}
    for said in re.findall(r"[`$] ?(?:\.venv/bin/)?baton ((?!on )[a-z][^`#\n]*)", page.read_text(encoding="utf-8")):
        parts = said.split(" -- ")[0].split()
        path = " ".join(parts[: 2 if parts[0] in groups else 1])
        assert path in known, said
        for option in re.findall(r"--[a-z-]+", said.split("-- ARGS")[0].split(" -- ")[0]):
            assert f"{path} {option}" in known, said


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_to_a_page_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_the_commands_page_names_every_json_field() -> None:
    text = (ROOT / "docs" / "guide" / "commands.md").read_text(encoding="utf-8")
    for record in (SessionRow, HandoffRow, CycleRow, StepRow):
        for field in record.__required_keys__:
            assert re.search(rf"[`\s]{field}[`\s]", text), field
