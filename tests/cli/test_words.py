import doctest

from hypothesis import given
from hypothesis import strategies as st

from batonpass.cli import words
from batonpass.cli.words import clean, duration


def test_the_examples_hold() -> None:
    assert doctest.testmod(words).failed == 0


@given(st.text(alphabet=st.one_of(st.characters(), st.sampled_from("\x1b\x9b\x9d[]0m;\x07\\"))))
def test_nothing_that_a_terminal_obeys_is_left(text: str) -> None:
    for cleaned in (clean(text), clean(text, lines=True).replace("\n", "").replace("\t", "")):
        assert not any(ord(c) < 32 or 127 <= ord(c) < 160 for c in cleaned)


@given(st.text(alphabet=st.characters(categories=["L", "N", "P", "S"])))
def test_plain_text_stays_as_it_is(text: str) -> None:
    assert clean(text) == text


def test_a_span_just_below_a_unit_is_not_cut() -> None:
    assert duration(59.6) == "1 min"
    assert duration(3599.7) == "1 h"
