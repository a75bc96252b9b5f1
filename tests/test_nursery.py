"""The nursery tells its children apart by the order in which they were asked for."""

import os
from pathlib import Path

from tests.nursery import ROOT, Nursery, holder


def _env(home: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(ROOT / "src"), "BATON_HOME": str(home)}


def test_a_child_with_the_process_id_of_an_earlier_one_is_not_taken_for_ended(tmp_path: Path) -> None:
    nursery = Nursery()
    try:
        first = nursery.fork(("--version",), _env(tmp_path), tmp_path, tmp_path / "out", tmp_path / "err")
        assert first.wait(60) == 0
        second = nursery.fork(("nonsense",), _env(tmp_path), tmp_path, tmp_path / "out", tmp_path / "err")
        second.pid = first.pid  # as the system may give it out again
        assert second.wait(60) == 2
    finally:
        nursery.close()


def test_a_process_that_took_over_the_id_in_a_lock_is_not_taken_for_the_daemon(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "lock").write_text(str(os.getpid()), encoding="utf-8")
    assert holder(tmp_path, []) is None
