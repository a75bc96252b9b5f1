"""What the real Codex showed, and what Baton may do with it."""

import json
from pathlib import Path

import pytest

from batonpass.agents.base import Box, BoxState
from batonpass.agents.codex.screen import box, dialog
from batonpass.terminals.base import Screen

FOLDER = Path(__file__).parents[1] / "fixtures" / "codex" / "screens"


def shown(name: str) -> Screen:
    content = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return Screen(tuple(content["rows"]), *content["cursor"])


@pytest.mark.parametrize("name", ["fresh", "idle", "busy", "interrupted"])
def test_a_box_with_its_hint_is_empty_also_while_busy(name: str) -> None:
    assert box(shown(name)) == Box(BoxState.EMPTY)
    assert dialog(shown(name)) is None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("typed", "short text"),
        ("busy_typed", "typed while busy"),
        ("slash_menu", "/cl"),
        ("shell_mode", "!"),
        ("pasted", "[Pasted Content 1789 chars]"),
    ],
)
def test_what_a_person_typed_and_did_not_send_is_text(name: str, text: str) -> None:
    assert box(shown(name)) == Box(BoxState.TEXT, text)


def test_a_wrapped_line_is_text_over_several_rows() -> None:
    found = box(shown("wrapped"))
    assert found.state is BoxState.TEXT
    assert found.text.split() == ["word"] * 180


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("trust", "asks whether to trust this folder"),
        ("migration", "proposes another model"),
        ("hook_review", "asks to review hooks"),
        ("permission", "asks for permission"),
        ("where", "asks where the new conversation should run"),
        ("model_list", "shows a list to choose from"),
    ],
)
def test_a_dialog_is_named_and_hides_the_box(name: str, words: str) -> None:
    assert dialog(shown(name)) == words
    assert box(shown(name)).state is BoxState.UNKNOWN


def test_an_empty_screen_has_no_box() -> None:
    assert box(Screen(("",) * 10, 0, 0)).state is BoxState.UNKNOWN


def test_an_earlier_prompt_above_other_output_is_not_the_box() -> None:
    rows = ("› an earlier prompt", "", "• said", "", "  model")
    assert box(Screen(rows, 0, 2)).state is BoxState.UNKNOWN


def test_text_is_no_hint_also_with_the_caret_before_it() -> None:
    fresh, typed = shown("fresh"), shown("typed")
    assert box(Screen(typed.rows, fresh.cursor_x, fresh.cursor_y)) == Box(BoxState.TEXT, "short text")
