"""A cycle in the other layouts: the document in its place, once, committed alone, and the chain goes on."""

import asyncio
import subprocess
from pathlib import Path

import pytest

from batonpass.cycle import sealing, worked_on
from batonpass.cycle.moves import Move, Step
from batonpass.handoff.markdown import parse
from batonpass.handoff.seal import checksum_ok
from tests.cycle.scene import Scene

FACTS_ALONE = Move(Step.SEAL, document=False)


def git(scene: Scene, *words: str) -> str:
    done = subprocess.run(["git", "-C", str(scene.project), *words], check=True, capture_output=True, encoding="utf-8")
    return done.stdout


@pytest.fixture
def living(scene: Scene) -> Path:
    scene.configure("layout: living\n")
    for name, value in (("user.name", "a"), ("user.email", "a@example.org")):
        git(scene, "config", name, value)
    return scene.project / "docs" / "HANDOFF.md"


def next_round(scene: Scene) -> None:
    scene.clock.advance(60)
    scene.case.remember(round_began=scene.clock.now())


async def test_a_living_document_is_updated_in_place_and_committed_alone(scene: Scene, living: Path) -> None:
    git(scene, "add", "reader.py")
    for _ in range(2):
        assert "committed" in (await sealing.seal(scene.case, FACTS_ALONE)).note
        next_round(scene)
    text = living.read_text(encoding="utf-8")
    assert (parse(text).number, parse(text).previous) == (2, "HANDOFF.md")
    assert checksum_ok(text)
    assert git(scene, "show", "--name-only", "--format=").split() == ["docs/HANDOFF.md"]
    assert git(scene, "diff", "--cached", "--name-only") == "reader.py\n"
    assert [record.number for record in scene.store.handoffs()] == [1, 2]


async def test_the_documents_of_a_layout_never_count_as_dirty(scene: Scene, living: Path) -> None:
    await sealing.seal(scene.case, FACTS_ALONE)
    living.write_text(living.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    facts = await scene.case.facts()
    assert facts.git is not None
    assert not [path for path in facts.git.dirty if path.startswith("docs/")]


async def test_after_a_crash_the_old_document_is_not_taken_for_the_new_one(scene: Scene, living: Path) -> None:
    await sealing.seal(scene.case, FACTS_ALONE)
    next_round(scene)
    scene.case.remember(planned=str(living), planned_round=scene.case.since, planned_number=2)
    await sealing.seal(scene.case, FACTS_ALONE)
    assert parse(living.read_text(encoding="utf-8")).number == 2


async def test_a_document_that_was_updated_before_a_crash_is_kept(scene: Scene, living: Path) -> None:
    case = scene.case
    await asyncio.to_thread(sealing._seal, case, await case.facts(), False, worked_on.mark(case))
    before = living.read_text(encoding="utf-8")
    scene.clock.advance(60)
    await sealing.seal(scene.case, FACTS_ALONE)
    assert living.read_text(encoding="utf-8") == before


async def test_a_change_of_layout_between_two_handoffs_keeps_the_chain(scene: Scene) -> None:
    found = []
    for name in ("files", "living", "sandbox"):
        scene.configure(f"layout: {name}\nauto_commit: false\n")
        outcome = await sealing.seal(scene.case, FACTS_ALONE)
        path = Path(str(outcome.data["path"]))
        document = parse(path.read_text(encoding="utf-8"))
        found.append((document.number, document.previous, path.name))
        next_round(scene)
    assert [number for number, _, _ in found] == [1, 2, 3]
    assert [previous for _, previous, _ in found] == [None, found[0][2], found[1][2]]


async def test_a_conflict_of_a_merge_under_way_is_resolved_and_the_merge_is_left_to_its_owner(
    scene: Scene, living: Path
) -> None:
    await sealing.seal(scene.case, FACTS_ALONE)
    git(scene, "checkout", "-q", "reader.py")
    for branch, line in (("theirs", "Ask Bob about the cursor."), ("ours", "Ask Ada about the cursor.")):
        git(scene, "checkout", "-q", "-B", branch, "torn-lines")
        text = living.read_text(encoding="utf-8").replace("## Next Actions", f"## On call\n\n{line}\n\n## Next Actions")
        living.write_text(text, encoding="utf-8")
        (scene.project / f"{branch}.py").write_text("x = 1\n", encoding="utf-8")
        git(scene, "add", "-A")
        git(scene, "commit", "-qm", branch)
    with pytest.raises(subprocess.CalledProcessError):
        git(scene, "merge", "-q", "theirs")
    assert "<<<<<<<" in living.read_text(encoding="utf-8")
    next_round(scene)
    outcome = await sealing.seal(scene.case, FACTS_ALONE)
    text = living.read_text(encoding="utf-8")
    assert (outcome.ok, parse(text).number, checksum_ok(text)) == (True, 2, True)
    assert "Ask Ada about the cursor." in text
    assert "Ask Bob about the cursor." in text
    assert "<<<<<<<" not in text
    assert "not committed" in outcome.note
    assert (scene.project / ".git" / "MERGE_HEAD").exists(), "the merge is its owner's to conclude"
    git(scene, "commit", "-qm", "merged")
    assert git(scene, "status", "--porcelain", "--untracked-files=no") == ""


@pytest.mark.long
async def test_a_hundred_handoffs_in_place_are_a_hundred_commits_of_that_file_alone(scene: Scene, living: Path) -> None:
    git(scene, "add", "reader.py")
    for number in range(1, 101):
        outcome = await sealing.seal(scene.case, FACTS_ALONE)
        assert "committed" in outcome.note, outcome.note
        if number == 50:
            text = living.read_text(encoding="utf-8")
            living.write_text(text.replace("## Next Actions", "## On call\n\nAda\n\n## Next Actions"), encoding="utf-8")
        next_round(scene)
    text = living.read_text(encoding="utf-8")
    assert (parse(text).number, parse(text).section("On call"), checksum_ok(text)) == (100, "Ada", True)
    assert text.count("\n") < 500
    files = set(git(scene, "log", "--name-only", "--format=", "--grep=orchestrator handoff").split())
    assert files == {"docs/HANDOFF.md", "docs/HANDOFF-template.md"}
    assert git(scene, "diff", "--cached", "--name-only") == "reader.py\n"
