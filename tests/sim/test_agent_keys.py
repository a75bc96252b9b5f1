import json

from hypothesis import given
from hypothesis import strategies as st

from batonpass.sim.agent_keys import Key, Keys

TYPED = "héllo ❯\r\x1b[200~two\rlines\x1b[201~\x03\x1b[A\x7f世"


def test_enter_is_a_key_and_text_is_kept_together() -> None:
    assert Keys().feed(b"hi there\r") == [Key("text", "hi there"), Key("enter")]


def test_line_ends_in_a_paste_are_text() -> None:
    assert Keys().feed(b"\x1b[200~a\rb\r\nc\n\x1b[201~") == [Key("paste", "a\nb\nc\n")]


@given(st.lists(st.integers(0, len(TYPED.encode())), max_size=8))
def test_bytes_cut_anywhere_give_the_same_keys(cuts: list[int]) -> None:
    data, keys, found, start = TYPED.encode(), Keys(), list[Key](), 0
    for cut in [*sorted(cuts), len(data)]:
        found += keys.feed(data[start:cut])
        start = cut
    text = "".join(key.text for key in found)
    assert text == "héllo ❯two\nlines世"
    assert [key.name for key in found if key.name != "text"] == [
        "enter",
        "paste",
        "ctrl-c",
        "up",
        "backspace",
    ]


def test_a_lone_escape_is_the_key_only_when_nothing_follows() -> None:
    keys = Keys()
    assert keys.feed(b"\x1b") == []
    assert keys.undecided
    assert keys.settle() == [Key("escape")]
    assert keys.feed(b"\x1b") == []
    assert keys.feed(b"[B") == [Key("down")]
    assert keys.settle() == []


def test_sequences_without_a_meaning_leave_nothing_behind() -> None:
    assert Keys().feed(b"\x1b[5~\x1b[1;5C\x01x") == [Key("text", "x")]


def test_a_large_paste_arrives_whole() -> None:
    text = json.dumps(list(range(30_000)))
    keys, found = Keys(), list[Key]()
    data = f"\x1b[200~{text}\x1b[201~".encode()
    for start in range(0, len(data), 4096):
        found += keys.feed(data[start : start + 4096])
    assert found == [Key("paste", text)]
