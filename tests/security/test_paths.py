"""Links and paths that lead astray: what Baton reads and writes stays where it belongs."""

import json
import os
from pathlib import Path

import pytest

from batonpass import _hook
from batonpass.agents import get
from batonpass.cycle.closing import leave_pending
from batonpass.cycle.writing import read_draft
from batonpass.disk import (
    Outside,
    keep_out_of_git,
    make_inside,
    read_document,
    stay_inside,
    write_once,
    write_private,
)
from batonpass.handoff.instructions import PENDING_FILE
from batonpass.handoff.layouts import FilesLayout
from batonpass.serve.api import Refusal
from batonpass.serve.documents import chosen, project_of
from batonpass.store import HandoffRecord, default_url, open_store
from batonpass.store.records import Author
from batonpass.supervisor.offers import Offers
from tests.store.samples import SESSION

DOCUMENT = "## Current Task\n\nthe reader\n\n## Next Steps\n\n1. go on\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder that is none of the project's business, and must stay empty."""
    (tmp_path / "outside").mkdir()
    return tmp_path / "outside"


@pytest.mark.parametrize("link", [".bmad", ".bmad/handoffs"])
def test_a_handoff_is_not_written_through_a_link_out_of_the_project(project: Path, outside: Path, link: str) -> None:
    (project / link).parent.mkdir(exist_ok=True)
    (project / link).symlink_to(outside)
    layout = FilesLayout(project)
    with pytest.raises(Outside, match="leads out of") as told:
        layout.write(layout.path_for(1.8e9), DOCUMENT)
    assert str(outside) in str(told.value)
    assert list(outside.iterdir()) == []


def test_a_link_that_stays_in_the_project_is_followed(project: Path) -> None:
    (project / "docs").mkdir()
    (project / ".bmad").symlink_to(project / "docs")
    layout = FilesLayout(project)
    layout.write(layout.path_for(1.8e9), DOCUMENT)
    assert layout.latest() is not None


def test_a_name_that_is_a_link_is_no_free_name_for_a_handoff(project: Path, outside: Path) -> None:
    layout = FilesLayout(project)
    first = layout.path_for(1.8e9)
    first.parent.mkdir(parents=True)
    first.symlink_to(outside / "there")
    assert layout.path_for(1.8e9) != first
    with pytest.raises(FileExistsError):
        layout.write(first, DOCUMENT)
    assert list(outside.iterdir()) == []


def test_a_folder_for_drafts_or_checkpoints_is_not_made_through_a_link(project: Path, outside: Path) -> None:
    (project / ".baton").symlink_to(outside)
    with pytest.raises(Outside):
        make_inside(project, project / ".baton" / "drafts" / "7f3a91c2")
    (project / "tmp").symlink_to("..")
    with pytest.raises(Outside):
        stay_inside(project, project / "tmp" / "context-checkpoints")
    assert list(outside.iterdir()) == []


def test_a_marker_for_git_is_not_written_through_a_link_that_leads_nowhere(project: Path, outside: Path) -> None:
    (project / ".gitignore").symlink_to(outside / "made")
    write_once(project / ".gitignore", "*\n")
    keep_out_of_git(project)
    assert list(outside.iterdir()) == []


def test_a_pending_file_that_is_a_link_is_replaced_and_not_followed(project: Path, outside: Path) -> None:
    (outside / "precious").write_text("mine", encoding="utf-8")
    (project / PENDING_FILE).symlink_to(outside / "precious")
    leave_pending(project / "handoff-2027-01-15-080000.md", "nobody came")
    assert (outside / "precious").read_text(encoding="utf-8") == "mine"
    assert not (project / PENDING_FILE).is_symlink()
    assert (project / PENDING_FILE).stat().st_mode & 0o777 == 0o600


