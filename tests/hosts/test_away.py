"""A database that goes away and comes back: what merely reports is kept, what is asked for is refused for now."""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from batonpass.clock import ManualClock, SystemClock
from batonpass.sim.postgres import Server
from batonpass.store import Store, StoreAway, StoreError, default_url, open_store
from batonpass.supervisor.outage import Outage, until_back
from tests.store.samples import SESSION, cycle, delivery, reading


def _fill_up(store: Store, pages: int) -> None:
    with store._db.engine.connect() as connection:
        connection.exec_driver_sql(f"PRAGMA max_page_count={pages}")


def test_reports_to_a_server_that_is_away_are_written_when_it_is_back(shared_store: Store, server: Server) -> None:
    store = shared_store
    store.save_session(SESSION)
    store.start_cycle(cycle())
    store.save_delivery(delivery())
    server.stop()
    store.add_event("FIRST", 1.0, SESSION.id)
    store.add_event("SECOND", 2.0, SESSION.id)
    store.add_reading(SESSION.id, reading(3.0))
    store.add_health(SESSION.id, SESSION.project, "context", "ok", {}, None, 4.0)
    assert not store.mark_seen(delivery().tag, 5.0)
    with pytest.raises(StoreAway, match="cannot be reached"):
        store.events()
    assert (store.late, store.away is None) == (5, False)
    server.start()
    asyncio.run(until_back(store, SystemClock()))
    assert [event.name for event in store.events(session=SESSION.id)] == ["FIRST", "SECOND"]
    assert (len(store.readings(SESSION.id)), len(store.health_checks(SESSION.id))) == (1, 1)
    found = store.delivery(delivery().tag)
    assert found is not None
    assert found.seen == 5.0
    assert (store.late, store.away) == (0, None)


def test_what_a_cycle_relies_on_is_refused_while_the_server_is_away(shared_store: Store, server: Server) -> None:
    shared_store.save_session(SESSION)
    server.stop()
    asked: tuple[Callable[[], object], ...] = (
        lambda: shared_store.start_cycle(cycle()),
        lambda: shared_store.save_delivery(delivery()),
        lambda: shared_store.put("key", 1),
        lambda: shared_store.running_cycle(SESSION.id),
    )
    for ask in asked:
        with pytest.raises(StoreAway):
            ask()
    assert shared_store.late == 0


def test_a_full_disk_keeps_reports_and_writes_them_once_there_is_room(tmp_path: Path) -> None:
    with open_store(default_url(tmp_path)) as store:
        _fill_up(store, 1)
        store.add_event("BIG", 1.0, data={"text": "x" * 1_000_000})
        store.add_event("NEXT", 2.0)
        assert store.late == 2
        assert store.away is not None
        assert "is full" in str(store.away)
        _fill_up(store, 100_000)
        assert [event.name for event in store.events()] == ["BIG", "NEXT"]
        assert store.away is None


def test_a_report_that_the_store_refuses_is_told_and_does_not_hold_up_others(tmp_path: Path) -> None:
    with open_store(default_url(tmp_path)) as store:
        with pytest.raises(StoreError, match="does not have"):
            store.add_reading("nobody", reading(1.0))
        store.add_event("NEXT", 2.0)
        assert [event.name for event in store.events()] == ["NEXT"]


def test_a_late_report_that_the_store_refuses_is_dropped_and_the_others_are_written(
    shared_store: Store, server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    server.stop()
    shared_store.add_event("FIRST", 1.0)
    shared_store.add_reading("nobody", reading(1.0))
    shared_store.add_event("LAST", 2.0)
    server.start()
    asyncio.run(until_back(shared_store, SystemClock()))
    assert [event.name for event in shared_store.events()] == ["FIRST", "LAST"]
    assert "a late record was dropped" in caplog.text


async def test_an_outage_is_told_once_and_again_only_after_a_minute(
    shared_store: Store, server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    clock, made_up = ManualClock(), []

    async def make_up() -> None:
        made_up.append(shared_store.late)

    outage = Outage(shared_store, clock, make_up)
    assert not await outage.lasts()
    server.stop()
    shared_store.add_event("KEPT", 1.0)
    with caplog.at_level(logging.WARNING, "batonpass"):
        for _ in range(20):
            assert await outage.lasts()
        clock.advance(61)
        assert await outage.lasts()
        assert len(caplog.records) == 2
        assert "1 records are kept" in str(outage.sentence)
        assert made_up == []
        server.start()
        await until_back(shared_store, SystemClock())
        assert not await outage.lasts()
    assert made_up == [0]
    assert "is back after 61 s" in caplog.messages[-1]
    assert outage.sentence is None


async def test_an_outage_lasts_until_what_was_missed_could_be_made_up_for(shared_store: Store, server: Server) -> None:
    tried = []

    async def make_up() -> None:
        tried.append(1)
        if len(tried) == 1:
            raise StoreAway("away again")

    outage = Outage(shared_store, ManualClock(), make_up)
    server.stop()
    shared_store.add_event("KEPT", 1.0)
    server.start()
    await until_back(shared_store, SystemClock())
    assert await outage.lasts()
    assert not await outage.lasts()
    assert len(tried) == 2


async def test_an_asker_who_is_refused_while_a_server_starts_makes_no_second_outage(
    shared_store: Store, server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    made_up = []

    async def make_up() -> None:
        made_up.append(1)
        if len(made_up) == 1:
            shared_store._db.outages += 1  # it was refused beside us, and answers by now

    outage = Outage(shared_store, ManualClock(), make_up)
    server.stop()
    shared_store.add_event("KEPT", 1.0)
    with caplog.at_level(logging.WARNING, "batonpass"):
        assert await outage.lasts()
        server.start()
        await until_back(shared_store, SystemClock())
        for _ in range(3):
            assert not await outage.lasts()
    assert [text for text in caplog.messages if "is back after" in text] == caplog.messages[-1:]
    assert len(caplog.messages) == 2
    assert len(made_up) == 2, "what that asker missed is made up for as well"
