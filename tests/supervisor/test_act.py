import asyncio
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from batonpass import agents
from batonpass.agents.base import HookKind, HookReport
from batonpass.cycle.moves import Policy, Step
from batonpass.delivery import Channel, Delivery, DeliveryState
from batonpass.session import State
from batonpass.store import CycleState, Store
from batonpass.supervisor.act import Supervisor
from batonpass.supervisor.offers import Offers
from batonpass.supervisor.settings import Settings
from batonpass.supervisor.watch import Watch
from tests.supervisor.fakes import OTHER, TALK, HastyClock, a_watch, start, stop


class Scene:
    """A supervisor over one session, with an engine that only notes what it is given."""

    def __init__(self, folder: Path, store: Store, clock: HastyClock) -> None:
        self.store, self.clock = store, clock
        self.told: list[str] = []
        self.cycles: list[tuple[str, Policy]] = []
        self.busy = False  # the engine has one under way
        self.on_pass: Callable[[], None] = lambda: None
        self.supervisor = Supervisor(store, clock, Settings(folder / "home", {}), self._notify)
        self.supervisor.starter.pass_baton = self._pass
        self.watch, self.talk = a_watch(folder, clock)
        self.supervisor.add(self.watch)
        self.offers = Offers(self.watch.folder, self.watch.agent)

    async def _notify(self, session: str, text: str) -> None:
        self.told.append(text)

    async def _pass(self, cycle: str, session: str, policy: Policy) -> bool:
        self.cycles.append((cycle, policy))
        self.on_pass()
        return not self.busy

    async def reads(self, used: int) -> None:
        """The status line tells this usage, and everything that follows from it happens."""
        payload = {"session": self.watch.conversation.agent_session, "window": 200_000, "used": used, "model": "m"}
        self.supervisor.take_statusline(self.watch, payload, self.clock.now())
        for _ in range(10):
            await asyncio.sleep(0)

    def close(self, state: CycleState = CycleState.DONE) -> None:
        """The engine says how its last cycle ended."""
        self.store.update_cycle(self.cycles[-1][0], state=state, ended=self.clock.now())
        self.watch.step = None

    def note(self) -> str:
        path = self.watch.folder / f"note.{self.watch.conversation.agent_session}"
        return path.read_text(encoding="utf-8") if path.exists() else ""


@pytest.fixture
def scene(tmp_path: Path, store: Store, clock: HastyClock) -> Scene:
    return Scene(tmp_path, store, clock)


async def test_every_zone_is_recorded_once_with_its_actions(scene: Scene) -> None:
    for used in (20_000, 52_000, 53_000, 90_000, 120_000, 120_500):
        await scene.reads(used)
    checks = scene.store.health_checks(session=scene.watch.session.id)
    assert [(check.status, check.details["zone"]) for check in checks] == [
        ("ok", "normal"),
        ("ok", "monitoring"),
        ("warning", "warning"),
        ("critical", "critical"),
    ]
    assert [check.action for check in checks][1:3] == ["log", "warn, restrict"]
    budget = scene.store.events(session=scene.watch.session.id, name="TOKEN_BUDGET")
    assert (budget[-1].data["used"], budget[-1].data["limit"]) == (120_000, 167_000)
    assert scene.cycles == []
    assert len(scene.store.readings(scene.watch.session.id)) == 6


async def test_a_warning_rides_on_the_next_prompt_and_wakes_nobody(scene: Scene) -> None:
    await scene.reads(52_000)
    assert scene.note() == ""
    await scene.reads(90_000)
    assert "Context at 54 %" in scene.note()
    assert scene.told == []
    (scene.watch.folder / f"note.{TALK}").unlink()
    await scene.reads(91_000)
    assert scene.note() == "", "a warning is given once"


