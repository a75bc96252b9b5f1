"""The user goes to another conversation in the middle, or the successor dies: whose conversation is it?"""

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from batonpass.agents.base import Status
from batonpass.cycle import passing, priming, sealing, steps, verifying, writing
from batonpass.cycle.case import Case
from batonpass.cycle.moves import GONE, MOVED, Move, Outcome, Policy, Result, Step, Way
from batonpass.cycle.plan import next_move
from batonpass.cycle.sealed import as_sealed
from batonpass.facts import Facts
from batonpass.session import State
from tests.cycle.scene import CYCLE, Scene
from tests.cycle.test_passing import KICK, PASS, RECEIPT, passed, sealed  # noqa: F401  (fixtures)
from tests.supervisor.fakes import OTHER, TALK, Talk

THIRD = "0b7d6f0e-5a0c-4d7e-9a57-2f4a7e1c9d11"


@pytest.mark.parametrize("source", ["clear", "resume", "startup"])
async def test_a_conversation_that_the_user_went_to_is_not_asked(scene: Scene, source: str) -> None:
    scene.begins(OTHER, source)
    assert (await writing.safe_point(scene.case, Move(Step.SAFE_POINT))).code == MOVED
    assert (await writing.ask(scene.case, Move(Step.ASK))).code == MOVED
    assert scene.panes.typed == []
    assert not scene.offers.ask_pending(OTHER)


@pytest.mark.parametrize("source", ["clear", "resume"])
@pytest.mark.parametrize("way", list(Way))
async def test_one_begun_before_the_handoff_was_laid_out_is_neither_cleared_nor_taken_for_the_successor(
    sealed: Scene,  # noqa: F811
    source: str,
    way: Way,
) -> None:
    sealed.begins(OTHER, source)
    outcome = await passing.hand_over(sealed.case, Move(Step.PASS, way=way))
    assert (outcome.code, sealed.panes.typed, sealed.launcher.kicks) == (MOVED, [], [])
    assert sealed.case.cycle.new_agent_session is None


async def test_the_users_own_clear_once_the_handoff_is_laid_out_is_the_pass(sealed: Scene) -> None:  # noqa: F811
    sealed.panes.box = "hello"
    assert not (await passing.hand_over(sealed.case, PASS)).ok
    sealed.panes.box = ""
    sealed.begins(OTHER, "clear")
    assert (await passing.hand_over(sealed.case, PASS)).ok
    assert sealed.panes.sent == []


@pytest.mark.parametrize("source", ["clear", "resume"])
async def test_what_the_user_goes_to_while_the_sealed_file_is_looked_at_is_not_cleared(
    sealed: Scene,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    source: str,
) -> None:
    looked = list[bool]()

    async def meanwhile(case: Case) -> str | None:
        looked.append(True)
        if len(looked) == 2:  # the second look comes right before the typing
            sealed.begins(OTHER, source)
        return await as_sealed(case)

    monkeypatch.setattr(passing, "as_sealed", meanwhile)
    outcome = await passing.hand_over(sealed.case, PASS)
    assert (outcome.code, sealed.panes.typed) == ("ok" if source == "clear" else MOVED, [])


async def test_back_in_the_old_conversation_the_cycle_goes_on(scene: Scene) -> None:
    scene.begins(OTHER, "clear")
    scene.begins(TALK, "resume")
    assert (await writing.safe_point(scene.case, Move(Step.SAFE_POINT))).ok


async def test_facts_are_those_of_the_old_conversation_also_after_a_restart(scene: Scene) -> None:
    scene.case.remember(transcript=str(scene.talk.path))
    scene.begins(OTHER, "clear")
    scene.watch.past.clear()  # a daemon that was started since knows only what is in front
    assert any("torn lines" in prompt.text for prompt in (await scene.case.facts()).prompts)


async def test_a_clock_set_back_does_not_hide_the_successor(sealed: Scene) -> None:  # noqa: F811
    def set_back(text: str) -> None:
        sealed.clock.advance(-3600)
        sealed.begins(OTHER, "clear")

    sealed.supervisor.started(sealed.watch, "startup", sealed.clock.now())
    sealed.panes.on_enter = set_back
    assert (await passing.hand_over(sealed.case, PASS)).ok
    assert sealed.panes.sent == ["/clear"]


async def test_a_successor_that_died_is_not_taken_for_the_next_one(passed: Scene) -> None:  # noqa: F811
    passed.says(State.DEAD)
    assert (await priming.prime(passed.case, Move(Step.PRIME))).code == GONE
    passed.launcher.begin = THIRD
    outcome = await passing.hand_over(passed.case, Move(Step.PASS, attempt=2, way=Way.RESPAWN, kick=2))
    assert (outcome.ok, passed.case.cycle.new_agent_session) == (True, THIRD)
    (kick,) = passed.launcher.kicks
    assert (kick or "").startswith(f"[baton {CYCLE} kick 2]")


