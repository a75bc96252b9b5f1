"""Between the seal and the pass: what the successor is given is what was sealed, or nothing is cleared."""

from pathlib import Path

import pytest

from batonpass.cycle import closing, passing, sealing, verifying
from batonpass.cycle.moves import UNSEALED, Move, Result, Step, Way
from batonpass.handoff.seal import checksum_ok
from tests.cycle.scene import Scene
from tests.cycle.test_passing import PASS, RECEIPT, answered, passed, sealed  # noqa: F401  (fixtures)


def document(scene: Scene) -> Path:
    return Path(str(scene.case.recall("sealed")))


def break_copy(scene: Scene) -> None:
    (scene.watch.folder / "sealed.md").write_text("rubbish", encoding="utf-8")


async def test_a_handoff_that_was_removed_after_its_seal_is_written_again_before_the_clear(sealed: Scene) -> None:  # noqa: F811
    path = document(sealed)
    before = path.read_text(encoding="utf-8")
    path.unlink()
    there: list[bool] = []
    sealed.panes.on_paste = lambda: there.append(path.read_text(encoding="utf-8") == before)
    assert (await passing.hand_over(sealed.case, PASS)).ok
    assert there == [True]
    assert path.stat().st_mode & 0o777 == 0o600
    assert any("was removed after its seal" in text for text in sealed.told)


async def test_a_handoff_that_was_changed_is_put_right_and_the_change_is_kept_beside_it(sealed: Scene) -> None:  # noqa: F811
    path = document(sealed)
    before = path.read_text(encoding="utf-8")
    path.write_text(before.replace("torn", "whole"), encoding="utf-8")
    assert (await passing.hand_over(sealed.case, PASS)).ok
    assert path.read_text(encoding="utf-8") == before
    aside = path.with_name(f"{path.name}.changed1")
    assert "whole lines" in aside.read_text(encoding="utf-8")
    assert sealed.documents() == [path], "what was set aside is no link of the chain"
    (told,) = [text for text in sealed.told if "was changed after its seal" in text]
    assert str(aside) in told
    primes = "".join(p.read_text(encoding="utf-8") for p in sealed.watch.folder.glob("prime.clear.*"))
    assert "whole lines" not in primes


async def test_one_that_vanishes_while_the_box_is_in_use_is_there_again_when_the_clear_is_typed(
    sealed: Scene,  # noqa: F811
) -> None:
    path = document(sealed)
    offers_prime = sealed.stage.offers(sealed.watch).primed
    sealed.panes.on_paste = lambda: seen.append(path.exists())
    seen: list[bool] = []
    original = sealed.stage.keys.ready

    async def ready(*args: object) -> bool:
        assert offers_prime("clear")
        path.unlink()
        return await original(*args)  # type: ignore[arg-type]

    sealed.stage.keys.ready = ready  # type: ignore[method-assign,assignment]
    assert (await passing.hand_over(sealed.case, PASS)).ok
    assert seen == [True]


@pytest.mark.parametrize("way", list(Way))
async def test_with_nothing_whole_left_nothing_is_cleared(sealed: Scene, way: Way) -> None:  # noqa: F811
    break_copy(sealed)
    document(sealed).write_text("rubbish", encoding="utf-8")
    outcome = await passing.hand_over(sealed.case, Move(Step.PASS, way=way))
    assert outcome.code == UNSEALED
    assert "nothing was cleared" in outcome.note
    assert (sealed.panes.typed, sealed.launcher.kicks) == ([], [])


async def test_where_the_file_cannot_be_written_again_nothing_is_cleared(sealed: Scene) -> None:  # noqa: F811
    path = document(sealed)
    path.unlink()
    path.parent.rmdir()
    path.parent.write_text("in the way", encoding="utf-8")
    assert (await passing.hand_over(sealed.case, PASS)).code == UNSEALED
    assert sealed.panes.typed == []


async def test_it_is_then_sealed_again_from_the_agents_own_words_under_the_same_number(sealed: Scene) -> None:  # noqa: F811
    break_copy(sealed)
    path = document(sealed)
    path.write_text("rubbish", encoding="utf-8")
    assert (await sealing.seal(sealed.case, Move(Step.SEAL, attempt=2))).ok
    text = path.read_text(encoding="utf-8")
    assert checksum_ok(text)
    assert "Keep the torn bytes and not the torn text" in text
    assert [record.number for record in sealed.store.handoffs()] == [1]
    assert (await passing.hand_over(sealed.case, PASS)).ok


async def test_what_the_successor_makes_of_the_file_does_not_change_what_its_receipt_is_held_against(
    passed: Scene,  # noqa: F811
) -> None:
    import json

    await answered(passed, f"```json\n{json.dumps(RECEIPT)}\n```\nOn with it.")
    document(passed).unlink()
    assert (await verifying.verify(passed.case, Move(Step.VERIFY))).ok
    assert not document(passed).exists(), "by then the file is the successor's to keep or not"


async def test_the_copies_go_when_the_cycle_is_over(passed: Scene) -> None:  # noqa: F811
    assert (passed.watch.folder / "sealed.md").exists()
    await closing.close(passed.case, Move(Step.CLOSE, result=Result.DONE))
    assert not (passed.watch.folder / "sealed.md").exists()
    assert not (passed.watch.folder / "document.md").exists()
