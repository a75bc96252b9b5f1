import asyncio
import subprocess
from dataclasses import replace
from pathlib import Path

from batonpass.cycle import sealing, worked_on, writing
from batonpass.cycle.moves import CANNOT_WRITE, Move, Step
from batonpass.facts.model import Facts
from batonpass.handoff.seal import checksum_ok
from batonpass.store import Author
from tests.cycle.scene import CYCLE, DOCUMENT, Scene


async def written(scene: Scene, text: str = DOCUMENT) -> None:
    """The agent has written its document and it has been checked."""
    draft = scene.case.draft(1)
    draft.parent.mkdir(parents=True)
    draft.write_text(text, encoding="utf-8")
    scene.case.remember(draft=str(draft))
    await writing.check(scene.case, Move(Step.CHECK))


async def test_the_agents_document_is_sealed_with_what_a_machine_knows(scene: Scene) -> None:
    await written(scene)
    outcome = await sealing.seal(scene.case, Move(Step.SEAL))
    assert outcome.ok
    (path,) = scene.documents()
    text = path.read_text(encoding="utf-8")
    assert checksum_ok(text)
    assert path.stat().st_mode & 0o777 == 0o600
    assert "Keep the torn bytes and not the torn text" in text
    assert "make the reader survive torn lines" in text.partition("## Recorded by Baton")[2]
    (record,) = scene.store.handoffs()
    assert (record.path, record.number, record.source, record.cycle) == (path, 1, Author.AGENT, CYCLE)
    assert (scene.case.cycle.document, scene.case.recall("branch")) == (path, "torn-lines")
    assert not (scene.watch.folder / "permit.json").exists()


async def test_what_an_agent_that_went_away_left_unkept_is_kept_at_the_seal(scene: Scene) -> None:
    scene.watch.holding_stop = True
    await writing.prepare(scene.case, Move(Step.PREPARE))
    assert scene.case.recall("checkpoint") is None
    assert (await sealing.seal(scene.case, Move(Step.SEAL, document=False))).ok
    assert Path(str(scene.case.recall("checkpoint"))).exists()
    (path,) = scene.documents()
    assert Path(str(scene.case.recall("checkpoint"))).name in path.read_text(encoding="utf-8")


async def test_sealing_twice_is_one_file_and_one_record(scene: Scene) -> None:
    await written(scene)
    first = await sealing.seal(scene.case, Move(Step.SEAL))
    scene.clock.advance(60)
    second = await sealing.seal(scene.case, Move(Step.SEAL))
    assert first.data == second.data
    assert len(scene.documents()) == 1
    assert [record.number for record in scene.store.handoffs()] == [1]


async def test_a_seal_that_a_crash_cut_off_before_its_record_is_completed(scene: Scene) -> None:
    await written(scene)
    case = scene.case
    await asyncio.to_thread(sealing._seal, case, await case.facts(), True, worked_on.mark(case))
    scene.talk.prompt("Run the linter before you stop.", "hook")
    scene.talk.say("It found a torn name.")
    assert scene.store.handoffs() == []
    scene.clock.advance(60)
    assert (await sealing.seal(scene.case, Move(Step.SEAL))).ok
    assert len(scene.documents()) == 1
    assert [record.number for record in scene.store.handoffs()] == [1]
    assert await worked_on.worked_on(scene.case), "what came in between is not in it"


async def test_a_name_that_was_chosen_but_holds_rubbish_after_a_crash_does_not_count(scene: Scene) -> None:
    await written(scene)
    await sealing.seal(scene.case, Move(Step.SEAL))
    (path,) = scene.documents()
    path.unlink()
    assert (await sealing.seal(scene.case, Move(Step.SEAL))).ok
    assert checksum_ok(path.read_text(encoding="utf-8"))


async def test_another_round_is_another_handoff_that_names_the_one_before(scene: Scene) -> None:
    await written(scene)
    await sealing.seal(scene.case, Move(Step.SEAL))
    scene.clock.advance(60)
    scene.case.remember(round_began=scene.clock.now())
    await sealing.seal(scene.case, Move(Step.SEAL))
    first, second = scene.documents()
    assert [record.number for record in scene.store.handoffs()] == [1, 2]
    assert first.name in second.read_text(encoding="utf-8")


async def test_without_a_document_of_the_agents_the_facts_are_the_handoff(scene: Scene) -> None:
    outcome = await sealing.seal(scene.case, Move(Step.SEAL, document=False, note="the agent wrote nothing"))
    assert outcome.note == "the agent wrote nothing; handoff #1"
    (path,) = scene.documents()
    text = path.read_text(encoding="utf-8")
    assert "make the reader survive torn lines" in text
    assert "reader.py" in text
    assert scene.store.handoffs()[0].source is Author.FACTS


async def test_a_secret_in_the_document_is_redacted_and_that_is_said(scene: Scene) -> None:
    secret = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vX7zA9cE1gI3kM5"
    await written(scene, DOCUMENT + f"- The token is {secret}\n")
    outcome = await sealing.seal(scene.case, Move(Step.SEAL))
    assert "redacted" in outcome.note
    assert secret not in scene.documents()[0].read_text(encoding="utf-8")


async def test_a_handoff_that_cannot_be_written_stops_the_cycle_and_says_so(scene: Scene) -> None:
    (scene.project / ".bmad").write_text("a file where the folder should be", encoding="utf-8")
    outcome = await sealing.seal(scene.case, Move(Step.SEAL, document=False))
    assert outcome.code == CANNOT_WRITE
    assert "nothing was cleared" in outcome.note
    assert scene.store.handoffs() == []


async def test_a_commit_holds_batons_file_and_nothing_that_the_agent_staged(scene: Scene) -> None:
    scene.configure("auto_commit: true\n")

    def git(*words: str) -> str:
        return subprocess.run(
            ["git", "-C", str(scene.project), *words], check=True, capture_output=True, encoding="utf-8"
        ).stdout

    for name, value in (("user.name", "a"), ("user.email", "a@example.org")):
        git("config", name, value)
    git("add", "reader.py")
    outcome = await sealing.seal(scene.case, Move(Step.SEAL, document=False))
    assert "committed" in outcome.note
    (path,) = scene.documents()
    assert git("show", "--name-only", "--format=%s").split("\n\n") == [
        "docs: orchestrator handoff checkpoint",
        f".bmad/handoffs/{path.name}\n",
    ]
    assert git("diff", "--cached", "--name-only") == "reader.py\n"


def test_without_git_the_files_that_tools_wrote_tell_whether_anything_was_brought_forward(tmp_path: Path) -> None:
    facts = Facts(
        at=0.0, project=tmp_path, agent="scripted", agent_session=None, transcript=None, git=None, touched=("a.py",)
    )
    (tmp_path / "a.py").write_text("one", encoding="utf-8")
    first = sealing.fingerprint(facts)
    assert first is not None
    assert sealing.fingerprint(facts) == first
    (tmp_path / "a.py").write_text("two", encoding="utf-8")
    assert sealing.fingerprint(facts) != first
    assert sealing.fingerprint(replace(facts, touched=())) is None
