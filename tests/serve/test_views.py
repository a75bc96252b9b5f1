from dataclasses import replace
from pathlib import Path

from batonpass.handoff.chain import link
from batonpass.handoff.markdown import parse
from batonpass.handoff.seal import seal
from batonpass.serve import views
from batonpass.store import CycleRecord, CycleState, HandoffRecord, StepRecord

FIXTURES = Path(__file__).parents[1] / "fixtures" / "handoffs"


def step(
    name: str, started: float, ended: float | None, state: str = "ok", note: str = "", attempt: int = 1
) -> StepRecord:
    return StepRecord(
        cycle="7f3a91c2", seq=1, step=name, attempt=attempt, state=state, started=started, ended=ended, note=note
    )


CYCLE = CycleRecord("7f3a91c2", "5e55a001", "here", "threshold", 100.0, percent=86.84)


def test_a_step_that_was_tried_again_is_one_row_with_its_attempts_and_its_last_word() -> None:
    steps = [
        step("ask", 100.0, 101.0, "not_seen", "it did not arrive"),
        step("await", 101.0, 102.0),
        step("ask", 103.0, 105.5, attempt=2),
    ]
    rows = views.cycle_record(CYCLE, steps, 200.0)["steps"]
    assert rows == [
        {"step": "ask", "state": "ok", "started": 100.0, "seconds": 3.5, "attempts": 2, "note": ""},
        {"step": "await", "state": "ok", "started": 101.0, "seconds": 1.0, "attempts": 1, "note": ""},
    ]


def test_what_is_under_way_counts_up_to_now() -> None:
    record = views.cycle_record(CYCLE, [step("ask", 100.0, None, "running")], 107.25)
    rows = record["steps"]
    assert isinstance(rows, list)
    assert (record["state"], record["seconds"], record["percent"]) == ("running", 7.25, 86.8)
    assert rows[0]["seconds"] == 7.25


def test_a_cycle_that_ended_keeps_its_length() -> None:
    ended = replace(CYCLE, state=CycleState.DONE, ended=110.0, document=Path("/p/handoff-1.md"))
    record = views.cycle_record(ended, [], 500.0)
    assert (record["state"], record["seconds"], record["document"]) == ("done", 10.0, "/p/handoff-1.md")


def test_a_handoff_counts_as_sealed_only_while_its_file_is_as_it_was_sealed(tmp_path: Path) -> None:
    path = tmp_path / "handoff-1.md"
    path.write_text(_sealed(), encoding="utf-8")
    record = HandoffRecord("h1", path, 1, 0.0, "5e55a001", tmp_path, "claude", percent=86.84, sealed=True)
    shown = views.handoff_record(record)
    assert shown == {
        "path": str(path), "number": 1, "previous": None, "created": "1970-01-01T00:00:00Z", "session": "5e55a001",
        "percent": 86.8, "sealed": True,
    }  # fmt: skip
    path.write_text(_sealed().replace("# ", "# Another ", 1), encoding="utf-8")
    assert views.handoff_record(record)["sealed"] is False
    path.unlink()
    assert views.handoff_record(record)["sealed"] is False


def test_a_document_that_the_store_does_not_know_is_shown_by_its_own_header(tmp_path: Path) -> None:
    path = tmp_path / "handoff-1.md"
    path.write_text(_sealed(), encoding="utf-8")
    known = views.handoff_record(HandoffRecord("h1", path, 1, 0.0, "5e55a001", tmp_path, "claude", sealed=True))
    shown = views.linked(path, link(path))
    assert shown.keys() == known.keys()
    assert (shown["number"], shown["sealed"]) == (parse(_sealed()).number, True)
    assert views.linked(tmp_path / "x.md", None).keys() == known.keys()


def _sealed() -> str:
    return seal(parse((FIXTURES / "standard.md").read_text(encoding="utf-8"))).text
