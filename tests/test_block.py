"""A block of Baton's in somebody else's file: put in once, taken out without a trace."""

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from batonpass import block

TEXT = "## Handoffs\n\nRead it.\n"
PIECES = (b"Use tabs.", b"\n", b"\r\n", b"\r", b" ", "größe".encode(), b"\xff", b"<!-- x -->")
texts = st.lists(st.sampled_from(PIECES)).map(b"".join)


@given(texts)
@example(b"")
@example(b"no final newline")
@example(b"crlf\r\nno final")
@example(b"\xef\xbb\xbfwith a mark\r\n")
@example(b"an odd end\r")
def test_taking_it_out_gives_back_every_byte(data: bytes) -> None:
    once = block.added(data, TEXT)
    assert once.startswith(data)
    assert block.added(once, TEXT) == once
    assert block.removed(once) == data


@given(texts, texts, texts)
def test_what_people_write_around_it_stays(before: bytes, above: bytes, below: bytes) -> None:
    once = block.added(before, TEXT)
    assert block.removed(above + once + below) == above + before + below
    again = block.added(above + once + below, "Another text.")
    assert block.removed(again) == above + before + below
    assert b"Another text." in again
    assert b"Read it." not in again


def test_the_line_ends_are_those_of_the_file() -> None:
    added = block.added(b"one\r\ntwo\r\n", TEXT)
    assert added.count(b"\n") == added.count(b"\r\n")
    assert b"\r" not in block.added(b"one\ntwo\n", TEXT)


def test_a_file_that_was_made_for_it_goes_with_it() -> None:
    made = block.added(None, TEXT)
    assert block.removed(made) is None
    assert block.removed(made + b"My own words.\n") == b"My own words.\n"


def test_two_blocks_of_a_merge_become_one() -> None:
    once = block.added(b"Use tabs.\n", TEXT)
    twice = once + b"More.\n" + once[len(b"Use tabs.\n") :]
    assert block.added(twice, TEXT).count(b"baton:begin") == 1
    assert block.removed(twice) == b"Use tabs.\nMore.\n"


@pytest.mark.parametrize("data", [b"<!-- baton:begin 1 x -->\nlost its end\n", b"x\n<!-- baton:end -->\n", b"\0\0a"])
def test_half_a_block_is_left_to_a_person(data: bytes) -> None:
    with pytest.raises(block.BrokenBlock):
        block.added(data, TEXT)
    with pytest.raises(block.BrokenBlock):
        block.removed(data)


def test_a_file_keeps_its_mode_and_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_bytes(b"x\n")
    (tmp_path / "AGENTS.md").chmod(0o640)
    (tmp_path / "CLAUDE.md").symlink_to("AGENTS.md")
    block.write(tmp_path / "CLAUDE.md", b"y\n")
    assert (tmp_path / "CLAUDE.md").is_symlink()
    assert (tmp_path / "AGENTS.md").read_bytes() == b"y\n"
    assert (tmp_path / "AGENTS.md").stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["AGENTS.md", "CLAUDE.md"]