async def test_a_reminder_comes_again_after_ten_minutes_and_no_sooner(scene: Scene) -> None:
    await scene.reads(120_000)
    note = scene.watch.folder / f"note.{TALK}"
    assert "Finish the current piece of work" in scene.note()
    note.unlink()
    scene.clock.advance(599)
    await scene.reads(120_100)
    assert scene.note() == ""
    scene.clock.advance(2)
    await scene.reads(120_200)
    assert "Finish the current piece of work" in scene.note()


async def test_over_the_threshold_one_cycle_is_started_however_many_readings_come(scene: Scene) -> None:
    for used in (100_000, 145_000, 146_000, 147_000):
        await scene.reads(used)
    ((cycle, policy),) = scene.cycles
    assert (policy.force, policy.auto_continue) == (False, True)
    record = scene.store.cycle(cycle)
    assert record is not None
    assert (record.used, record.old_agent_session, record.state) == (145_000, TALK, CycleState.RUNNING)
    assert scene.watch.step == Step.PREPARE
    (decision,) = scene.store.events(session=scene.watch.session.id, name="HANDOFF_DECISION")
    assert decision.cycle == cycle


async def test_far_over_the_threshold_the_cycle_may_force(scene: Scene) -> None:
    await scene.reads(40_000)
    await scene.reads(162_000)
    assert [policy.force for _, policy in scene.cycles] == [True]


async def test_a_start_that_the_engine_refuses_leaves_the_session_free(scene: Scene) -> None:
    scene.busy = True
    await scene.reads(100_000)
    await scene.reads(145_000)
    (record,) = scene.store.cycles(session=scene.watch.session.id)
    assert record.state is CycleState.POSTPONED
    assert scene.watch.step is None


async def test_after_a_cycle_that_failed_the_next_one_waits_for_the_cooldown(scene: Scene) -> None:
    await scene.reads(100_000)
    await scene.reads(145_000)
    scene.close(CycleState.FAILED)
    scene.clock.advance(299)
    await scene.reads(146_000)
    assert len(scene.cycles) == 1
    scene.clock.advance(2)
    await scene.reads(147_000)
    assert len(scene.cycles) == 2


async def test_a_predecessor_that_was_brought_back_full_hears_nothing_of_the_ladder_until_its_cycle_has_closed(
    scene: Scene,
) -> None:
    await scene.reads(100_000)
    await scene.reads(145_000)
    (scene.watch.folder / f"note.{TALK}").unlink(missing_ok=True)
    for talk in (OTHER, TALK):
        await scene.supervisor.take_hook(scene.watch, start(talk, "resume"), scene.clock.now())
    scene.watch.brought_back = TALK
    await scene.reads(146_000)
    decision = scene.supervisor.standing(scene.watch).decision
    assert decision is not None
    assert (decision.zone, decision.hand_off, decision.actions, scene.note()) == ("mandatory", False, (), "")
    scene.watch.brought_back = None
    scene.close(CycleState.UNVERIFIED)
    await scene.reads(146_500)
    decision = scene.supervisor.standing(scene.watch).decision
    assert decision is not None
    assert decision.hand_off
    assert len(scene.cycles) == 1, "a person has been called, and it cools down first"


async def test_a_predecessor_that_stays_above_the_threshold_after_the_way_back_begins_no_storm(scene: Scene) -> None:
    await scene.reads(100_000)
    for minute in range(59):
        await scene.reads(145_000 + minute)
        if scene.watch.step is not None:
            scene.watch.brought_back = TALK
            await scene.reads(145_000)
            scene.watch.brought_back = None
            scene.close(CycleState.UNVERIFIED)
        scene.clock.advance(60)
        scene.supervisor.consider_again()
    begun = [cycle.started for cycle in scene.store.cycles(session=scene.watch.session.id)]
    assert [later - sooner for sooner, later in pairwise(begun)] == [300.0, 300.0]
    (told,) = scene.told
    assert "3 handoffs within an hour" in told
    assert f"baton breaker reset {scene.watch.session.name}" in told


