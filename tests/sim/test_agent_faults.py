import json
from collections.abc import Mapping
from pathlib import Path

from batonpass.sim.agent_faults import Faults


def _faults(path: Path, *faults: Mapping[str, object]) -> Faults:
    file = path / "faults.json"
    file.write_text(json.dumps(faults), encoding="utf-8")
    return Faults(str(file))


def test_a_fault_strikes_every_time_unless_it_is_bounded(tmp_path: Path) -> None:
    faults = _faults(tmp_path, {"fault": "ignore_clear"}, {"fault": "drop_enter", "times": 1})
    assert faults.strike("ignore_clear")
    assert faults.strike("ignore_clear")
    assert faults.strike("drop_enter")
    assert not faults.strike("drop_enter")


def test_a_fault_keeps_to_its_turn_and_place(tmp_path: Path) -> None:
    faults = _faults(tmp_path, {"fault": "die", "at": "before_stop", "turn": 2})
    assert not faults.strike("die", at="before_stop")
    faults.turn = 2
    assert not faults.strike("die", at="tool")
    assert faults.strike("die", at="before_stop")


def test_once_holds_across_processes(tmp_path: Path) -> None:
    fault = {"fault": "hang", "once": str(tmp_path / "struck")}
    assert _faults(tmp_path, fault).strike("hang")
    assert not _faults(tmp_path, fault).strike("hang")


def test_a_count_survives_reading_the_file_again(tmp_path: Path) -> None:
    faults = _faults(tmp_path, {"fault": "drop_enter", "times": 1})
    assert faults.strike("drop_enter")
    faults.reload()
    assert not faults.strike("drop_enter")


def test_a_broken_file_is_told_and_the_last_faults_stay(tmp_path: Path) -> None:
    faults = _faults(tmp_path, {"fault": "hang"})
    (tmp_path / "faults.json").write_text("[{", encoding="utf-8")
    faults.reload()
    assert faults.problem
    assert "cannot be read" in faults.problem
    assert faults.strike("hang")


def test_an_unknown_fault_is_named(tmp_path: Path) -> None:
    faults = _faults(tmp_path, {"fault": "explode"})
    assert faults.problem
    assert "explode" in faults.problem
