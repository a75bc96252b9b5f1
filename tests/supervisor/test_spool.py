import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from batonpass.home import spool_path
from batonpass.store import Store
from batonpass.supervisor.spool import Spool


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = Path(spool_path(str(tmp_path)))
    path.parent.mkdir(parents=True)
    return path


def fill(file: Path, *numbers: int) -> None:
    with file.open("a", encoding="utf-8") as lines:
        for number in numbers:
            lines.write(json.dumps({"op": "hook", "number": number}) + "\n")


class Taker:
    """Takes reports, and crashes at one of them when it is told to."""

    def __init__(self, crash_at: int | None = None) -> None:
        self.numbers: list[int] = []
        self._crash_at = crash_at

    async def __call__(self, report: Mapping[str, Any]) -> None:
        if report["number"] == self._crash_at:
            raise KeyboardInterrupt
        self.numbers.append(report["number"])


async def test_reports_are_replayed_in_order_and_once(tmp_path: Path, store: Store, file: Path) -> None:
    fill(file, 1, 2, 3)
    taker = Taker()
    assert await Spool(tmp_path, store, "here").replay(taker) == 3
    assert await Spool(tmp_path, store, "here").replay(taker) == 0
    assert taker.numbers == [1, 2, 3]
    assert list(file.parent.iterdir()) == []


async def test_without_a_spool_there_is_nothing_to_replay(tmp_path: Path, store: Store) -> None:
    assert await Spool(tmp_path, store, "here").replay(Taker()) == 0


async def test_a_torn_or_foreign_line_is_skipped(tmp_path: Path, store: Store, file: Path) -> None:
    fill(file, 1)
    with file.open("ab") as lines:
        lines.write(b'{"op":"hook","number":\n\xff\xfe\n[1]\nnull\n')
    fill(file, 2)
    taker = Taker()
    assert await Spool(tmp_path, store, "here").replay(taker) == 2
    assert taker.numbers == [1, 2]


async def test_a_replay_that_a_crash_cut_off_goes_on_behind_the_report_it_was_at(
    tmp_path: Path, store: Store, file: Path
) -> None:
    fill(file, 1, 2, 3)
    first, second = Taker(crash_at=2), Taker()
    with pytest.raises(KeyboardInterrupt):
        await Spool(tmp_path, store, "here").replay(first)
    fill(file, 4)  # hooks go on while no daemon runs
    await Spool(tmp_path, store, "here").replay(second)
    assert (first.numbers, second.numbers) == ([1], [3, 4])


async def test_how_far_an_earlier_spool_was_read_means_nothing_in_a_later_one(
    tmp_path: Path, store: Store, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(file, 1, 2, 3)
    await Spool(tmp_path, store, "here").replay(Taker())
    fill(file, 4, 5)
    rename = os.rename

    def crash_after(*names: str) -> None:
        rename(*names)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "rename", crash_after)
    with pytest.raises(KeyboardInterrupt):
        await Spool(tmp_path, store, "here").replay(Taker())
    taker = Taker()
    await Spool(tmp_path, store, "here").replay(taker)
    assert taker.numbers == [4, 5]
