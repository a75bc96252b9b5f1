"""Deliveries: seen once, and for good."""

import pytest

from batonpass.delivery import Channel, DeliveryState
from batonpass.store import Store
from tests.store.samples import SESSION, delivery, session


@pytest.fixture(autouse=True)
def known(store: Store) -> None:
    store.save_session(SESSION)


def test_a_delivery_comes_back_as_it_was_saved(store: Store) -> None:
    store.save_delivery(delivery())
    assert store.delivery(delivery().tag) == delivery()
    assert store.delivery("[baton 00000000 ask 1]") is None


def test_saving_again_moves_it_on(store: Store) -> None:
    store.save_delivery(delivery())
    typed = delivery(channel=Channel.KEYS, state=DeliveryState.SENT)
    store.save_delivery(typed)
    assert store.deliveries() == [typed]


def test_the_first_sight_of_a_delivery_is_told_from_later_ones(store: Store) -> None:
    store.save_delivery(delivery())
    assert store.mark_seen(delivery().tag, 8.0)
    assert not store.mark_seen(delivery().tag, 9.0)
    found = store.delivery(delivery().tag)
    assert found is not None
    assert (found.state, found.seen) == (DeliveryState.SEEN, 8.0)


def test_what_was_never_offered_is_not_marked(store: Store) -> None:
    assert not store.mark_seen("[baton 00000000 ask 1]", 8.0)


def test_a_late_save_does_not_undo_what_was_seen(store: Store) -> None:
    store.save_delivery(delivery())
    store.mark_seen(delivery().tag, 8.0)
    store.save_delivery(delivery(state=DeliveryState.WITHDRAWN))
    found = store.delivery(delivery().tag)
    assert found is not None
    assert (found.state, found.seen) == (DeliveryState.SEEN, 8.0)


def test_deliveries_are_listed_by_session_and_by_cycle(store: Store) -> None:
    store.save_session(session("other"))
    store.save_delivery(delivery("ask", offered=2.0))
    store.save_delivery(delivery("kick", offered=1.0))
    store.save_delivery(delivery("prime", session="other", cycle="11111111"))
    assert [one.step for one in store.deliveries(session=SESSION.id)] == ["kick", "ask"]
    assert [one.step for one in store.deliveries(cycle="11111111")] == ["prime"]
    assert store.deliveries(session=SESSION.id, cycle="11111111") == []


def test_text_that_a_database_would_refuse_is_made_safe(store: Store) -> None:
    store.save_delivery(delivery(text="before\0after \ud800 é 🎽"))
    found = store.delivery(delivery().tag)
    assert found is not None
    assert found.text == "before\ufffdafter ? é 🎽"
