import asyncio

from batonpass.supervisor.slots import Slots


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_no_more_cycles_hold_a_place_than_there_are() -> None:
    slots = Slots(2)
    await slots.hold("a", 50)
    await slots.hold("b", 50)
    third = asyncio.create_task(slots.hold("c", 99))
    await settle()
    assert slots.held == {"a", "b"}
    assert (slots.waiting, third.done()) == (("c",), False)
    slots.release("a")
    await third
    assert slots.held == {"b", "c"}
    assert slots.waiting == ()


async def test_the_most_urgent_goes_first_and_of_equals_the_one_that_came_first() -> None:
    slots = Slots(1)
    await slots.hold("a", 50)
    order: list[str] = []

    async def wait(cycle: str, urgency: float) -> None:
        await slots.hold(cycle, urgency)
        order.append(cycle)
        slots.release(cycle)

    waiting = []
    for cycle, urgency in (("low", 85.0), ("first", 90.0), ("second", 90.0), ("high", 97.0)):
        waiting.append(asyncio.create_task(wait(cycle, urgency)))
        await settle()
    assert slots.waiting == ("high", "first", "second", "low")
    slots.release("a")
    await asyncio.gather(*waiting)
    assert order == ["high", "first", "second", "low"]
    assert slots.held == frozenset()


async def test_a_cycle_that_holds_a_place_already_gets_no_second_one() -> None:
    slots = Slots(1)
    await slots.hold("a", 50)
    await asyncio.wait_for(slots.hold("a", 50), 5)
    slots.release("a")
    assert slots.held == frozenset()


async def test_one_that_gives_up_waiting_blocks_nobody() -> None:
    slots = Slots(1)
    await slots.hold("a", 50)
    gone = asyncio.create_task(slots.hold("b", 99))
    patient = asyncio.create_task(slots.hold("c", 50))
    await settle()
    gone.cancel()
    await asyncio.gather(gone, return_exceptions=True)
    slots.release("a")
    await asyncio.wait_for(patient, 5)
    assert slots.held == {"c"}


async def test_giving_back_what_one_does_not_hold_is_no_error_and_makes_no_place() -> None:
    slots = Slots(1)
    await slots.hold("a", 50)
    slots.release("nobody")
    late = asyncio.create_task(slots.hold("b", 50))
    await settle()
    assert not late.done()
    slots.release("a")
    await late
