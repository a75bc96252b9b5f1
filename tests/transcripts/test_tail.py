import os
from collections.abc import Iterable
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batonpass.transcripts.events import Event, Said
from batonpass.transcripts.tail import Batch, Cursor, Tail
from batonpass.transcripts.whole import end


def parse(line: bytes) -> Iterable[Event]:
    try:
        value = msgspec.json.decode(line, type=dict[str, str])
    except msgspec.DecodeError:
        return []
    return [Said(0.0, value["t"], "m")] if "t" in value else []


def texts(batch: Batch) -> list[str]:
    return [event.text for event in batch.events if isinstance(event, Said)]


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as stream:
        stream.write(data)


def test_a_file_that_is_not_there_yet_gives_nothing_and_is_read_once_it_appears(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    tail = Tail(path, parse)
    assert tail.read() == Batch()
    assert tail.cursor is None
    append(path, b'{"t":"one"}\n')
    batch = tail.read()
    assert (texts(batch), batch.reset) == (["one"], False)


def test_only_what_was_appended_is_given(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    append(path, b'{"t":"one"}\n{"x":"no event"}\n')
    tail = Tail(path, parse)
    assert texts(tail.read()) == ["one"]
    assert tail.read() == Batch()
    append(path, b'{"t":"two"}\n')
    assert texts(tail.read()) == ["two"]


def test_a_torn_last_line_is_kept_until_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    append(path, b'{"t":"one"}\n{"t":"tw')
    tail = Tail(path, parse)
    assert texts(tail.read()) == ["one"]
    append(path, b"o")
    assert tail.read() == Batch()
    append(path, b'"}\n{"t":"three"}\n')
    batch = tail.read()
    assert (texts(batch), batch.notes) == (["two", "three"], ())


def test_a_saved_cursor_goes_on_where_it_was_also_inside_a_torn_line(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    append(path, b'{"t":"one"}\n{"t":"tw')
    first = Tail(path, parse)
    first.read()
    saved = msgspec.json.decode(msgspec.json.encode(first.cursor), type=Cursor)
    append(path, b'o"}\n')
    batch = Tail(path, parse, saved).read()
    assert (texts(batch), batch.reset) == (["two"], False)


def test_a_shrunk_file_is_read_from_its_start_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    append(path, b'{"t":"one"}\n{"t":"two"}\n')
    tail = Tail(path, parse)
    tail.read()
    path.write_bytes(b'{"t":"new"}\n')
    batch = tail.read()
    assert (texts(batch), batch.reset) == (["new"], True)
    assert tail.read().reset is False


def test_a_replaced_file_is_noticed_even_when_it_is_longer(tmp_path: Path) -> None:
    path, other = tmp_path / "t.jsonl", tmp_path / "other.jsonl"
    append(path, b'{"t":"one"}\n')
    tail = Tail(path, parse)
    tail.read()
    append(other, b'{"t":"new"}\n{"t":"newer"}\n')
    os.replace(other, path)
    batch = tail.read()
    assert (texts(batch), batch.reset) == (["new", "newer"], True)


def test_a_file_rewritten_under_the_same_inode_is_noticed_by_its_content(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    append(path, b'{"t":"one"}\n')
    tail = Tail(path, parse)
    tail.read()
    path.write_bytes(b'{"t":"ONE"}\n{"t":"two"}\n')
    batch = tail.read()
    assert (texts(batch), batch.reset) == (["ONE", "two"], True)


def test_a_garbage_line_is_skipped_with_one_sentence_that_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    append(path, b'{"t":"one"}\n\x00\xff\xfe\x00\n{"t": torn {"t":"x"}\n\n{"t":"two"}\n')
    batch = Tail(path, parse).read()
    assert texts(batch) == ["one", "two"]
    (note,) = batch.notes
    assert str(path) in note
    assert "2 in all, the first at byte 12" in note


def test_a_line_over_the_limit_is_skipped_with_a_note_and_not_held(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    append(path, b'{"t":"' + b"x" * 100)
    tail = Tail(path, parse, line_limit=50)
    assert tail.read() == Batch()
    append(path, b'"}\n{"t":"next"}\n')
    batch = tail.read()
    assert texts(batch) == ["next"]
    assert "too long" in batch.notes[0]


def test_a_file_that_vanished_and_came_back_unchanged_is_not_read_twice(tmp_path: Path) -> None:
    path, away = tmp_path / "t.jsonl", tmp_path / "away"
    append(path, b'{"t":"one"}\n')
    tail = Tail(path, parse)
    tail.read()
    path.rename(away)
    assert tail.read() == Batch()
    away.rename(path)
    assert tail.read() == Batch()


@pytest.mark.parametrize("content", [b"", b'{"t":"torn', b'{"t":"a"}\n', b'{"t":"a"}\n{"t":"torn'])
def test_a_tail_from_the_end_gives_only_what_comes_later(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "t.jsonl"
    append(path, content)
    tail = Tail(path, parse, end(path))
    assert tail.read() == Batch()
    if not content.endswith(b"\n") and content:
        append(path, b'"}\n')
        assert texts(tail.read()) == ["torn"]
    append(path, b'{"t":"later"}\n')
    assert texts(tail.read()) == ["later"]


@settings(max_examples=40, deadline=None)
@given(
    lines=st.lists(st.text(alphabet="ab ä\u2028", max_size=8), max_size=12),
    cuts=st.lists(st.integers(0, 400)),
)
def test_however_the_bytes_arrive_every_line_is_given_once_and_in_order(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], cuts: list[int]
) -> None:
    path = tmp_path_factory.mktemp("cut") / "t.jsonl"
    data = b"".join(msgspec.json.encode({"t": text}) + b"\n" for text in lines)
    tail, seen, position = Tail(path, parse), [], 0
    for cut in [*sorted(cuts), len(data)]:
        append(path, data[position : max(cut, position)])
        position = max(cut, position)
        seen += texts(tail.read())
    assert seen == lines
