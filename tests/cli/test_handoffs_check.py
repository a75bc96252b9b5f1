"""`baton handoffs check`: a verdict on a file, without the daemon."""

import json
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import Result

from batonpass.handoff.layouts import layout
from batonpass.handoff.markdown import parse
from batonpass.handoff.seal import seal

DOCUMENT = """\
## Current Task
Make the reader survive torn lines, because crashes were seen in the field and people lost their last prompt.

## Progress Summary
### Pending
- Measure a file of a million lines

## Recent Decisions
- Keep the torn bytes, because a character may be cut in two.

## Files Modified
- reader.py (keeps what is torn)

## Next Steps
1. Run the tests of the reader

## Important Context
None.
"""


@pytest.fixture
def handoff(project: Path) -> Path:
    subprocess.run(["git", "init", "-q", "-b", "torn", str(project)], check=True, capture_output=True)
    (project / "reader.py").write_text("torn\n", encoding="utf-8")
    path = project / ".bmad" / "handoffs" / "handoff-2026-01-20-141523.md"
    path.parent.mkdir(parents=True)
    path.write_text(seal(parse(DOCUMENT)).text, encoding="utf-8")
    return path


def test_a_sound_document_passes(baton: Callable[..., Result], handoff: Path) -> None:
    result = baton("handoffs", "check", str(handoff))
    assert result.exit_code == 0
    assert "100 of 100, sealed; nothing is missing." in result.output


def test_what_is_missing_is_said_in_words_that_can_be_acted_on(
    baton: Callable[..., Result], project: Path, handoff: Path
) -> None:
    (project / "other.py").write_text("new\n", encoding="utf-8")
    result = baton("handoffs", "check", str(handoff))
    assert result.exit_code == 3
    assert "- The changed file other.py (untracked) is not mentioned." in result.output


def test_the_findings_are_there_for_programs_too(baton: Callable[..., Result], project: Path, handoff: Path) -> None:
    handoff.write_text(handoff.read_text(encoding="utf-8").replace("million", "billion"), encoding="utf-8")
    result = baton("handoffs", "check", "--json", str(handoff))
    found = json.loads(result.output)
    assert result.exit_code == 3
    assert (found["ok"], found["score"], found["sealed"], found["project"]) == (False, 80, False, str(project))
    assert [gap["kind"] for gap in found["gaps"]] == ["checksum"]


def test_a_file_that_is_not_there_is_wrong_usage(baton: Callable[..., Result], project: Path) -> None:
    result = baton("handoffs", "check", "nothing.md")
    assert result.exit_code == 2
    assert "cannot be checked: No such file" in result.output


def test_the_chain_is_a_story(baton: Callable[..., Result], handoff: Path) -> None:
    document = replace(parse(DOCUMENT), number=1, created=1_769_005_845, percent=84.0)
    handoff.write_text(seal(document).text, encoding="utf-8")
    result = baton("handoffs", "chain")
    assert result.exit_code == 0
    assert "#1  2026-01-21T14:30:45Z at 84 %  .bmad/handoffs/handoff-2026-01-20-141523.md" in result.output
    assert "left open: 1, first: Measure a file of a million lines" in result.output
    assert json.loads(baton("handoffs", "chain", "--json").output)[0]["number"] == 1


def test_a_handoff_is_archived_by_hand(baton: Callable[..., Result], handoff: Path) -> None:
    result = baton("handoffs", "archive")
    assert result.exit_code == 0
    assert "is now .bmad/handoffs/archive/handoff-2026-01-20-141523.md." in result.output
    assert not handoff.exists()
    assert baton("handoffs", "archive").exit_code == 3


def test_a_living_document_is_archived_with_a_commit_of_its_own_files(
    baton: Callable[..., Result], project: Path, handoff: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "a")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "a@example.org")
    (project / ".baton").mkdir()
    (project / ".baton" / "config.yaml").write_text("layout: living\n", encoding="utf-8")
    living = layout("living", project)
    document = replace(parse(DOCUMENT), number=1, created=1_769_005_845)
    living.write(living.path_for(0), seal(document).text)
    subprocess.run(["git", "-C", str(project), "add", "reader.py"], check=True)
    result = baton("handoffs", "archive")
    assert "It is committed." in result.output
    log = subprocess.run(
        ["git", "-C", str(project), "show", "--name-only", "--format="], check=True, capture_output=True
    )
    assert sorted(log.stdout.decode().split()) == [
        "docs/HANDOFF-archive/HANDOFF-2026-01-21-1430.md", "docs/HANDOFF-template.md", "docs/HANDOFF.md",
    ]  # fmt: skip


def test_cleaning_says_what_it_would_do(baton: Callable[..., Result], project: Path, handoff: Path) -> None:
    folder = handoff.parent / "archive"
    folder.mkdir()
    old, last = (folder / f"handoff-2001-01-01-00000{number}.md" for number in (1, 2))
    for number, path in ((1, old), (2, last)):
        path.write_text(seal(replace(parse(DOCUMENT), number=number, created=978_307_200)).text, encoding="utf-8")
    assert f"would be deleted: .bmad/handoffs/archive/{old.name}" in baton("handoffs", "clean", "--dry-run").output
    assert old.exists()
    assert json.loads(baton("handoffs", "clean", "--json").output)["deleted"] == [str(old)]
    assert not old.exists()
    assert "Nothing is old enough" in baton("handoffs", "clean").output
