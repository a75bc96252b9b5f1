import asyncio

import pytest

from batonpass.agents.base import Status
from batonpass.session import PaneRef, State
from batonpass.supervisor.keys import BUSY, DIALOG, GONE, MODE, MOVED, TEXT, UNSENT, Keys, NotReady
from batonpass.supervisor.watch import Watch
from batonpass.terminals.base import Screen
from tests.supervisor.fakes import NO_BOX, OTHER, TALK, FakePanes, HastyClock, ToldAgent

PROMPT = "[baton 7f3a91c2 ask 1] Write the handoff, please."


@pytest.fixture
def panes() -> FakePanes:
    return FakePanes()


@pytest.fixture
def keys(panes: FakePanes, clock: HastyClock) -> Keys:
    return Keys(panes, clock)


async def refused(keys: Keys, watch: Watch) -> str:
    with pytest.raises(NotReady) as caught:
        await keys.ready(watch, 5.0)
    return caught.value.code


@pytest.mark.parametrize(
    ("state", "code"),
    [
        (State.BUSY, BUSY),
        (State.STARTING, BUSY),
        (State.UNKNOWN, BUSY),
        (State.WAITING, DIALOG),
        (State.DEAD, GONE),
    ],
)
async def test_nothing_is_typed_unless_the_agent_itself_says_that_it_is_idle(
    keys: Keys, watch: Watch, agent: ToldAgent, panes: FakePanes, state: State, code: str
) -> None:
    agent.says = Status(state, TALK)
    assert await refused(keys, watch) == code
    assert panes.typed == []


async def test_nothing_is_typed_while_the_agent_says_that_another_conversation_is_in_front(
    keys: Keys, watch: Watch, agent: ToldAgent, panes: FakePanes
) -> None:
    agent.says = Status(State.IDLE, OTHER)
    assert await refused(keys, watch) == MOVED
    assert panes.typed == []


async def test_what_was_meant_for_one_conversation_is_not_typed_into_the_next_one(
    keys: Keys, watch: Watch, agent: ToldAgent, panes: FakePanes, clock: HastyClock
) -> None:
    agent.says = Status(State.BUSY, TALK)

    async def clears() -> None:
        await asyncio.sleep(0)
        agent.says = Status(State.IDLE, OTHER)
        watch.begin(OTHER, None, "clear", clock.now())

    code, _ = await asyncio.gather(refused(keys, watch), clears())
    assert (code, panes.typed) == (MOVED, [])


async def test_a_text_that_a_clear_has_overtaken_is_not_sent_and_does_not_stay_in_the_box(
    keys: Keys, watch: Watch, agent: ToldAgent, panes: FakePanes
) -> None:
    def cleared() -> None:
        agent.says = Status(State.IDLE, OTHER)

    panes.on_paste = cleared
    with pytest.raises(NotReady) as caught:
        await keys.submit(watch, PROMPT, lambda: False)
    assert (caught.value.code, panes.typed) == (MOVED, [PROMPT, "C-c"])


async def test_a_text_is_not_sent_to_a_conversation_that_began_while_it_was_pasted(
    keys: Keys, watch: Watch, agent: ToldAgent, panes: FakePanes, clock: HastyClock
) -> None:
    def cleared() -> None:
        agent.says = Status(State.IDLE, OTHER)
        watch.begin(OTHER, None, "clear", clock.now())

    panes.on_paste = cleared
    with pytest.raises(NotReady) as caught:
        await keys.submit(watch, PROMPT, lambda: False)
    assert (caught.value.code, panes.typed) == (MOVED, [PROMPT, "C-c"])


async def test_nothing_is_typed_while_the_stop_hook_is_open(keys: Keys, watch: Watch, panes: FakePanes) -> None:
    watch.holding_stop = True
    assert await refused(keys, watch) == BUSY


async def test_the_screen_vetoes_a_dialog_unsent_text_and_a_missing_box(
    keys: Keys, watch: Watch, agent: ToldAgent, panes: FakePanes
) -> None:
    panes.box = "half a thought"
    assert await refused(keys, watch) == TEXT
    panes.box = NO_BOX
    assert await refused(keys, watch) == DIALOG
    panes.box, agent.dialog_shown = "", "Do you want to go on?"
    assert await refused(keys, watch) == DIALOG
    assert panes.typed == []


async def test_a_dead_or_vanished_pane_is_not_waited_for(
    keys: Keys, watch: Watch, panes: FakePanes, clock: HastyClock
) -> None:
    before = clock.now()
    panes.dead = 1
    assert await refused(keys, watch) == GONE
    panes.gone = True
    assert await refused(keys, watch) == GONE
    assert clock.now() == before


async def test_somebody_who_reads_is_left_alone_for_half_the_time(
    keys: Keys, watch: Watch, panes: FakePanes, clock: HastyClock
) -> None:
    panes.mode = "copy-mode"
    obstacle = await keys.obstacle(watch)
    assert obstacle is not None
    assert obstacle.code == MODE
    before = clock.now()
    await keys.ready(watch, 20.0)
    assert panes.mode == ""
    assert clock.now() - before >= 10


