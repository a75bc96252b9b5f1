"""What the real Gemini CLI showed, and what Baton may do with it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from batonpass.agents.base import Box, BoxState
from batonpass.agents.gemini.screen import abridges, box, dialog, refused
from batonpass.agents.setbacks import kind_of
from batonpass.terminals.base import Screen

FOLDER = Path(__file__).parents[1] / "fixtures" / "gemini" / "screens"


def shown(name: str) -> Screen:
    content = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return Screen(tuple(content["rows"]), *content["cursor"])


@pytest.mark.parametrize("name", ["fresh", "idle", "busy"])
def test_a_box_with_its_hint_is_empty_also_while_busy(name: str) -> None:
    assert box(shown(name)) == Box(BoxState.EMPTY)
    assert dialog(shown(name)) is None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("typed", "hello there"),
        ("slash_menu", "/clear"),
        ("shell_mode", "!"),
        ("pasted", "line one is here\n\nline three is here, too"),
        ("placeholder", "[Pasted Text: 30 lines]"),
        ("placeholder_chars", "[Pasted Text: 630 chars]"),
    ],
)
def test_what_a_person_typed_and_did_not_send_is_text(name: str, text: str) -> None:
    assert box(shown(name)) == Box(BoxState.TEXT, text)


def test_a_wrapped_line_is_text_over_several_rows() -> None:
    text = box(shown("wrapped")).text
    assert "".join(text.split()) == "alongerlineofwords" * 18


@pytest.mark.parametrize(
    ("name", "words"), [("permission", "asks for permission"), ("trust", "asks whether to trust this folder")]
)
def test_a_dialog_is_told_and_leaves_no_box(name: str, words: str) -> None:
    assert box(shown(name)).state is BoxState.UNKNOWN
    assert dialog(shown(name)) == words


def test_a_dialog_about_a_quota_says_what_the_provider_said() -> None:
    failed = refused(shown("quota"), 7.0)
    assert failed is not None
    assert (failed.at, kind_of(failed.kind, failed.text)) == (7.0, "quota")
    assert failed.text.startswith("Usage limit reached for all Pro models. ")
    assert failed.text.endswith("/model to switch models.")
    assert dialog(shown("quota")) is not None, "nothing is typed there"


@pytest.mark.parametrize("name", ["fresh", "busy", "permission", "trust", "typed"])
def test_no_other_screen_says_anything_of_the_provider(name: str) -> None:
    assert refused(shown(name), 7.0) is None


def test_what_was_said_of_a_quota_is_no_dialog_about_it() -> None:
    screen = shown("idle")
    rows = ("Usage limit reached for all Pro models.", *screen.rows[1:])
    assert refused(replace(screen, rows=rows), 7.0) is None


def test_a_text_that_reads_like_the_hint_is_text_where_somebody_typed_it() -> None:
    screen = shown("typed")
    rows = tuple(row.replace("hello there", "Type your message or") for row in screen.rows)
    assert box(replace(screen, rows=rows)).state is BoxState.TEXT


def test_keys_are_commands_in_vims_normal_mode_so_there_is_no_box() -> None:
    screen = shown("fresh")
    rows = tuple(row.replace("Type your message or @path/to/file", "Press 'i' for INSERT mode.") for row in screen.rows)
    assert box(replace(screen, rows=rows)).state is not BoxState.EMPTY


def test_a_screen_that_is_just_being_drawn_has_no_box() -> None:
    assert box(Screen(("",) * 30, 0, 0)).state is BoxState.UNKNOWN
    assert box(Screen(("", " * ", ""), 3, 1)).state is BoxState.UNKNOWN


def test_a_placeholder_stands_for_a_text_of_its_lines_or_its_length() -> None:
    long = "\n".join(str(n) for n in range(30))
    assert abridges("[Pasted Text: 30 lines]", long)
    assert abridges("[Pasted Text: 30 lines #2]", long)
    assert abridges("[Pasted Text: 30 lines]", "x") is False
    assert abridges("[Pasted Text: 7 chars]", "seven ch") is False
    assert abridges("hello", "hello") is None