async def test_a_successor_that_is_born_above_the_threshold_is_not_handed_off_for_ever(scene: Scene) -> None:
    scene.watch.session = replace(scene.watch.session, chain=1)
    await scene.supervisor.take_hook(scene.watch, start(OTHER), scene.clock.now())
    await scene.reads(150_000)
    await scene.reads(151_000)
    assert scene.cycles == []
    assert len(scene.told) == 1
    assert "begins above the threshold" in scene.told[0]


async def test_a_successor_that_grows_over_the_threshold_is_handed_off_again(scene: Scene) -> None:
    scene.watch.session = replace(scene.watch.session, chain=1)
    await scene.supervisor.take_hook(scene.watch, start(OTHER), scene.clock.now())
    await scene.reads(30_000)
    await scene.reads(150_000)
    assert len(scene.cycles) == 1


async def test_a_successor_that_grew_while_no_daemon_was_there_is_not_taken_for_born_full(scene: Scene) -> None:
    scene.watch.session = replace(scene.watch.session, chain=1)
    scene.watch.window = 200_000
    for used in (30_000, 90_000, 150_000):
        scene.talk.prompt("go on")
        scene.talk.say("done", used=used)
    scene.supervisor.take_news(scene.watch)  # the first look at it: one reading, of the last response
    await asyncio.sleep(0)
    assert len(scene.watch.readings) == 1
    assert len(scene.cycles) == 1
    assert scene.told == []


async def test_that_a_conversation_was_born_full_is_told_once_also_by_a_later_daemon(
    scene: Scene, tmp_path: Path, store: Store, clock: HastyClock
) -> None:
    await test_a_successor_that_is_born_above_the_threshold_is_not_handed_off_for_ever(scene)
    later = Supervisor(store, clock, Settings(tmp_path / "home", {}), scene._notify)
    later.starter.pass_baton = scene._pass
    later.reopen(scene.watch)
    later.consider(scene.watch)
    await asyncio.sleep(0)
    assert (scene.cycles, len(scene.told)) == ([], 1)


async def test_an_ended_session_is_not_handed_off(scene: Scene) -> None:
    scene.watch.session = replace(scene.watch.session, state=State.ENDED)
    await scene.reads(150_000)
    assert scene.cycles == []


async def test_a_tag_in_the_record_proves_the_delivery(scene: Scene) -> None:
    mark = "[baton 7f3a91c2 ask 1]"
    given = Delivery(
        mark, scene.watch.session.id, "7f3a91c2", "ask", 1, Channel.HOOK, DeliveryState.OFFERED, "write", 1.0
    )
    scene.store.save_delivery(given)
    scene.talk.prompt(f"{mark} write")
    scene.supervisor.take_news(scene.watch)
    seen = scene.store.delivery(mark)
    assert seen is not None
    assert (seen.state, seen.seen) == (DeliveryState.SEEN, scene.clock.now())


async def test_usage_in_the_transcript_is_a_reading_too(scene: Scene) -> None:
    scene.talk.say("hello", used=12_000)
    scene.supervisor.take_news(scene.watch)
    (reading,) = scene.store.readings(scene.watch.session.id)
    assert (reading.used, reading.source, reading.agent_session) == (12_000, "transcript", TALK)


async def test_a_compaction_of_its_own_is_recorded_as_a_miss_and_begins_the_readings_anew(scene: Scene) -> None:
    await scene.reads(100_000)
    scene.talk.add("compacted", trigger="auto", before=166_000)
    scene.clock.advance(60)
    scene.talk.add("compacted", trigger="manual", before=100_000)
    scene.supervisor.take_news(scene.watch)
    assert scene.watch.reading is None
    names = [event.name for event in scene.store.events(session=scene.watch.session.id)]
    assert (names.count("COMPACTED"), names.count("CONTEXT_MISSED")) == (2, 1)


