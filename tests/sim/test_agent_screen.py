from hypothesis import given
from hypothesis import strategies as st

from batonpass.sim.agent_screen import RESET, one_row, printable, width_of, wrap


@given(st.text(alphabet=st.characters(exclude_categories=["C"])), st.integers(2, 40))
def test_wrapped_rows_fit_and_lose_nothing(text: str, width: int) -> None:
    rows = wrap(text, width)
    assert "".join(rows) == text
    assert all(width_of(row) <= width for row in rows)


def test_an_empty_line_is_an_empty_row() -> None:
    assert wrap("a\n\nb", 10) == ["a", "", "b"]


@given(st.text())
def test_nothing_printable_moves_the_cursor(text: str) -> None:
    assert not any((ord(c) < 32 and c != "\n") or 0x7F <= ord(c) < 0xA0 for c in printable(text))


def test_a_status_line_keeps_its_colours_and_nothing_else() -> None:
    assert one_row("\x1b[31mred\x1b[0m and\x1b[2J more\nsecond", 9) == f"\x1b[31mred\x1b[0m and\ufffd[{RESET}"
