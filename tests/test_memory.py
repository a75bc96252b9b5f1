"""What is remembered stays within its room, and what is asked for again and again stays in it."""

from batonpass.memory import Memory


class Maker:
    """Notes what had to be made."""

    def __init__(self, room: int) -> None:
        self.memory: Memory[str] = Memory(room)
        self.made: list[str] = []

    def of(self, text: str) -> str:
        return self.memory.of(text, len(text), lambda: self._make(text))

    def _make(self, text: str) -> str:
        self.made.append(text)
        return text.upper()


def test_what_was_made_once_is_not_made_again() -> None:
    maker = Maker(10_000)
    assert [maker.of("one"), maker.of("one")] == ["ONE", "ONE"]
    assert maker.made == ["one"]


def test_one_use_texts_never_take_more_than_the_room() -> None:
    maker = Maker(100_000)
    for number in range(1_000):
        maker.of(f"{number:05}" * 1_000)
        assert len(maker.memory) * 5_000 <= 100_000


def test_many_short_texts_take_no_more_than_the_room_either() -> None:
    maker = Maker(100_000)
    for number in range(10_000):
        maker.of(str(number))
    assert 100 < len(maker.memory) < 1_000


def test_what_is_asked_for_again_and_again_outlives_what_is_not() -> None:
    maker = Maker(20_000)
    for number in range(1_000):
        maker.of("again")
        maker.of(f"once {number}")
    assert maker.made.count("again") == 1


def test_what_has_no_room_at_all_is_made_each_time_and_drives_nothing_out_for_long() -> None:
    maker = Maker(2_000)
    for text in ("small", "x" * 5_000, "small", "x" * 5_000, "small"):
        assert maker.of(text) == text.upper()
    assert (maker.made.count("small"), maker.made.count("x" * 5_000)) == (1, 2)
