"""History is put away and deleted in its time, and never what is still needed; the chain tells a story."""

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from batonpass.config import Config
from batonpass.handoff.chain import following_of
from batonpass.handoff.document import Handoff, Section
from batonpass.handoff.layouts import every, layout
from batonpass.handoff.retention import carry_out, plan, tidy
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


def checkpoint(project: Path, number: int, days: float) -> Path:
    """A checkpoint by its name, as old as that many days at AT."""
    stamp = datetime.fromtimestamp(AT - days * DAY, UTC).strftime("%Y%m%dT%H%M%SZ")
    path = project / "tmp" / "context-checkpoints" / f"session{number}-scripted-87p-{stamp}.json.gz"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x")
    return path


def point_to(project: Path, number: int, session: str, epic: str | None, target: Path) -> None:
    """A handoff that names a checkpoint as its full record."""
    place = layout("files", project)
    parts = (Section("Current Task", f"Task {number}."), Section("Links", f"- Full record (checkpoint): {target}"))
    document = Handoff(number=number, created=AT + number, epic=epic, session=session, sections=parts)
    place.write(place.path_for(AT + number), seal(document).text)


def test_checkpoints_go_after_their_days_unless_a_handoff_in_use_points_to_them(project: Path) -> None:
    epics, last, passed, loose, young = (checkpoint(project, n, days) for n, days in enumerate((9, 9, 9, 9, 6)))
    point_to(project, 1, "a", NOW, epics)
    point_to(project, 2, "b", None, passed)
    point_to(project, 3, "b", None, last)
    strange = project / "tmp" / "context-checkpoints" / "notes.json.gz"
    strange.write_bytes(b"mine")
    assert tidy(project, Config(), AT, dry_run=True).checkpoints == [passed, loose]
    assert passed.exists()
    assert tidy(project, Config(), AT).checkpoints == [passed, loose]
    left = {path for path in (epics, last, passed, loose, young, strange) if path.exists()}
    assert left == {epics, last, young, strange}
    assert tidy(project, Config(checkpoint_retention_days=30), AT).checkpoints == []


def test_a_checkpoint_folder_that_leads_elsewhere_is_left_alone(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    old = checkpoint(project, 1, 99).rename(elsewhere / "s-scripted-87p-20200101T000000Z.json.gz")
    (project / "tmp" / "context-checkpoints").rmdir()
    (project / "tmp" / "context-checkpoints").symlink_to(elsewhere)
    assert tidy(project, Config(), AT).checkpoints == []
    assert old.exists()


def test_the_last_handoff_of_a_chain_is_kept_however_old_it_is(project: Path) -> None:
    place = layout("files", project)
    for number in (1, 2):
        place.archive(hand_over(project, number, DONE))
    done = tidy(project, Config(), AT + 200 * DAY)
    assert [path.name for path in done.deleted] == [place.path_for(AT + 1).name]
    assert following_of(every(project)) == (3, place.path_for(AT + 2).name)


def test_a_predecessor_in_another_layout_is_kept(project: Path) -> None:
    place = layout("files", project)
    for number in (1, 2):
        place.archive(hand_over(project, number, DONE))
    needed = place.archived()[0]
    living = layout("living", project)
    task = (Section("Current Task", "Task 3."),)
    living.write(living.path_for(AT), seal(Handoff(number=3, previous=needed.name, created=AT, sections=task)).text)
    done = tidy(project, Config(layout="living", auto_commit=False), AT + 200 * DAY)
    assert [path.name for path in done.deleted] == [place.path_for(AT + 2).name]
    assert needed.exists()


def test_what_is_put_away_is_committed_and_nothing_else(project: Path) -> None:
    git = ["git", "-C", str(project)]
    first = hand_over(project, 1, DONE)
    hand_over(project, 2, NOW)
    (project / "mine.py").write_text("x = 1\n", encoding="utf-8")
    for words in ("init -q", "config user.name a", "config user.email a@example.org", "add -A", "commit -qm first"):
        subprocess.run([*git, *words.split()], check=True, capture_output=True)
    (project / "mine.py").write_text("x = 2\n", encoding="utf-8")
    subprocess.run([*git, "add", "mine.py"], check=True)
    done = tidy(project, Config(auto_commit=True), AT + DAY)
    assert (len(done.archived), done.note) == (1, None)
    show = [*git, "show", "--name-only", "--no-renames", "--format=%s"]
    shown = subprocess.run(show, check=True, capture_output=True)
    moved = {str(path.relative_to(project)) for path in (first, done.archived[0])}
    assert set(shown.stdout.decode().split("\n")[1:]) - {""} == moved
    staged = subprocess.run([*git, "diff", "--cached", "--name-only"], check=True, capture_output=True)
    assert staged.stdout.decode().split() == ["mine.py"]
