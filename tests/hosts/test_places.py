"""`max_concurrent` across hosts: places are leased in the store, and those of a host that is gone run out."""

import asyncio

import sqlalchemy as sa

from batonpass.store import Store
from batonpass.store.tables import leases
from batonpass.supervisor.slots import Slots, StoreLease


def _slots(store: Store, host: str, size: int = 1) -> Slots:
    return Slots(size, StoreLease(store, host))


async def _later() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def _run_out(store: Store, host: str) -> None:
    with store._db.write() as connection:
        connection.execute(sa.update(leases).where(leases.c.host == host).values(expires=0.0))


async def test_a_place_that_another_host_holds_is_waited_for(shared_store: Store) -> None:
    one, two = _slots(shared_store, "one"), _slots(shared_store, "two")
    await one.hold("a", 90)
    waiting = asyncio.ensure_future(two.hold("b", 90))
    await _later()
    assert (two.waiting, two.held) == (("b",), frozenset())
    one.release("a")
    await asyncio.wait_for(waiting, 10)
    assert two.held == {"b"}


async def test_the_most_urgent_of_a_host_gets_the_place_that_another_host_gives_back(shared_store: Store) -> None:
    one, two = _slots(shared_store, "one"), _slots(shared_store, "two")
    await one.hold("a", 90)
    calm = asyncio.ensure_future(two.hold("calm", 86))
    await _later()
    urgent = asyncio.ensure_future(two.hold("urgent", 97))
    await _later()
    one.release("a")
    await asyncio.wait_for(urgent, 10)
    assert not calm.done()
    two.release("urgent")
    await asyncio.wait_for(calm, 10)


async def test_the_places_of_a_dead_host_run_out_and_a_beating_host_keeps_its_own(shared_store: Store) -> None:
    dead, alive, other = (_slots(shared_store, name, 2) for name in ("dead", "alive", "other"))
    await dead.hold("a", 90)
    await alive.hold("b", 90)
    waiting = asyncio.ensure_future(other.hold("c", 90))
    await _later()
    assert not waiting.done()
    _run_out(shared_store, "dead")
    _run_out(shared_store, "alive")
    alive.renew()
    await asyncio.wait_for(waiting, 10)
    assert not shared_store.take_place("d", "fourth", 2)


async def test_a_cycle_that_was_cut_off_finds_its_place_again(shared_store: Store) -> None:
    await _slots(shared_store, "one").hold("a", 90)
    restarted = _slots(shared_store, "one")
    await asyncio.wait_for(restarted.hold("a", 90), 5)
    assert restarted.held == {"a"}


async def test_places_of_one_host_alone_go_to_the_most_urgent() -> None:
    slots, order = Slots(1), []

    async def work(cycle: str, urgency: float) -> None:
        await slots.hold(cycle, urgency)
        order.append(cycle)
        slots.release(cycle)

    await slots.hold("first", 0)
    tasks = [asyncio.ensure_future(work(name, urgency)) for name, urgency in (("a", 86), ("b", 97), ("c", 91))]
    await _later()
    slots.release("first")
    await asyncio.gather(*tasks)
    assert order == ["b", "c", "a"]


async def test_a_cycle_that_gives_up_waiting_takes_no_place() -> None:
    slots = Slots(1)
    await slots.hold("a", 90)
    waiting = asyncio.ensure_future(slots.hold("b", 90))
    await _later()
    waiting.cancel()
    await _later()
    slots.release("a")
    assert slots.held == frozenset()
    await asyncio.wait_for(slots.hold("c", 1), 5)
