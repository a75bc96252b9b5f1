from collections.abc import Iterator
from pathlib import Path

import pytest

from batonpass.clock import ManualClock
from batonpass.serve.lately import Lately
from batonpass.store import Store, StoreAway, default_url, open_store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(default_url(tmp_path)) as store:
        yield store


class Question:
    """Asks the store, and counts how often."""

    def __init__(self, store: Store) -> None:
        self._store, self.times = store, 0

    def __call__(self) -> object:
        self.times += 1
        return self._store.get("colour")


def test_who_asks_again_is_told_the_same_without_a_look_at_the_store(store: Store) -> None:
    lately, question = Lately(store, ManualClock()), Question(store)
    store.put("colour", "blue")
    assert [lately.ask("colour", question) for _ in range(5)] == ["blue"] * 5
    assert question.times == 1


def test_what_was_written_since_is_told_at_once(store: Store) -> None:
    lately, question = Lately(store, ManualClock()), Question(store)
    assert lately.ask("colour", question) is None
    store.put("colour", "red")
    assert lately.ask("colour", question) == "red"


def test_what_is_written_while_the_store_is_asked_is_told_the_next_time(store: Store) -> None:
    lately, question = Lately(store, ManualClock()), Question(store)

    def slow() -> object:
        found = question()
        store.put("colour", "green")
        return found

    assert lately.ask("colour", slow) is None
    assert lately.ask("colour", question) == "green"


def test_after_a_second_the_store_is_asked_again_because_guards_open_with_time(store: Store) -> None:
    clock = ManualClock()
    lately, question = Lately(store, clock), Question(store)
    lately.ask("colour", question)
    clock.advance(0.9)
    lately.ask("colour", question)
    assert question.times == 1
    clock.advance(0.1)
    lately.ask("colour", question)
    assert question.times == 2


def test_a_store_that_was_away_is_asked_again_at_once(store: Store) -> None:
    lately, question = Lately(store, ManualClock()), Question(store)

    def away() -> object:
        raise StoreAway("the disk is full")

    with pytest.raises(StoreAway):
        lately.ask("colour", away)
    assert lately.ask("colour", question) is None
    assert question.times == 1