async def test_a_later_daemon_knows_where_the_agent_compacted_itself(scene: Scene) -> None:
    scene.talk.add("compacted", trigger="auto", before=120_000)
    scene.talk.add("compacted", trigger="manual", before=60_000)
    scene.supervisor.take_news(scene.watch)
    session = replace(scene.watch.session, transcript=None, agent_session="9f0c3a1e-0000-4000-8000-000000000000")
    later = Watch(session, scene.watch.agent, scene.watch.folder, {}, scene.clock)
    scene.supervisor.reopen(later)
    assert later.usable(200_000) == 120_000
    assert later.usable(1_000_000) > 120_000


async def test_the_users_own_handoff_command_starts_a_cycle_below_the_threshold(scene: Scene) -> None:
    asked = HookReport(HookKind.PROMPT, TALK, prompt="/handoff lunch", handoff_requested="lunch")
    await scene.supervisor.take_hook(scene.watch, asked, scene.clock.now())
    (cycle,) = scene.store.cycles(session=scene.watch.session.id)
    assert cycle.cause == "asked for by /handoff: lunch"


async def test_what_a_sub_agents_hook_says_is_not_the_sessions(scene: Scene) -> None:
    asked = HookReport(HookKind.PROMPT, TALK, foreign=True, handoff_requested="")
    await scene.supervisor.take_hook(scene.watch, asked, scene.clock.now())
    assert (scene.cycles, scene.watch.hooks_seen) == ([], 0)


async def test_a_stop_hook_is_not_held_where_nothing_is_due(scene: Scene) -> None:
    before = scene.clock.now()
    await scene.supervisor.take_hook(scene.watch, stop(), before)
    assert scene.clock.now() == before
    assert not scene.watch.holding_stop


async def test_a_stop_hook_is_held_until_the_ask_is_laid_out(scene: Scene) -> None:
    scene.watch.window = 200_000
    scene.talk.say("all done", used=145_000)
    held: list[bool] = []

    def lay() -> None:
        held.append(scene.watch.holding_stop)
        scene.offers.ask(TALK, "write")
        scene.watch.changed()

    scene.on_pass, before = lay, scene.clock.now()
    await scene.supervisor.take_hook(scene.watch, stop("all done"), before)
    assert held == [True]
    assert len(scene.cycles) == 1
    assert scene.offers.ask_pending(TALK)
    assert scene.clock.now() - before < 2


async def test_nothing_is_handed_off_on_a_guessed_window_and_the_turn_waits_a_moment_for_the_status_line(
    scene: Scene,
) -> None:
    held: list[bool] = []
    scene.on_pass = lambda: held.append(scene.watch.holding_stop)
    scene.talk.say("all done", used=145_000)
    ends = asyncio.create_task(scene.supervisor.take_hook(scene.watch, stop("all done"), scene.clock.now()))
    assert await scene.watch.until(lambda: bool(scene.watch.readings), 0.5)
    assert (scene.watch.holding_stop, scene.cycles) == (True, [])
    payload = {"session": TALK, "window": 200_000, "used": 145_000, "model": "m"}
    scene.supervisor.take_statusline(scene.watch, payload, scene.clock.now())
    await ends
    assert len(scene.cycles) == 1
    assert held == [True], "it can be asked in the same turn"


async def test_a_turn_does_not_wait_for_a_status_line_that_does_not_come(scene: Scene) -> None:
    scene.talk.say("all done", used=145_000)
    scene.supervisor._consider_later = _nobody  # type: ignore[method-assign]
    before = scene.clock.now()
    await scene.supervisor.take_hook(scene.watch, stop("all done"), before)
    assert 1 <= scene.clock.now() - before < 2
    assert (scene.watch.holding_stop, scene.cycles) == (False, [])


async def _nobody(watch: Watch) -> None:
    """In place of the look at a guess that was left alone for a while."""