async def test_what_a_person_said_to_a_successor_that_died_goes_along_to_the_next_one(passed: Scene) -> None:  # noqa: F811
    await priming.prime(passed.case, Move(Step.PRIME))
    passed.talk.prompt("and keep the public names")
    passed.says(State.DEAD)
    assert (await verifying.verify(passed.case, Move(Step.VERIFY))).code == GONE
    passed.launcher.begin = THIRD
    await passing.hand_over(passed.case, Move(Step.PASS, attempt=2, way=Way.RESPAWN, kick=2))
    (kick,) = passed.launcher.kicks
    assert "and keep the public names" in (kick or "")


async def test_what_a_successor_said_before_it_died_is_sealed_with_what_it_was_told(passed: Scene) -> None:  # noqa: F811
    await priming.prime(passed.case, Move(Step.PRIME))
    first = passed.case.recall("sealed")
    passed.talk.prompt("and keep the public names")
    passed.talk.say("The public names are listed in names.txt, and I keep every one of them.")
    passed.says(State.DEAD)
    died = await verifying.verify(passed.case, Move(Step.VERIFY))
    assert (died.code, died.data) == (GONE, {"worked": True})
    assert (await sealing.seal(passed.case, Move(Step.SEAL, document=False, note=died.note))).ok
    (record,) = [one for one in passed.store.handoffs() if one.agent_session == OTHER]
    text = record.path.read_text(encoding="utf-8")
    assert "and keep the public names" in text
    assert "The public names are listed in names.txt" in text
    assert str(record.previous) in str(first), "the chain goes on from what it began with"


async def test_a_successor_that_died_of_its_kick_leaves_nothing_to_hand_off(passed: Scene) -> None:  # noqa: F811
    await priming.prime(passed.case, Move(Step.PRIME))
    passed.says(State.DEAD)
    died = await verifying.verify(passed.case, Move(Step.VERIFY))
    assert (died.code, died.data, passed.case.bequest) == (GONE, {"worked": False}, None)


async def test_a_successor_that_died_before_its_receipt_is_gone_and_one_that_gave_it_is_not(passed: Scene) -> None:  # noqa: F811
    await priming.prime(passed.case, Move(Step.PRIME))
    passed.says(State.DEAD)
    assert (await verifying.verify(passed.case, Move(Step.VERIFY))).code == GONE
    passed.talk.say(f"```json\n{json.dumps(RECEIPT)}\n```")
    passed.supervisor.take_news(passed.watch)
    assert (await verifying.verify(passed.case, Move(Step.VERIFY))).ok


async def test_a_receipt_is_not_waited_for_in_a_conversation_that_was_cleared(passed: Scene) -> None:  # noqa: F811
    await priming.prime(passed.case, Move(Step.PRIME))
    passed.says(State.BUSY)
    began = passed.clock.now()
    passed.begins(THIRD, "clear")
    assert not (await verifying.verify(passed.case, Move(Step.VERIFY))).ok
    assert passed.clock.now() - began < 10, "the time for a receipt would be minutes"


async def test_a_user_who_clears_while_the_request_is_made_is_not_asked(scene: Scene) -> None:
    scene.watch.hooks_seen = 1
    scene.says(State.BUSY)
    gathered = scene.stage.known.facts

    def meanwhile(*args: Any, **named: Any) -> Facts:
        scene.begins(OTHER, "clear")
        return gathered(*args, **named)

    scene.stage.known.facts = meanwhile  # type: ignore[method-assign]
    assert (await writing.ask(scene.case, Move(Step.ASK))).code == MOVED
    assert (scene.panes.typed, scene.offers.ask_pending(OTHER)) == ([], False)


async def test_a_successor_that_only_the_agents_word_tells_of_is_given_the_handoff_with_its_kick(sealed: Scene) -> None:  # noqa: F811
    def unheard(text: str) -> None:
        sealed.names(OTHER)
        sealed.talk = Talk(sealed.folder / f"{OTHER}.jsonl", sealed.clock)
        sealed.watch.begin(OTHER, sealed.talk.path, "clear", sealed.clock.now())
        sealed.supervisor.started(sealed.watch, "clear", sealed.clock.now(), by_word=True)

    sealed.panes.on_enter = unheard
    assert (await passing.hand_over(sealed.case, PASS)).ok
    sealed.panes.on_enter = sealed.hears
    assert (await priming.prime(sealed.case, Move(Step.PRIME))).ok
    assert "Keep the torn bytes and not the torn text" in sealed.panes.sent[-1]


async def test_what_the_agents_word_says_is_in_front_is_not_ended_with_its_process(sealed: Scene) -> None:  # noqa: F811
    sealed.names(OTHER)

    async def looks() -> None:
        for _ in range(3):
            await asyncio.sleep(0)
        sealed.watch.begin(OTHER, None, "clear", sealed.clock.now())
        sealed.supervisor.started(sealed.watch, "clear", sealed.clock.now(), by_word=True)

    outcome, _ = await asyncio.gather(passing.hand_over(sealed.case, Move(Step.PASS, way=Way.RESPAWN)), looks())
    assert (outcome.code, sealed.launcher.kicks) == (MOVED, [])


