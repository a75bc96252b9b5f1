"""History is put away and deleted in its time, and never what is still needed; the chain tells a story."""

import os
from pathlib import Path

import pytest

from batonpass.handoff.document import Handoff, Section
from batonpass.handoff.layouts import every, layout
from batonpass.handoff.retention import carry_out, plan
from batonpass.handoff.seal import seal
from batonpass.handoff.story import story

AT = 1_769_005_845
DAY = 86_400
DONE, NOW = ".bmad/epics/epic-001-old.md", ".bmad/epics/epic-002-new.md"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".bmad" / "epics").mkdir(parents=True)
    (tmp_path / DONE).write_text("# Old\n- [x] all\n", encoding="utf-8")
    (tmp_path / NOW).write_text("# New\n- [ ] more\n", encoding="utf-8")
    return tmp_path


def hand_over(project: Path, number: int, epic: str | None, previous: str | None = None, progress: str = "") -> Path:
    place = layout("files", project)
    sections = (Section("Current Task", f"Task {number}."), Section("Progress Summary", progress or "- x"))
    path = place.path_for(AT + number)
    document = Handoff(number=number, created=AT + number, epic=epic, previous=previous, sections=sections)
    place.write(path, seal(document).text)
    return path


def test_handoffs_of_a_complete_epic_are_archived_and_the_latest_stays(project: Path) -> None:
    first, second = hand_over(project, 1, DONE), hand_over(project, 2, NOW)
    third = hand_over(project, 3, DONE)
    place = layout("files", project)
    archived, deleted = carry_out(place, plan(place, retention_days=90, now=AT + DAY))
    assert ([path.name for path in archived], deleted) == ([first.name], [])
    assert place.list() == [second, third]
    assert [path.name for path in place.archived()] == [first.name]


def test_archived_handoffs_are_deleted_when_they_are_old_and_not_needed(project: Path) -> None:
    place = layout("files", project)
    old, needed, current = hand_over(project, 1, DONE), hand_over(project, 2, DONE), hand_over(project, 3, NOW)
    for path in (old, needed, current):
        place.archive(path)
    hand_over(project, 4, NOW, previous=needed.name)
    assert plan(place, retention_days=90, now=AT + 89 * DAY).delete == ()
    due = plan(place, retention_days=90, now=AT + 91 * DAY)
    assert [path.name for path in due.delete] == [old.name]
    _, deleted = carry_out(place, due)
    assert not os.path.exists(deleted[0])


def test_files_of_others_in_the_archive_are_left_alone(project: Path) -> None:
    folder = project / ".bmad" / "handoffs" / "archive"
    folder.mkdir(parents=True)
    (folder / "handoff-2001-01-01-000000.md").write_text("my own notes", encoding="utf-8")
    assert plan(layout("files", project), retention_days=1, now=AT).delete == ()


def test_the_chain_tells_what_was_done_between_each(project: Path) -> None:
    hand_over(project, 1, NOW, progress="### Completed\n- Read it\n\n### Pending\n- Write it")
    hand_over(project, 2, NOW, progress="### Completed\n- Read it\n- Write it\n\n### Pending\n- Measure it")
    place = layout("files", project)
    place.archive(place.list()[0])
    told = story(every(project))
    assert [(chapter.number, chapter.task, chapter.done, chapter.left) for chapter in told] == [
        (1, "Task 1.", ("Read it",), ("Write it",)),
        (2, "Task 2.", ("Write it",), ("Measure it",)),
    ]


def test_a_living_document_tells_of_handoffs_that_it_took_the_place_of(project: Path) -> None:
    place = layout("living", project)
    for number in (1, 2, 3):
        document = Handoff(number=number, created=AT + number, sections=(Section("Current Task", f"Task {number}."),))
        place.write(place.path_for(AT), seal(place.adopt(document), titles=place.titles).text)
    assert [(chapter.number, chapter.task, chapter.path is None) for chapter in story(every(project))] == [
        (1, "Task 1.", True), (2, "Task 2.", True), (3, "Task 3.", False),
    ]  # fmt: skip
