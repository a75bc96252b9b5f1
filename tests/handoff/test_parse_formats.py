"""Documents that people and agents write by hand are read too."""

from pathlib import Path

import pytest

from batonpass.handoff.markdown import NotAHandoff, parse, render

FIXTURES = Path(__file__).parents[1] / "fixtures" / "handoffs"


def fixture(name: str) -> str:
    return (FIXTURES / name).read_text(encoding="utf-8")


def test_the_standard_template_is_read_with_all_its_sections() -> None:
    handoff = parse(fixture("standard.md"))
    assert (handoff.used, handoff.usable, handoff.percent) == (140_000, 200_000, 70.0)
    assert (handoff.project, handoff.epic) == ("consilio-s", "epic-012-authentication-system.md")
    assert [section.title for section in handoff.sections] == [
        "Current Task",
        "Progress Summary",
        "Active Subagents",
        "Recent Decisions",
        "Files Modified",
        "Next Steps",
        "Important Context",
        "Links",
    ]
    assert handoff.instructions.startswith("1. Read this handoff document completely")


def test_the_short_format_is_read_under_the_standard_names() -> None:
    handoff = parse(fixture("short.md"))
    assert handoff.percent == 87.0
    assert [section.title for section in handoff.sections] == [
        "Current Task",
        "Progress Summary",
        "Next Steps",
        "Important Context",
        "Blockers",
        "Notes",
    ]
    assert (handoff.section("Progress Summary") or "").startswith("### Completed\n\n- [ ] Created database")
    assert "migration 005 applied" in (handoff.section("Important Context") or "")


def test_the_living_template_is_read() -> None:
    handoff = parse(fixture("living-template.md"))
    assert handoff.section("Next Steps") == "<!-- What the next session should do first -->"
    assert handoff.section("Active Subagents") is not None


@pytest.mark.parametrize("name", ["standard.md", "short.md", "living-template.md"])
def test_every_format_survives_being_written_in_the_standard_layout(name: str) -> None:
    handoff = parse(fixture(name))
    assert parse(render(handoff)) == handoff


def test_missing_sections_stay_missing() -> None:
    handoff = parse("## Current Task\nMend it.\n")
    assert [section.title for section in handoff.sections] == ["Current Task"]
    assert handoff.section("Next Steps") is None


def test_a_document_in_one_code_fence_is_read() -> None:
    assert (
        parse("```markdown\n# Context Handoff\n\n## Current Task\nMend it.\n```").section("current task") == "Mend it."
    )


def test_headings_inside_a_fence_are_no_sections() -> None:
    handoff = parse("## Current Task\n```\n## Not a section\n```\n## Notes\nx\n")
    assert [section.title for section in handoff.sections] == ["Current Task", "Notes"]


def test_numbered_and_decorated_headings_are_understood() -> None:
    handoff = parse("## 1. Current Task:\na\n## ✅ Next Steps\nb\n## current  task\nc\n")
    assert [(section.title, section.body) for section in handoff.sections] == [
        ("Current Task", "a\n\nc"),
        ("Next Steps", "b"),
    ]


def test_a_field_that_cannot_be_understood_is_kept_as_it_is_written() -> None:
    handoff = parse("**Created**: yesterday\n**Mood:** fine\n\n## Current Task\na\n")
    assert handoff.created is None
    assert handoff.headers == (("Created (as written)", "yesterday"), ("Mood", "fine"))


@pytest.mark.parametrize("text", ["", "I will do that later.", "%PDF-1.4 \x01", "# Title only\n\nprose"])
def test_a_text_without_sections_is_no_handoff(text: str) -> None:
    with pytest.raises(NotAHandoff, match="no section"):
        parse(text)
