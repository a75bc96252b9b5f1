"""Readings and health checks."""

from pathlib import Path

import pytest

from batonpass.store import HealthRecord, Store, StoreError
from tests.store.samples import SESSION, reading

DAY = 86_400.0
NOW = 100 * DAY


@pytest.fixture(autouse=True)
def known(store: Store) -> None:
    store.save_session(SESSION)


def test_readings_come_back_oldest_first(store: Store) -> None:
    for at in (3.0, 1.0, 2.0):
        store.add_reading(SESSION.id, reading(at))
    assert store.readings(SESSION.id) == [reading(1.0), reading(2.0), reading(3.0)]


def test_unknown_usage_stays_unknown(store: Store) -> None:
    store.add_reading(SESSION.id, reading(1.0, used=None))
    assert store.readings(SESSION.id)[0].used is None


def test_a_limit_keeps_the_newest(store: Store) -> None:
    for at in range(5):
        store.add_reading(SESSION.id, reading(float(at)))
    assert [one.at for one in store.readings(SESSION.id, limit=2)] == [3.0, 4.0]


def test_readings_of_one_conversation_only(store: Store) -> None:
    store.add_reading(SESSION.id, reading(1.0, agent_session="before"))
    store.add_reading(SESSION.id, reading(2.0, agent_session="after"))
    assert [one.at for one in store.readings(SESSION.id, agent_session="after")] == [2.0]


def test_the_latest_reading_is_the_newest_by_time(store: Store) -> None:
    assert store.latest_reading(SESSION.id) is None
    store.add_reading(SESSION.id, reading(2.0, used=20))
    store.add_reading(SESSION.id, reading(1.0, used=10))
    assert store.latest_reading(SESSION.id) == reading(2.0, used=20)


def test_of_two_readings_at_the_same_moment_the_later_written_is_the_latest(store: Store) -> None:
    store.add_reading(SESSION.id, reading(1.0, used=10))
    store.add_reading(SESSION.id, reading(1.0, used=20))
    assert store.latest_reading(SESSION.id) == reading(1.0, used=20)


def test_a_reading_of_a_session_that_is_not_stored_is_refused(store: Store) -> None:
    with pytest.raises(StoreError, match="does not have"):
        store.add_reading("nobody", reading(1.0))


def test_thinning_keeps_all_of_the_last_day(store: Store) -> None:
    for second in range(5):
        store.add_reading(SESSION.id, reading(NOW - DAY + 60 + second))
    assert store.thin_readings(NOW) == 0


def test_thinning_keeps_the_last_of_each_minute_for_a_week(store: Store) -> None:
    start = NOW - 2 * DAY
    for offset in (1, 20, 40, 61, 90):
        store.add_reading(SESSION.id, reading(start + offset))
    assert store.thin_readings(NOW) == 3
    assert [one.at - start for one in store.readings(SESSION.id)] == [40, 90]


def test_thinning_keeps_the_last_of_each_hour_after_a_week(store: Store) -> None:
    start = NOW - 8 * DAY
    for offset in (1, 600, 3500, 3700):
        store.add_reading(SESSION.id, reading(start + offset))
    assert store.thin_readings(NOW) == 2
    assert [one.at - start for one in store.readings(SESSION.id)] == [3500, 3700]


def test_thinning_keeps_something_of_each_conversation(store: Store) -> None:
    start = NOW - 8 * DAY
    store.add_reading(SESSION.id, reading(start + 1, agent_session="before"))
    store.add_reading(SESSION.id, reading(start + 2, agent_session="after"))
    assert store.thin_readings(NOW) == 0


def test_a_health_check_comes_back_whole(store: Store) -> None:
    project = Path("/projects/web")
    store.add_health(SESSION.id, project, "context", "warning", {"percent": 71.5}, "restrict", 7.0)
    store.add_health("other", project, "handoff", "ok", {}, None, 6.0)
    expected = HealthRecord(7.0, SESSION.id, project, "context", "warning", {"percent": 71.5}, "restrict")
    assert store.health_checks(SESSION.id) == [expected]
    assert [one.at for one in store.health_checks()] == [6.0, 7.0]
