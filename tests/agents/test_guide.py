"""Whoever adds an agent is told of everything that is asked of it."""

import ast
import inspect
from pathlib import Path

import pytest

from batonpass import _hook
from batonpass.agents.base import Agent
from batonpass.agents.headless import Headless, Overheard

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "guide" / "adding-an-agent.md").read_text(encoding="utf-8")
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def _members(protocol: type) -> set[str]:
    defined = {
        name for name, value in vars(protocol).items() if inspect.isfunction(value) or isinstance(value, property)
    }
    return {name for name in {*protocol.__annotations__, *defined} if not name.startswith("_")}


def _roles() -> set[str]:
    """What the hook compares its role with, and the one that it takes where none is given."""
    roles: set[str] = set()
    for node in ast.walk(ast.parse(inspect.getsource(_hook._main))):
        names = [part.id for part in ast.walk(node) if isinstance(part, ast.Name)]
        if isinstance(node, ast.Compare | ast.Assign) and "role" in names:
            roles |= {
                one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str)
            }
    return roles


def test_the_hooks_roles_are_found_where_it_tells_them_apart() -> None:
    assert {"event", "ask", "prime", "compact", "permit", "note"} <= _roles()


@pytest.mark.parametrize("protocol", [Agent, Headless, Overheard])
def test_the_guide_names_everything_that_is_asked_of_an_agent(protocol: type) -> None:
    untold = {name for name in _members(protocol) if f"`{name}`" not in GUIDE}
    assert not untold, f"docs/guide/adding-an-agent.md says nothing of {sorted(untold)}"


@pytest.mark.parametrize("page", [GUIDE, ARCHITECTURE], ids=["guide", "architecture"])
def test_every_role_of_a_hook_has_its_row_in_the_tables(page: str) -> None:
    rows = {row.split("`")[1].split()[0] for row in page.splitlines() if row.startswith("| `")}
    assert not _roles() - rows, f"no row for {sorted(_roles() - rows)}"


def test_every_file_that_the_guide_points_to_is_there() -> None:
    for target in {part.split(")")[0] for part in GUIDE.split("](")[1:]}:
        assert (ROOT / "docs" / "guide" / target).exists(), target
