"""The check finds what a document leaves out, and nothing else."""

from pathlib import Path

import pytest

from batonpass.facts import Change, Facts, GitFacts
from batonpass.handoff import names
from batonpass.handoff.check import Gap, check
from batonpass.handoff.markdown import parse

FIXTURES = Path(__file__).parents[1] / "fixtures" / "handoffs"

GOOD = """\
## Current Task
Make the reader survive torn lines, because crashes were seen in the field.

## Progress Summary
### Completed
- Read the tokenizer

### In Progress
- Writing the failing test

### Pending
- Measure

## Active Subagents
None.

## Recent Decisions
- Keep the torn line for the next read, because the writer completes it.

## Files Modified
- src/reader.py (torn lines)
- `docs/a guide.md`: updated
- lib/

## Next Steps
1. Run the tests of the reader

## Important Context
None.

## Links
None.
"""


def facts_with(*paths: str) -> Facts:
    changes = tuple(Change(path, "modified") for path in paths)
    return Facts(1.0, Path("/p"), "claude", None, None, GitFacts("main", "abc", changes=changes))


def gaps(text: str, *dirty: str) -> tuple[Gap, ...]:
    return check(parse(text), facts_with(*dirty), is_own=lambda path: path.startswith(".bmad/handoffs/"))


def test_a_good_document_has_no_gaps() -> None:
    assert gaps(GOOD, "src/reader.py", "docs/a guide.md", "lib/one.py", "lib/deep/two.py") == ()


@pytest.mark.parametrize(
    "title", [names.CURRENT_TASK, names.PROGRESS, names.DECISIONS, names.FILES, names.NEXT_STEPS, names.CONTEXT]
)
def test_a_missing_section_is_found(title: str) -> None:
    text = GOOD.replace(f"## {title}", "## Something else")
    assert [(gap.kind, gap.subject) for gap in gaps(text)] == [("section", title)]


@pytest.mark.parametrize("title", ["Active Subagents", "Links"])
def test_sections_that_need_not_be_there_are_no_gap(title: str) -> None:
    assert gaps(GOOD.replace(f"## {title}\nNone.\n", "")) == ()


def test_an_empty_section_is_found() -> None:
    text = GOOD.replace("- Keep the torn line for the next read, because the writer completes it.\n", "")
    assert [gap.subject for gap in gaps(text)] == [names.DECISIONS]


def test_none_is_no_answer_for_next_steps() -> None:
    found = gaps(GOOD.replace("1. Run the tests of the reader", "None."))
    assert [gap.message for gap in found] == ["The section 'Next Steps' says nothing."]


def test_a_placeholder_is_found() -> None:
    found = gaps(GOOD.replace("- Measure", "- [describe what is pending]"))
    assert [(gap.kind, gap.subject) for gap in found] == [("placeholder", names.PROGRESS)]


def test_a_placeholder_in_code_is_no_gap() -> None:
    assert gaps(GOOD.replace("- Measure", "- Measure with `run [your file]`")) == ()


def test_a_changed_file_that_is_not_mentioned_is_found() -> None:
    found = gaps(GOOD, "src/reader.py", "src/other.py")
    assert found == (Gap("file", "src/other.py", "The changed file src/other.py (modified) is not mentioned."),)


@pytest.mark.parametrize("dirty", ["reader.py", "src/reader.pyi", "src/reader", "other/src/reader.py"])
def test_a_piece_of_another_path_is_no_mention(dirty: str) -> None:
    assert [gap.subject for gap in gaps(GOOD, dirty)] == [dirty]


def test_batons_own_files_never_count() -> None:
    assert gaps(GOOD, ".bmad/handoffs/drafts/7f3a91c2.md") == ()


def test_what_baton_recorded_is_no_mention_by_the_agent() -> None:
    recorded = f"{GOOD}\n## Recorded by Baton\n\n### Git\n- Changed: src/other.py\n"
    assert [gap.subject for gap in gaps(recorded, "src/other.py")] == ["src/other.py"]


def test_no_document_is_one_gap() -> None:
    assert [gap.kind for gap in check(None, facts_with("a.py"), is_own=lambda _: False)] == ["unreadable"]


def test_a_copy_of_the_template_is_found() -> None:
    assert [gap.kind for gap in gaps((FIXTURES / "standard.md").read_text(encoding="utf-8"))] == ["template"]


def test_a_copy_of_the_guide_in_the_ask_is_found() -> None:
    copied = "\n".join(f"## {title}\n{guide}\n" for title, guide in names.GUIDE)
    assert [gap.kind for gap in gaps(copied)] == ["template"]


def test_a_document_that_says_next_to_nothing_is_too_short() -> None:
    short = "\n".join(f"## {title}\nx y\n" for title in names.STANDARD if title != "Links")
    assert [gap.kind for gap in gaps(short)] == ["short"]


def test_the_short_format_is_measured_by_its_own_sections() -> None:
    assert gaps((FIXTURES / "short.md").read_text(encoding="utf-8")) == ()
    without = (FIXTURES / "short.md").read_text(encoding="utf-8").replace("## Critical State", "## Elsewhere")
    assert [gap.subject for gap in gaps(without)] == [names.CONTEXT]
