"""One document, updated in place: nothing that people wrote in it is lost, whatever happens."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from batonpass.config.schema import Settings
from batonpass.disk import write_private
from batonpass.handoff import names
from batonpass.handoff.by_hand import TITLE
from batonpass.handoff.chain import following_of
from batonpass.handoff.document import Handoff, Section
from batonpass.handoff.layouts import every, layout
from batonpass.handoff.layouts.living import HISTORY, LivingLayout
from batonpass.handoff.markdown import parse
from batonpass.handoff.seal import checksum_ok, seal

AT = 1_769_005_845


def document(number: int, task: str = "Mend the reader.", *more: Section) -> Handoff:
    sections = (
        Section(names.CURRENT_TASK, task),
        Section(names.NEXT_STEPS, f"1. Step {number}"),
        Section(names.SUBAGENTS, "None."),
        *more,
    )
    return Handoff(number=number, previous="HANDOFF.md", created=AT + number * 60, session="s1", sections=sections)


def update(living: LivingLayout, handoff: Handoff) -> str:
    path = living.path_for(float(handoff.created or 0))
    text = seal(living.adopt(handoff), titles=living.titles).text
    living.write(path, text)
    return path.read_text(encoding="utf-8")


@pytest.fixture
def living(tmp_path: Path) -> LivingLayout:
    return LivingLayout(tmp_path)


def test_the_document_has_the_names_of_its_layout_and_reads_back_the_same(living: LivingLayout) -> None:
    text = update(living, document(1))
    assert text.startswith("# Orchestration Handoff\n")
    assert "## Next Actions" in text
    assert "## Active Workers" in text
    assert checksum_ok(text) is True
    assert parse(text).section(names.NEXT_STEPS) == "1. (N1) Step 1"
    assert os.stat(living.document).st_mode & 0o777 == 0o600


def test_the_template_is_made_on_first_use_and_never_again(living: LivingLayout) -> None:
    update(living, document(1))
    assert "## Next Actions" in living.template.read_text(encoding="utf-8")
    living.template.write_text("# Mine\n\n## Deploy window\nThursdays\n", encoding="utf-8")
    update(living, document(2))
    assert living.template.read_text(encoding="utf-8").startswith("# Mine")


def test_a_new_document_begins_with_the_sections_of_the_users_template(living: LivingLayout) -> None:
    living.template.parent.mkdir()
    living.template.write_text("# Mine\n\n## Deploy window\nThursdays\n\n## Notes\n<!-- none -->\n", encoding="utf-8")
    assert parse(update(living, document(1))).section("Deploy window") == "Thursdays"


def test_a_section_that_a_person_added_stays(living: LivingLayout) -> None:
    text = update(living, document(1))
    living.document.write_text(text.replace("## Current Task", "## On call\n\nAda, until Friday\n\n## Current Task"),
                               encoding="utf-8")  # fmt: skip
    assert following_of(every(living.project)) == (2, "HANDOFF.md")
    for number in (2, 3):
        text = update(living, document(number))
    assert parse(text).section("On call") == "Ada, until Friday"
    assert checksum_ok(text) is True


def test_a_line_that_a_person_wrote_into_a_section_stays(living: LivingLayout) -> None:
    text = update(living, document(1))
    living.document.write_text(
        text.replace("1. (N1) Step 1", "1. (N1) Step 1\n2. Call the bank first"), encoding="utf-8"
    )
    for number in (2, 3):
        text = update(living, document(number))
    assert parse(text).section(TITLE) == "2. Call the bank first"


def test_both_sides_of_a_conflict_are_kept(living: LivingLayout) -> None:
    text = update(living, document(1))
    sides = "<<<<<<< HEAD\nMend the reader.\n=======\nMend the writer too.\n>>>>>>> other\n"
    more = "<<<<<<< HEAD\n=======\n## On call\n\nBob\n\n>>>>>>> other\n"
    living.document.write_text(text.replace("Mend the reader.\n", sides).replace("## Next", f"{more}## Next"),
                               encoding="utf-8")  # fmt: skip
    text = update(living, document(2))
    assert "Mend the writer too." in text
    assert parse(text).section("On call") == "Bob"
    assert "<<<<<<<" not in text
    assert checksum_ok(text) is True


def test_a_kill_in_the_middle_of_an_update_leaves_the_old_document_whole(
    living: LivingLayout, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = update(living, document(1))

    def killed(path: Path, text: str) -> None:
        path.with_name(f".{path.name}.1234").write_text(text[:40], encoding="utf-8")
        raise KeyboardInterrupt

    monkeypatch.setattr("batonpass.handoff.layouts.living.write_private", killed)
    with pytest.raises(KeyboardInterrupt):
        update(living, document(2))
    assert living.document.read_text(encoding="utf-8") == text
    monkeypatch.setattr("batonpass.handoff.layouts.living.write_private", write_private)
    assert parse(update(living, document(2))).number == 2


def test_a_hundred_updates_and_an_edit_in_the_middle(living: LivingLayout) -> None:
    text = ""
    for number in range(1, 101):
        text = update(living, document(number, f"Task {number}."))
        if number == 50:
            edited = text.replace("## Next Actions", "## On call\n\nAda\n\n## Next Actions")
            living.document.write_text(edited.replace("Task 50.", "Task 50.\nMind the gap."), encoding="utf-8")
    found = parse(text)
    assert (found.number, found.section("On call"), found.section(TITLE)) == (100, "Ada", "- Mind the gap.")
    assert checksum_ok(text) is True
    assert text.count("\n") < 150
    history = (found.section(HISTORY) or "").split("\n")
    assert history[-1].startswith("- #99 ")
    assert len(history) == 60


def test_a_document_that_grew_too_long_is_archived_by_itself(tmp_path: Path) -> None:
    living = LivingLayout(tmp_path, most_lines=40)
    long = replace(document(1), sections=(*document(1).sections, Section(names.DECISIONS, "- x\n" * 60)))
    first = update(living, long)
    update(living, document(2))
    assert [path.read_text(encoding="utf-8") for path in living.archived()] == [first]
    assert living.archived()[0].name == "HANDOFF-2026-01-21-1431.md"
    assert living.archived()[0] in living.commit_paths(living.document)


def test_archiving_by_hand_begins_anew_and_keeps_the_number(living: LivingLayout) -> None:
    first = update(living, document(1))
    put = living.archive(living.document)
    assert put is not None
    assert put.read_text(encoding="utf-8") == first
    assert "<task description>" in living.document.read_text(encoding="utf-8")
    assert following_of(every(living.project)) == (2, put.name)


def test_a_chain_goes_on_when_the_layout_is_changed(tmp_path: Path) -> None:
    for number, name in enumerate(("files", "living", "sandbox", "files"), 1):
        place = layout(name, tmp_path)
        expected, previous = following_of(every(tmp_path))
        assert expected == number
        handoff = replace(document(number), previous=previous)
        path = place.path_for(AT + number)
        place.write(path, seal(place.adopt(handoff), titles=place.titles).text)
    assert following_of(every(tmp_path))[0] == 5


def test_the_folder_of_the_files_layout_is_the_configured_one(tmp_path: Path) -> None:
    place = layout("files", tmp_path, Settings(handoff_dir="docs/passes"))
    assert place.path_for(AT).parent == tmp_path / "docs" / "passes"
    assert place.owns("docs/passes/handoff-2026-01-21-143045.md")


def test_a_sandbox_tells_of_each_handoff_once_in_both_files(tmp_path: Path) -> None:
    project = tmp_path / "ledger"
    project.mkdir()
    place = layout("sandbox", project)
    for number, percent in ((1, 91.0), (2, 98.5)):
        handoff = replace(document(number), percent=percent, epic=".bmad/epics/epic-003-import.md")
        path = place.path_for(AT + number)
        text = seal(handoff).text
        place.write(path, text)
        place.write(path, text)
    folder = project / "contexts" / "sandbox" / "ledger"
    short, detail = ((folder / name).read_text(encoding="utf-8") for name in ("project.md", "epic-003-import.md"))
    assert short.count("## Checkpoint at 91% Capacity (Handoff 1)") == 1
    assert short.count("## EMERGENCY Checkpoint at 98% Capacity (Handoff 2)") == 1
    assert detail.count("### Next Steps") == 2
    assert len(place.list()) == 2
    assert place.owns("contexts/sandbox/ledger/project.md")
