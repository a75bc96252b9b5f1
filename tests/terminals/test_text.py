from hypothesis import given
from hypothesis import strategies as st

from batonpass.terminals.text import one_line, pastable, printable


@given(st.text(st.characters() | st.sampled_from("\x1b[]()\x07\\;0m\x9b\x90P_^\n\t\r\u202e")))
def test_nothing_printable_can_steer_a_terminal(text: str) -> None:
    shown = printable(text)
    assert not any((char < " " and char not in "\n\t") or "\x7f" <= char <= "\x9f" for char in shown)
    assert printable(shown) == shown
    assert "\u202e" not in shown


def test_ordinary_text_is_kept_as_it_is() -> None:
    text = "größe 漢字 😀 👨‍👩‍👧\n\tindented [0m ❯\u00a0x"
    assert printable(text) == text == pastable(text)


def test_a_message_of_many_lines_becomes_one() -> None:
    assert one_line("  a\n\tb\r\n\x1b]0;title\x07c ") == "a b c"
