"""`baton handoffs check`: a verdict on a file, without the daemon."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

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