@pytest.mark.parametrize("way", [Way.CLEAR, Way.RESPAWN, Way.SWITCH])
async def test_a_conversation_that_nothing_but_the_agents_word_ever_tells_of_is_neither_cleared_nor_ended(
    sealed: Scene,  # noqa: F811
    way: Way,
) -> None:
    sealed.case.remember(to="understudy")
    sealed.names(OTHER)
    outcome = await passing.hand_over(sealed.case, Move(Step.PASS, way=way))
    assert (outcome.code, sealed.panes.typed, sealed.launcher.kicks) == (MOVED, [], [])


@pytest.mark.parametrize("policy", [Policy(), Policy(force=True)])
async def test_where_the_agents_word_keeps_naming_another_conversation_the_handoff_is_sealed_and_pending(
    scene: Scene, policy: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "_CEILINGS", {})  # threads take their time, and this clock waits for nobody
    scene.names(OTHER)
    history, moves = list[Outcome](), list[Move]()
    while (move := next_move(history, policy)) is not None:
        moves.append(move)
        history.append(await steps.run(scene.stage, CYCLE, move))
    assert (moves[-1].result, len(scene.documents())) == (Result.PENDING, 1)
    assert (scene.panes.typed, scene.launcher.kicks) == ([], [])


async def test_where_the_agents_word_keeps_naming_another_conversation_than_the_successors_nobody_is_kicked(
    passed: Scene,  # noqa: F811
) -> None:
    passed.names(THIRD)
    outcome = await priming.prime(passed.case, Move(Step.PRIME))
    assert (outcome.code, passed.panes.typed) == (MOVED, [])


async def test_a_person_who_goes_back_to_the_predecessor_is_not_given_its_kick(passed: Scene) -> None:  # noqa: F811
    passed.begins(TALK, "resume")
    outcome = await priming.prime(passed.case, Move(Step.PRIME))
    assert (outcome.code, passed.panes.typed) == (MOVED, [])
    closing = next_move([Outcome(Step.PASS), outcome], Policy())
    assert closing is not None
    assert (closing.step, closing.result) == (Step.CLOSE, Result.PENDING)


async def test_a_successor_that_the_person_began_anew_is_given_its_kick(passed: Scene) -> None:  # noqa: F811
    passed.begins(THIRD, "clear")
    assert (await priming.prime(passed.case, Move(Step.PRIME))).ok


async def test_a_successor_that_is_cleared_before_its_kick_is_sent_costs_no_attempt(passed: Scene) -> None:  # noqa: F811
    passed.says(State.BUSY)

    async def clears() -> None:
        await asyncio.sleep(0)
        passed.begins(THIRD, "clear")
        passed.says(State.IDLE)

    outcome, _ = await asyncio.gather(priming.prime(passed.case, Move(Step.PRIME)), clears())
    assert (outcome.ok, len(passed.panes.sent)) == (True, 1)
    assert passed.watch.conversation.prompted(KICK) is not None


async def test_a_successor_that_is_cleared_while_its_box_comes_to_rest_is_kicked_once_where_the_person_is(
    passed: Scene,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(passed.agent, "clear_seconds", 1.0)

    async def clears() -> None:
        await asyncio.sleep(0)
        passed.begins(THIRD, "clear")

    outcome, _ = await asyncio.gather(priming.prime(passed.case, Move(Step.PRIME)), clears())
    assert (outcome.ok, len(passed.panes.sent)) == (True, 1)
    assert passed.watch.conversation.prompted(KICK) is not None


def left_behind(scene: Scene) -> None:
    """As a daemon finds it that follows a crash: the successor began, and the store still has the session before it."""
    conversation, past = scene.watch.conversation, scene.watch.past[-1]
    scene.watch.conversation, scene.watch.status = past, Status(State.IDLE)
    scene.watch.session = replace(scene.watch.session, agent_session=TALK)

    def heeded() -> None:
        if scene.watch.left_for == OTHER:
            scene.watch.begin(OTHER, conversation.transcript, "clear", scene.clock.now())

    asyncio.get_running_loop().call_soon(heeded)


async def test_a_daemon_that_is_behind_its_agent_after_a_crash_catches_up_before_it_kicks(
    passed: Scene,  # noqa: F811
) -> None:
    left_behind(passed)
    assert (await priming.prime(passed.case, Move(Step.PRIME))).ok


async def test_a_daemon_that_is_behind_its_agent_after_a_crash_catches_up_before_it_judges(
    passed: Scene,  # noqa: F811
) -> None:
    await priming.prime(passed.case, Move(Step.PRIME))
    passed.talk.say(f"```json\n{json.dumps(RECEIPT)}\n```")
    passed.supervisor.take_news(passed.watch)
    left_behind(passed)
    assert (await verifying.verify(passed.case, Move(Step.VERIFY))).ok
