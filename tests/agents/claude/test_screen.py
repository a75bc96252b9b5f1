import pytest

from batonpass.agents.base import Box, BoxState
from batonpass.agents.claude import Claude
from batonpass.terminals.base import Screen
from tests.agents.claude.fixtures import VERSIONS, read

both = pytest.mark.parametrize("version", VERSIONS)
RULE = "─" * 40
EMPTY = Box(BoxState.EMPTY)


def shown(version: str, name: str) -> Screen:
    content = read(version, "screens", name)
    return Screen(tuple(content["rows"]), *content["cursor"])


def box_of(row: str, cursor_x: int, *more: str) -> Box:
    return Claude().box(Screen(("● said", RULE, row, *more, f"\x1b[0m{RULE}", "  hints"), cursor_x, 2))


@both
@pytest.mark.parametrize("name", ["fresh", "idle_empty", "busy", "queued", "renamed"])
def test_an_empty_box_is_empty_also_while_busy_and_with_a_hint_in_it(version: str, name: str) -> None:
    assert Claude().box(shown(version, name)) == EMPTY


@both
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("typed", "hello"),
        ("caret_home", "hello"),
        ("one_character", "y"),
        ("spaces", ""),
        ("three_lines", "l1\nl2\nl3"),
        ("pasted", "[Pasted text #1 +4 lines]"),
        ("busy_typed", "half"),
        ("slash_menu", "/"),
        ("shell_mode", "!"),
        ("shell_text", "!ls"),
    ],
)
def test_what_a_person_typed_and_did_not_send_is_text(version: str, name: str, text: str) -> None:
    assert Claude().box(shown(version, name)) == Box(BoxState.TEXT, text)


@both
def test_a_wrapped_line_is_text_over_several_rows(version: str) -> None:
    box = Claude().box(shown(version, "wrapped"))
    assert box.state is BoxState.TEXT
    assert box.text.split() == ["word"] * 40


@both
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("trust", "asks whether to trust this folder"),
        ("permission", "asks for permission"),
        ("model_picker", "shows a list to choose from"),
        ("resume_picker", "shows a dialog"),
        ("rewind", "shows a dialog"),
        ("transcript_view", "shows the transcript view"),
    ],
)
def test_a_dialog_is_named_and_has_no_box(version: str, name: str, words: str) -> None:
    screen = shown(version, name)
    assert Claude().dialog(screen) == words
    assert Claude().box(screen) == Box(BoxState.UNKNOWN)


@both
@pytest.mark.parametrize("name", ["fresh", "typed", "busy", "slash_menu", "shell_mode"])
def test_a_screen_with_a_box_shows_no_dialog(version: str, name: str) -> None:
    assert Claude().dialog(shown(version, name)) is None


def test_an_answer_that_quotes_a_dialog_is_none() -> None:
    rows = ("● It asks: Do you want to proceed?", "  ❯ 1. Yes", "  Esc to cancel", RULE, "❯\u00a0", RULE)
    assert Claude().dialog(Screen(rows, 2, 4)) is None


def test_a_placeholder_is_dim_and_text_under_the_caret_is_not() -> None:
    assert box_of('❯\u00a0\x1b[7mT\x1b[0;2mry "write a test"', 2) == EMPTY
    assert box_of('❯\u00a0\x1b[7mT\x1b[0mry "write a test"', 2).state is BoxState.TEXT
    assert box_of('❯\u00a0\x1b[7mT\x1b[0;2mry "write a test"', 3).state is BoxState.TEXT


def test_the_numbers_of_a_colour_are_no_attributes() -> None:
    assert box_of("❯\u00a0\x1b[7mr\x1b[0;38;5;2meal", 2).state is BoxState.TEXT
    assert box_of("❯\u00a0\x1b[7mr\x1b[0;38;2;2;2;2meal", 2).state is BoxState.TEXT


def test_attributes_run_on_from_row_to_row() -> None:
    rows = ("\x1b[2mdim from here", RULE, "❯\u00a0\x1b[7mT\x1b[27mry", f"\x1b[0m{RULE}")
    assert Claude().box(Screen(rows, 2, 2)) == EMPTY


@pytest.mark.parametrize("rows", [(), ("$ ls",), (RULE,), (RULE, RULE), (RULE, " Create file", RULE)])
def test_without_a_box_nothing_is_known_of_it(rows: tuple[str, ...]) -> None:
    assert Claude().box(Screen(rows, 0, 0)) == Box(BoxState.UNKNOWN)


@pytest.mark.parametrize(
    ("text", "used", "window", "usable"),
    [
        ("context: 45.2k tokens (23%)", 45_200, 200_000, 167_000),
        ("context: 230k tokens (23%)", 230_000, 1_000_000, 967_000),
        ("context: 500 tokens (0%)", 500, None, None),
        ("Token usage: 63153/200000; 136847 remaining", 63_153, 200_000, 167_000),
        ("Context: 63.2% (126400/200000 tokens)", 126_400, 200_000, 167_000),
    ],
)
def test_figures_on_the_screen_are_a_reading(text: str, used: int, window: int | None, usable: int | None) -> None:
    screen = Screen(("Token usage: 1/200000; x", f"  \x1b[2m{text}\x1b[0m"), 0, 0)
    found = Claude().screen_reading(screen, 5.0, "s")
    assert found is not None
    assert (found.used, found.window, found.usable, found.source.value) == (used, window, usable, "screen")
    assert (found.at, found.agent_session, found.confidence) == (5.0, "s", 0.6)


@both
def test_a_screen_without_figures_gives_no_reading(version: str) -> None:
    assert Claude().screen_reading(shown(version, "busy"), 0.0, "s") is None