def test_a_file_on_its_way_to_its_name_goes_through_no_link(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("secrets.token_hex", lambda size: "same")
    (project / "victim").write_text("mine", encoding="utf-8")
    (project / ".note.same.tmp").symlink_to(project / "victim")
    with pytest.raises(FileExistsError):
        write_private(project / "note", "x")
    assert (project / "victim").read_text(encoding="utf-8") == "mine"


def test_a_draft_that_is_a_link_a_pipe_or_too_large_is_no_draft(project: Path) -> None:
    (project / "real.md").write_text(DOCUMENT, encoding="utf-8")
    assert read_draft(project / "real.md") is not None
    (project / "link.md").symlink_to(project / "real.md")
    os.mkfifo(project / "pipe.md")
    with (project / "huge.md").open("wb") as file:
        file.write(DOCUMENT.encode())
        file.truncate(5 << 20)
    for name in ("link.md", "pipe.md", "huge.md"):
        assert read_draft(project / name) is None


def test_what_is_no_utf8_is_read_with_marks_in_its_place(project: Path) -> None:
    (project / "binary.md").write_bytes(b"## Current Task\n\n\xff\xfe\0\n")
    assert "\ufffd" in read_document(project / "binary.md")


def test_permission_ends_where_the_draft_folder_becomes_a_link(project: Path, outside: Path, tmp_path: Path) -> None:
    session = tmp_path / "session"
    session.mkdir()
    drafts = project / ".baton" / "drafts" / "7f3a91c2"
    drafts.mkdir(parents=True)
    Offers(session, get("claude")).permit(drafts)

    def allowed(path: str) -> bool:
        request = {"tool_name": "Write", "cwd": str(project), "tool_input": {"file_path": path}}
        return _hook._permit(str(session), json.dumps(request).encode()) is not None

    assert allowed(f"{drafts}/a.md")
    assert allowed(".baton/drafts/7f3a91c2/a.md")
    assert not allowed(f"{drafts}/../../../reader.py")
    (drafts / "way-out").symlink_to(outside)
    assert not allowed(f"{drafts}/way-out/a.md")
    (drafts / "way-out").unlink()
    drafts.rmdir()
    drafts.symlink_to(outside)
    assert not allowed(f"{drafts}/a.md")


def test_a_file_outside_of_the_project_is_no_handoff_to_continue(project: Path, outside: Path, tmp_path: Path) -> None:
    (outside / "x.md").write_text(DOCUMENT, encoding="utf-8")
    (project / "link.md").symlink_to(outside / "x.md")
    (project / "binary.md").write_bytes(os.urandom(500))
    os.mkfifo(project / "pipe.md")
    (project / "good.md").write_text(DOCUMENT, encoding="utf-8")
    with open_store(default_url(tmp_path / "home")) as store:
        layout = FilesLayout(project)
        for wanted in (
            "../outside/x.md",
            str(outside / "x.md"),
            "link.md",
            "binary.md",
            "pipe.md",
            ".",
            "../../../etc/passwd",
        ):
            with pytest.raises(Refusal, match="is not used as a handoff") as told:
                chosen(store, layout, project, wanted)
            assert told.value.exit == 3
        with pytest.raises(Refusal, match="there is no handoff"):
            chosen(store, layout, project, "nowhere.md")
        assert chosen(store, layout, project, "good.md") == project / "good.md"


def test_a_handoff_that_baton_wrote_can_be_continued_from_any_folder(
    project: Path, outside: Path, tmp_path: Path
) -> None:
    path = outside / ".bmad" / "handoffs" / "handoff-2027-01-15-080000.md"
    path.parent.mkdir(parents=True)
    path.write_text(DOCUMENT, encoding="utf-8")
    with open_store(default_url(tmp_path / "home")) as store:
        store.save_session(SESSION)
        store.add_handoff(
            HandoffRecord(
                id="h-1",
                path=path,
                number=1,
                previous=None,
                created=1.8e9,
                session=SESSION.id,
                project=outside,
                agent="claude",
                agent_session="abc",
                percent=85.0,
                used=1,
                usable=2,
                sealed=True,
                checksum=None,
                cycle=None,
                source=Author.AGENT,
            )
        )
        assert chosen(store, FilesLayout(project), project, str(path)) == path
        assert project_of(store, path) == outside