async def test_a_stop_hook_is_let_go_when_the_ask_does_not_come(scene: Scene) -> None:
    scene.watch.window = 200_000
    scene.talk.say("all done", used=145_000)
    before = scene.clock.now()
    await scene.supervisor.take_hook(scene.watch, stop("all done"), before)
    assert 5 <= scene.clock.now() - before < 6
    assert not scene.watch.holding_stop


async def test_a_stop_hook_is_let_go_sooner_when_its_cycle_waits_for_others(scene: Scene) -> None:
    scene.watch.window = 200_000
    scene.talk.say("all done", used=145_000)
    scene.watch.queued = True
    before = scene.clock.now()
    await scene.supervisor.take_hook(scene.watch, stop("all done"), before)
    assert 2 <= scene.clock.now() - before < 3


async def test_leaving_by_the_users_own_wish_is_remembered_for_the_look_round(scene: Scene) -> None:
    other = HookReport(HookKind.SESSION_END, OTHER, source="prompt_input_exit")
    await scene.supervisor.take_hook(scene.watch, other, 1.0)
    assert not scene.watch.leaving
    own = HookReport(HookKind.SESSION_END, TALK, source="prompt_input_exit")
    await scene.supervisor.take_hook(scene.watch, own, 1.0)
    assert scene.watch.leaving


async def test_a_session_taken_up_again_knows_its_readings_and_is_not_taken_for_a_new_one(
    scene: Scene, tmp_path: Path, store: Store, clock: HastyClock
) -> None:
    await scene.supervisor.take_hook(scene.watch, start(TALK, "startup"), clock.now())
    await scene.reads(30_000)
    await scene.reads(60_000)
    saved = store.session(scene.watch.session.id)
    assert saved is not None
    later = Supervisor(store, clock, Settings(tmp_path / "home", {}), scene._notify)
    again = Watch(replace(saved, chain=1), scene.watch.agent, scene.watch.folder, {}, clock)
    later.reopen(again)
    assert [reading.used for reading in again.readings] == [30_000, 60_000]
    assert (again.window, again.hooks_seen > 0) == (200_000, True)
    assert later.watch(saved.id) is again


async def test_the_status_line_of_the_session_shows_how_full_it_is(scene: Scene) -> None:
    line = scene.watch.folder / "line"
    scene.supervisor.show_line(scene.watch)
    assert line.read_text(encoding="utf-8") == "baton · waiting for the first reading"
    await scene.reads(90_000)
    assert "54%" in line.read_text(encoding="utf-8")
    assert "warning" in line.read_text(encoding="utf-8")


@pytest.mark.parametrize(("used", "asked"), [(20_000, 0), (120_000, 1)])
async def test_git_is_asked_ahead_at_the_end_of_a_turn_only_when_a_handoff_may_soon_be_due(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, used: int, asked: int
) -> None:
    looks: list[Watch] = []
    monkeypatch.setattr(scene.supervisor.known, "look_ahead", looks.append)
    await scene.reads(used)
    await scene.supervisor.take_hook(scene.watch, stop(), scene.clock.now())
    assert len(looks) == asked


async def test_only_a_hook_tells_a_later_daemon_that_hooks_are_heard(scene: Scene, tmp_path: Path) -> None:
    scene.supervisor.started(scene.watch, "clear", scene.clock.now())  # the agent's own word, not a hook
    later = Supervisor(scene.store, scene.clock, Settings(tmp_path / "home", {}), scene._notify)
    watch = a_watch(tmp_path, scene.clock)[0]
    later.reopen(watch)
    assert watch.hooks_seen == 0
    await scene.supervisor.take_hook(scene.watch, stop(), scene.clock.now())
    later.reopen(watch)
    assert watch.hooks_seen == 1
    watch.become(agents.get("opencode"))
    later.reopen(watch)
    assert watch.hooks_seen == 0, "what one agent's hooks told says nothing of another's"
