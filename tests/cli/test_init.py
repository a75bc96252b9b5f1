"""`baton init` and `baton uninstall`: one instruction in the agents' own files, and every other byte as it was."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

LAYOUTS = {
    "files": (".bmad/handoffs/HANDOFF_PENDING.md", "the newest `handoff-*.md` in `.bmad/handoffs/`"),
    "living": ("docs/HANDOFF_PENDING.md", "the handoff is `docs/HANDOFF.md`"),
    "sandbox": ("contexts/sandbox/", "the newest `handoff-*.md` in `contexts/sandbox/"),
}


@pytest.mark.parametrize("before", [None, b"", b"Use tabs.\n", b"Use tabs.", b"Use\r\ntabs.\r\n", b"Use\r\ntabs."])
def test_what_init_adds_uninstall_takes_out(baton: Callable[..., Result], project: Path, before: bytes | None) -> None:
    file = project / "CLAUDE.md"
    if before is not None:
        file.write_bytes(before)
    result = baton("init")
    assert (result.exit_code, result.stdout.splitlines()[-1]) == (0, "CLAUDE.md: Baton's instruction added.")
    added = file.read_bytes()
    assert added.startswith(before or b"")
    assert b"HANDOFF_PENDING.md" in added
    assert baton("init").stdout == "CLAUDE.md: Baton's instruction is up to date.\n"
    assert file.read_bytes() == added
    assert baton("uninstall").stdout.splitlines()[-1] == "CLAUDE.md: Baton's instruction taken out."
    assert (file.read_bytes() if file.exists() else None) == before
    assert baton("uninstall").stdout == "Nothing of Baton's is in this project's agent files.\n"


@pytest.mark.parametrize("layout", LAYOUTS)
def test_it_says_where_handoffs_are_in_this_layout(baton: Callable[..., Result], project: Path, layout: str) -> None:
    (project / ".baton").mkdir(exist_ok=True)
    baton("init")
    (project / ".baton" / "config.yaml").write_text(f"layout: {layout}\n", encoding="utf-8")
    said = baton("init").stdout.splitlines()[-1]
    assert said.endswith("is up to date." if layout == "files" else "brought up to date.")
    text = (project / "CLAUDE.md").read_text(encoding="utf-8")
    assert all(place in text for place in LAYOUTS[layout])
    assert text.count("baton:begin") == 1


def test_the_change_is_shown_before_anything_is_written(baton: Callable[..., Result], project: Path) -> None:
    (project / "AGENTS.md").write_bytes(b"Use tabs.\n")
    result = baton("init", "--agent", "scripted", "--dry-run")
    assert "+++ b/AGENTS.md" in result.stdout
    assert "+## Handoffs between sessions" in result.stdout
    assert "would be added" in result.stdout
    assert (project / "AGENTS.md").read_bytes() == b"Use tabs.\n"


def test_it_is_told_as_json(baton: Callable[..., Result], project: Path) -> None:
    told = json.loads(baton("init", "--agent", "claude", "--agent", "scripted", "--json").stdout)
    assert [(each["agent"], each["change"]) for each in told["files"]] == [("claude", "added"), ("scripted", "added")]
    told = json.loads(baton("uninstall", "--json").stdout)
    assert told["project"] == str(project)
    assert [(Path(each["file"]).name, each["change"]) for each in told["files"]] == [
        ("CLAUDE.md", "removed"),
        ("AGENTS.md", "removed"),
    ]


def test_two_agents_that_share_a_file_get_one_instruction(baton: Callable[..., Result], project: Path) -> None:
    (project / "AGENTS.md").write_bytes(b"Use tabs.\n")
    (project / "CLAUDE.md").symlink_to("AGENTS.md")
    assert baton("init", "--agent", "claude", "--agent", "scripted").exit_code == 0
    assert (project / "AGENTS.md").read_bytes().count(b"baton:begin") == 1
    assert baton("uninstall").exit_code == 0
    assert (project / "AGENTS.md").read_bytes() == b"Use tabs.\n"
    assert os.readlink(project / "CLAUDE.md") == "AGENTS.md"


def test_a_file_that_lies_elsewhere_is_not_touched(
    baton: Callable[..., Result], project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "shared.md"
    outside.write_bytes(b"everybody's")
    (project / "CLAUDE.md").symlink_to(outside)
    result = baton("init")
    assert result.exit_code == 1
    assert "is not touched" in result.stderr
    assert outside.read_bytes() == b"everybody's"


def test_half_a_block_is_refused_with_what_to_do(baton: Callable[..., Result], project: Path) -> None:
    (project / "CLAUDE.md").write_bytes(b"<!-- baton:end -->\n")
    result = baton("init")
    assert (result.exit_code, "take it out by hand" in result.stderr) == (1, True)
    assert (project / "CLAUDE.md").read_bytes() == b"<!-- baton:end -->\n"


def test_an_agent_that_is_not_known_is_wrong_usage(baton: Callable[..., Result], project: Path) -> None:
    assert baton("init", "--agent", "nobody").exit_code == 2
