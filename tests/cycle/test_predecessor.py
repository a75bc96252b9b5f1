"""What a session inherits: from its own last handoff, wherever that lies, or from the document it was started from."""

from pathlib import Path

import pytest

from batonpass.cycle import sealing
from batonpass.cycle.moves import Move, Step
from batonpass.disk import write_private
from batonpass.handoff.document import Handoff, Section
from batonpass.handoff.layouts import layout
from batonpass.handoff.markdown import parse
from batonpass.handoff.seal import seal
from tests.cycle.scene import Scene


def handed(scene: Scene, number: int, session: str, rule: str, where: str = "files") -> Path:
    """A sealed handoff that some session left in the project."""
    place = layout(where, scene.project)
    created = scene.clock.now() - 1000 + number
    document = Handoff(
        number=number,
        created=int(created),
        session=session,
        sections=(
            Section("Current Task", f"Task {number}."),
            Section("Progress Summary", f"### Pending\n- Weigh the parcels of depot {number}."),
            Section("Important Context", f"- {rule}"),
        ),
    )
    path = place.path_for(created)
    place.write(path, seal(document).text)
    return path


async def sealed(scene: Scene) -> Handoff:
    outcome = await sealing.seal(scene.case, Move(Step.SEAL, document=False))
    assert outcome.ok, outcome.note
    return parse(Path(str(outcome.data["path"])).read_text(encoding="utf-8"))


async def test_a_session_continued_from_an_older_document_inherits_that_one(scene: Scene) -> None:
    old = handed(scene, 3, "somebody", "Never touch the ledger table.")
    handed(scene, 5, "somebody", "Use tabs in every file.")
    write_private(scene.watch.folder / "began", str(old))
    document = await sealed(scene)
    assert (document.number, document.previous) == (6, old.name)
    assert "Never touch the ledger table." in (document.section("Important Context") or "")
    assert "Weigh the parcels of depot 3." in (document.section("Progress Summary") or "")
    assert "Use tabs in every file." not in (document.section("Important Context") or "")


async def test_a_sessions_own_last_handoff_comes_before_the_one_it_was_started_from(scene: Scene) -> None:
    write_private(scene.watch.folder / "began", str(handed(scene, 1, "somebody", "Use tabs in every file.")))
    own = handed(scene, 2, scene.watch.session.id, "Never touch the ledger table.")
    document = await sealed(scene)
    assert (document.number, document.previous) == (3, own.name)
    assert "Never touch the ledger table." in (document.section("Important Context") or "")


async def test_of_two_sessions_in_a_project_each_inherits_its_own(scene: Scene) -> None:
    own = handed(scene, 1, scene.watch.session.id, "Never touch the ledger table.")
    handed(scene, 2, "the other", "Use tabs in every file.")
    document = await sealed(scene)
    assert (document.number, document.previous) == (3, own.name)
    assert "Use tabs in every file." not in (document.section("Important Context") or "")


@pytest.mark.parametrize("where", ["files", "living", "sandbox"])
@pytest.mark.parametrize("to", ["files", "living", "sandbox"])
async def test_switching_layouts_keeps_the_chain_and_what_it_carries(scene: Scene, where: str, to: str) -> None:
    scene.configure(f"layout: {to}\nauto_commit: false\n")
    own = handed(scene, 7, scene.watch.session.id, "Never touch the ledger table.", where)
    document = await sealed(scene)
    assert (document.number, document.previous) == (8, own.name)
    assert "Never touch the ledger table." in (document.section("Important Context") or "")
    assert "Weigh the parcels of depot 7." in (document.section("Progress Summary") or "")


async def test_an_archived_handoff_is_still_the_predecessor(scene: Scene) -> None:
    own = handed(scene, 4, scene.watch.session.id, "Never touch the ledger table.")
    layout("files", scene.project).archive(own)
    document = await sealed(scene)
    assert (document.number, document.previous) == (5, own.name)
    assert "Never touch the ledger table." in (document.section("Important Context") or "")


async def test_a_living_document_that_a_person_edited_is_still_the_predecessor(scene: Scene) -> None:
    scene.configure("layout: living\nauto_commit: false\n")
    own = handed(scene, 4, scene.watch.session.id, "Never touch the ledger table.", "living")
    text = own.read_text(encoding="utf-8").replace("Task 4.", "Task 4, but first the tests.")
    own.write_text(text, encoding="utf-8")
    document = await sealed(scene)
    assert document.number == 5
    assert "Never touch the ledger table." in (document.section("Important Context") or "")
