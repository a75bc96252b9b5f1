"""What the real opencode showed, and what Baton may do with it."""

import json
from pathlib import Path

import pytest

from batonpass.agents.base import Box, BoxState
from batonpass.agents.opencode.screen import abridges, box, dialog
from batonpass.terminals.base import Screen

FOLDER = Path(__file__).parents[1] / "fixtures" / "opencode" / "screens"


def shown(name: str) -> Screen:
    content = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return Screen(tuple(content["rows"]), *content["cursor"])


@pytest.mark.parametrize("name", ["fresh", "idle", "busy", "narrow"])
def test_a_box_with_its_hint_or_nothing_in_it_is_empty_also_while_busy(name: str) -> None:
    assert box(shown(name)) == Box(BoxState.EMPTY)
    assert dialog(shown(name)) is None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("typed", "short text"),
        ("busy_typed", "typed while busy"),
        ("slash_menu", "/ne"),
        ("shell_mode", "!"),
        ("pasted", "[Pasted ~4 lines]"),
    ],
)
def test_what_a_person_typed_and_did_not_send_is_text(name: str, text: str) -> None:
    assert box(shown(name)) == Box(BoxState.TEXT, text)


def test_a_wrapped_line_is_text_over_several_rows() -> None:
    found = box(shown("wrapped"))
    assert found.state is BoxState.TEXT
    assert found.text.split() == ["word"] * 40


@pytest.mark.parametrize("name", ["palette", "models", "permission"])
def test_where_something_else_is_open_there_is_no_box_to_type_into(name: str) -> None:
    assert box(shown(name)).state is BoxState.UNKNOWN


def test_a_permission_that_is_asked_for_is_a_dialog() -> None:
    assert dialog(shown("permission")) == "asks for permission"


def test_a_screen_without_a_box_is_unknown() -> None:
    assert box(Screen(("", "$ "), 2, 1)).state is BoxState.UNKNOWN
    assert box(Screen((), 0, 0)).state is BoxState.UNKNOWN


def test_a_pasted_text_is_known_by_the_number_of_its_lines() -> None:
    assert abridges("[Pasted ~4 lines]", "one\ntwo\nthree\nfour") is True
    assert abridges("[Pasted ~4 lines]", "one\ntwo") is False
    assert abridges("one", "one") is None
