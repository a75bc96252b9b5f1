import pytest

from batonpass.terminals.base import Screen


@pytest.mark.parametrize(
    ("row", "plain"),
    [
        ("\x1b[38;5;246m❯\x1b[39m\u00a0\x1b[7mT\x1b[0;2mry\x1b[0m", "❯\u00a0Try"),
        ("\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\ after", "link after"),
        ("\x1b]0;title\x07shown", "shown"),
        ("\x1b(0\x0eqqq\x0f\x1b(B end", "qqq end"),
        ("tab\tstays", "tab\tstays"),
    ],
)
def test_the_text_of_a_screen_has_no_escape_sequences(row: str, plain: str) -> None:
    assert Screen((row, "next"), 0, 0).text == f"{plain}\nnext"
