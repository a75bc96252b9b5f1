"""Handoffs as dated files, and the chain they form."""

import os
from pathlib import Path

import pytest

from batonpass.handoff.chain import following, links
from batonpass.handoff.document import Handoff, Section
from batonpass.handoff.layouts import layout
from batonpass.handoff.seal import seal

AT = 1_769_005_845.0  # 2026-01-21 14:30:45 UTC


def sealed(number: int, previous: str | None = None) -> str:
    sections = (Section("Current Task", "Mend it."),)
    return seal(Handoff(number=number, previous=previous, created=int(AT), percent=84, sections=sections)).text


def test_a_handoff_has_its_date_in_its_name(tmp_path: Path) -> None:
    assert layout("files", tmp_path).path_for(AT) == tmp_path / ".bmad/handoffs/handoff-2026-01-21-143045.md"


def test_two_handoffs_of_one_second_have_two_names_in_order(tmp_path: Path) -> None:
    files = layout("files", tmp_path)
    for number in (1, 2, 3):
        files.write(files.path_for(AT), sealed(number))
    assert [path.name for path in files.list()] == [
        "handoff-2026-01-21-143045.md",
        "handoff-2026-01-21-143045-2.md",
        "handoff-2026-01-21-143045-3.md",
    ]
    assert files.latest() == files.list()[-1]


def test_what_is_written_is_whole_and_for_its_owner_only(tmp_path: Path) -> None:
    files = layout("files", tmp_path)
    path = files.path_for(AT)
    files.write(path, "texté\n")
    assert path.read_text(encoding="utf-8") == "texté\n"
    assert path.stat().st_mode & 0o777 == 0o600
    assert os.listdir(path.parent) == [path.name]


def test_writing_the_same_again_is_no_error_and_another_text_is(tmp_path: Path) -> None:
    files = layout("files", tmp_path)
    path = files.path_for(AT)
    files.write(path, "one")
    files.write(path, "one")
    with pytest.raises(FileExistsError, match="it was kept"):
        files.write(path, "two")
    assert path.read_text(encoding="utf-8") == "one"
    assert os.listdir(path.parent) == [path.name]


def test_a_write_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("batonpass.disk.os.fsync", full)
    files = layout("files", tmp_path)
    with pytest.raises(OSError, match="No space left"):
        files.write(files.path_for(AT), "text")
    assert os.listdir(tmp_path / ".bmad/handoffs") == []


def test_a_file_system_without_hard_links_is_written_to_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("batonpass.disk.os.link", refused)
    files = layout("files", tmp_path)
    path = files.path_for(AT)
    files.write(path, "one")
    assert path.read_text(encoding="utf-8") == "one"
    with pytest.raises(FileExistsError):
        files.write(path, "two")
    assert os.listdir(path.parent) == [path.name]


def test_the_shorter_name_is_read_and_other_files_are_not(tmp_path: Path) -> None:
    folder = tmp_path / ".bmad/handoffs"
    (folder / "drafts").mkdir(parents=True)
    for name in (
        "handoff-2026-01-22-14-30.md", "handoff-2026-01-21-143045.md", "HANDOFF_PENDING.md", "notes.md",
        ".handoff-2026-01-23-143045.md.ab12.tmp", "drafts/handoff-2026-01-24-143045.md",
    ):  # fmt: skip
        (folder / name).write_text("x", encoding="utf-8")
    assert [path.name for path in layout("files", tmp_path).list()] == [
        "handoff-2026-01-21-143045.md",
        "handoff-2026-01-22-14-30.md",
    ]


def test_a_project_without_handoffs_has_none(tmp_path: Path) -> None:
    assert layout("files", tmp_path).list() == []
    assert layout("files", tmp_path).latest() is None


def test_batons_own_files_are_told_apart(tmp_path: Path) -> None:
    files = layout("files", tmp_path)
    assert files.owns(".bmad/handoffs/drafts/x.md")
    assert not files.owns(".bmad/handoffs-of-mine/x.md")
    assert not files.owns(".bmad/epics/epic-001.md")


def test_an_unknown_layout_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no layout 'attic'"):
        layout("attic", tmp_path)


def test_the_first_handoff_of_a_chain_has_no_predecessor(tmp_path: Path) -> None:
    assert following(layout("files", tmp_path)) == (1, None)


def test_the_next_handoff_follows_the_last_sealed_one(tmp_path: Path) -> None:
    files = layout("files", tmp_path)
    for number, previous in ((1, None), (2, "handoff-2026-01-21-143046.md")):
        files.write(files.path_for(AT + number), sealed(number, previous))
    changed = files.path_for(AT + 3)
    files.write(changed, sealed(7).replace("Mend", "Break"))
    files.write(files.path_for(AT + 4), "## Current Task\nby hand\n")
    files.write(files.path_for(AT + 5), "no handoff at all")

    assert following(files) == (3, "handoff-2026-01-21-143047.md")
    assert [(link.number, link.previous, link.sealed) for link in links([files])] == [
        (1, None, True),
        (2, "handoff-2026-01-21-143046.md", True),
        (7, None, False),
        (None, None, False),
    ]
