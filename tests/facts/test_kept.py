"""Facts that are kept current read every line once, and are the same as those gathered at once."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from batonpass.agents.claude.record import parse
from batonpass.facts import Followed, gather
from batonpass.facts.kept import Kept
from batonpass.sim.corpus import transcript
from batonpass.sim.corpus_made import made
from batonpass.transcripts.events import Event
from batonpass.transcripts.tail import Tail
from batonpass.transcripts.whole import all_events


def test_reading_bit_by_bit_gives_the_same_facts_and_reads_each_line_once(tmp_path: Path) -> None:
    whole = transcript(made(5))
    path = tmp_path / "talk.jsonl"
    path.write_bytes(b"")
    lines: list[bytes] = []

    def counting(line: bytes) -> list[Event]:
        lines.append(line)
        return parse(line)

    kept = Kept(path, Tail(path, counting), tmp_path, lambda _: False)
    for begin in range(0, len(whole), 5_000):
        with path.open("ab") as stream:
            stream.write(whole[begin : begin + 5_000])
        kept.read()
    bit_by_bit = kept.facts("claude", None, (), at=9.0)
    at_once = gather(tmp_path, "claude", None, path, all_events(path, parse), (), at=9.0, is_own=lambda _: False)
    assert replace(bit_by_bit, transcript=None) == replace(at_once, transcript=None)
    assert len(lines) == whole.count(b"\n")


def test_a_transcript_that_was_replaced_is_followed_anew(tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    path.write_bytes(transcript(made(5)))
    kept = Kept(path, Tail(path, parse), tmp_path, lambda _: False)
    kept.read()
    path.unlink()
    path.write_bytes(transcript(made(6)))
    again = Kept(path, Tail(path, parse), tmp_path, lambda _: False)
    assert kept.facts("claude", None, (), at=9.0) == again.facts("claude", None, (), at=9.0)


def _counted(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    asked: list[Path] = []

    def read_git(project: Path, *_: object, **__: object) -> None:
        asked.append(project)

    monkeypatch.setattr(sys.modules[Followed.__module__], "read_git", read_git)
    return asked


def test_git_that_was_asked_ahead_is_not_asked_again_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "talk.jsonl"
    path.write_bytes(transcript(made(5)))
    asked = _counted(monkeypatch)
    kept = Kept(path, Tail(path, parse), tmp_path, lambda _: False)
    kept.look_ahead(9.0)
    kept.facts("claude", None, (), at=9.5)
    assert len(asked) == 1
    kept.facts("claude", None, (), at=9.6)
    assert len(asked) == 2


@pytest.mark.parametrize(("later", "at"), [(True, 9.1), (False, 10.5)])
def test_an_answer_of_git_is_too_old_after_a_tool_or_a_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, later: bool, at: float
) -> None:
    whole = transcript(made(5))
    cut = whole.rindex(b"tool_use_id")
    begin = whole.rindex(b"\n", 0, cut) + 1
    path = tmp_path / "talk.jsonl"
    path.write_bytes(whole[:begin])
    asked = _counted(monkeypatch)
    kept = Kept(path, Tail(path, parse), tmp_path, lambda _: False)
    kept.look_ahead(9.0)
    if later:
        path.write_bytes(whole)
    kept.facts("claude", None, (), at=at)
    assert len(asked) == 2