@pytest.mark.parametrize(("text", "needed"), [("half a thought", 4), ("/clear", 3), ("/clear this mess", 4)])
async def test_it_is_typed_when_the_box_is_empty_again_and_a_person_is_given_time_to_be_heard(
    keys: Keys, watch: Watch, panes: FakePanes, text: str, needed: int
) -> None:
    panes.box = text
    looks = 0

    async def look() -> None:
        nonlocal looks
        looks += 1
        if looks == 3:
            panes.box = ""

    obstacle = keys.obstacle

    async def spied(watch: Watch, *, working: bool = False) -> NotReady | None:
        await look()
        return await obstacle(watch, working=working)

    keys.obstacle = spied  # type: ignore[method-assign]
    await keys.ready(watch, 60.0, sent="/clear")
    assert looks == needed  # once more, since the agent's word may lag behind the person's Enter


async def test_what_a_person_has_typed_is_seen_also_while_a_turn_is_under_way(
    keys: Keys, watch: Watch, panes: FakePanes, agent: ToldAgent
) -> None:
    agent.says = Status(State.BUSY, TALK)
    await keys.ready(watch, 5.0, working=True)
    panes.box = "half a thought"
    with pytest.raises(NotReady, match="typed text"):
        await keys.ready(watch, 5.0, working=True)
    with pytest.raises(NotReady, match="busy"):
        await keys.ready(watch, 5.0)


async def test_a_prompt_is_pasted_once_and_entered_once(keys: Keys, watch: Watch, panes: FakePanes) -> None:
    assert await keys.submit(watch, PROMPT, lambda: PROMPT in panes.sent)
    assert panes.typed == [PROMPT, "Enter"]


async def test_an_enter_that_was_swallowed_is_pressed_again_and_nothing_is_pasted_twice(
    keys: Keys, watch: Watch, panes: FakePanes
) -> None:
    panes.swallow = 1
    assert await keys.submit(watch, PROMPT, lambda: PROMPT in panes.sent)
    assert panes.typed == [PROMPT, "Enter", "Enter"]


async def test_a_prompt_that_an_agent_is_slow_to_take_out_of_its_box_was_sent_all_the_same(
    keys: Keys, watch: Watch, agent: ToldAgent, panes: FakePanes, clock: HastyClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    late: list[float] = []
    monkeypatch.setattr(agent, "paste_seconds", 0.4)

    async def press(pane: PaneRef, key: str) -> None:
        panes.typed.append(key)
        late.append(clock.ticks() + 1.2)  # a little longer than anybody waits for a sign of it

    async def screen(pane: PaneRef) -> Screen:
        if late and clock.ticks() >= late[0]:
            panes.box = ""
        return Screen((panes.box,), 0, 0)

    monkeypatch.setattr(panes, "press", press)
    monkeypatch.setattr(panes, "screen", screen)
    assert await keys.submit(watch, PROMPT, lambda: bool(late) and clock.ticks() >= late[0] + 4.0)
    assert panes.typed.count(PROMPT) == 1


async def test_a_prompt_that_was_sent_without_proof_is_not_entered_again(
    keys: Keys, watch: Watch, panes: FakePanes
) -> None:
    assert not await keys.submit(watch, PROMPT, lambda: False)
    assert panes.typed == [PROMPT, "Enter"]


async def test_a_text_that_mixed_with_a_persons_is_not_sent(keys: Keys, watch: Watch, panes: FakePanes) -> None:
    def type_too() -> None:
        panes.box += " and something of mine"

    panes.on_paste = type_too
    with pytest.raises(NotReady) as caught:
        await keys.submit(watch, PROMPT, lambda: False)
    assert caught.value.code == UNSENT
    assert panes.sent == []


async def test_no_enter_goes_into_an_agent_that_became_busy_or_shows_a_dialog(
    keys: Keys, watch: Watch, panes: FakePanes, agent: ToldAgent
) -> None:
    def begin() -> None:
        agent.says = Status(State.BUSY, TALK)

    panes.on_paste = begin
    with pytest.raises(NotReady, match="became busy"):
        await keys.submit(watch, PROMPT, lambda: False)
    agent.says, panes.box = Status(State.IDLE, TALK), ""

    def ask() -> None:
        agent.dialog_shown = "Do you want to go on?"

    panes.on_paste = ask
    with pytest.raises(NotReady):
        await keys.submit(watch, PROMPT, lambda: False)
    assert "Enter" not in panes.typed


async def test_a_pane_that_vanishes_while_it_is_typed_into_is_said_so(
    keys: Keys, watch: Watch, panes: FakePanes
) -> None:
    def vanish() -> None:
        panes.gone = True

    panes.on_paste = vanish
    with pytest.raises(NotReady) as caught:
        await keys.submit(watch, PROMPT, lambda: False)
    assert caught.value.code == GONE


async def test_what_was_typed_before_a_crash_is_found_in_the_box_and_only_entered(
    keys: Keys, watch: Watch, panes: FakePanes, agent: ToldAgent
) -> None:
    assert not await keys.holds(watch, PROMPT)
    panes.box = PROMPT
    assert await keys.holds(watch, PROMPT)
    assert not await keys.holds(watch, "another prompt altogether")
    assert await keys.submit(watch, PROMPT, lambda: PROMPT in panes.sent, pasted=True)
    assert panes.typed == ["Enter"]
    panes.box = PROMPT
    agent.says = Status(State.BUSY, TALK)
    assert not await keys.holds(watch, PROMPT)
