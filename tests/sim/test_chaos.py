"""Trouble on demand: at the point that was asked for, and at no other."""

import asyncio
import errno
import os
import signal
from pathlib import Path

import pytest

from batonpass.sim import chaos


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "run").mkdir()
    return tmp_path


def test_an_error_comes_at_the_first_visits_of_its_point_and_then_no_more(home: Path) -> None:
    probe = chaos.probe("seal:writing*2=ENOSPC", home)
    probe("seal:planned")
    for _ in range(2):
        with pytest.raises(OSError, match="No space left") as told:
            probe("seal:writing")
        assert told.value.errno == errno.ENOSPC
    probe("seal:writing")


def test_a_crash_comes_at_the_visit_that_was_asked_for_and_once(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kills: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "kill", lambda pid, number: kills.append((pid, number)))
    probe = chaos.probe("ask:offered*2,seal:acted", home)
    probe("ask:offered")
    assert kills == []
    probe("ask:offered")
    assert kills == [(os.getpid(), signal.SIGKILL)]
    assert (home / "run" / "chaos").read_text(encoding="utf-8") == "ask:offered"
    chaos.probe("seal:acted", home)("seal:acted")
    assert len(kills) == 1, "the daemon after it lives"


def test_no_point_is_none(home: Path) -> None:
    probe = chaos.probe("-", home)
    for point in chaos.POINTS:
        probe(point)


async def test_a_cycle_stands_still_while_the_file_is_there_and_only_at_its_step(tmp_path: Path) -> None:
    (tmp_path / "hold.seal").touch()
    await chaos.hold(tmp_path, "pass")
    standing = asyncio.create_task(chaos.hold(tmp_path, "seal"))
    while not (tmp_path / "held.seal").exists():  # noqa: ASYNC110
        await asyncio.sleep(0)
    assert not standing.done()
    (tmp_path / "hold.seal").unlink()
    await standing
    assert not (tmp_path / "held.seal").exists()
