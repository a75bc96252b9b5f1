"""A session through its setbacks: what is done at each look, and that no session is left standing."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from batonpass.agents.base import Status
from batonpass.agents.setbacks import TriesAgain
from batonpass.cycle.moves import Policy, Step
from batonpass.delivery import Delivery, DeliveryState
from batonpass.session import State
from batonpass.store import CycleRecord, CycleState, Store, StoreAway
from batonpass.supervisor.act import Supervisor
from batonpass.supervisor.setback import Phase, Setback, kept, key
from batonpass.supervisor.setbacks import Setbacks
from batonpass.supervisor.settings import Settings
from batonpass.supervisor.watch import Watch
from batonpass.transcripts.events import Failed
from tests.supervisor.fakes import OTHER, TALK, HastyClock, Talk, ToldAgent, a_watch

SOON = "Rate limit reached. Please try again in 10s."
HOURS = "You've hit your usage limit. Try again in 2 hours."
DAYS = "You've hit your usage limit. Try again in 6 days."
HOUR = 3600


class Scene:
    """A session whose agent reads what the test writes, and whose cycles end as the test says."""

    def __init__(self, folder: Path, store: Store, clock: HastyClock) -> None:
        self.folder, self.store, self.clock, self.agent = folder, store, clock, ToldAgent()
        self.watch, self.talk = a_watch(folder, clock, self.agent)
        self.told: list[str] = []
        self.given: list[Delivery] = []
        self.arrives = False
        self.start()

    def start(self) -> None:
        """A daemon begins, for the first time or anew: it has nothing but the store and the record."""
        supervisor = Supervisor(self.store, self.clock, Settings(self.folder / "home", {}), self._notify)
        supervisor.add(self.watch)
        supervisor.starter.pass_baton = self._pass_baton
        self.supervisor, self.setbacks = supervisor, Setbacks(supervisor, self._give)

    def configure(self, *agents: str, **settings: object) -> None:
        text = json.dumps({"agents": {name: {} for name in agents}, **settings})
        (self.folder / "home" / "config.yaml").write_text(text, encoding="utf-8")

    def fails(self, text: str, kind: str = "rate_limit") -> None:
        """The agent's turn ends with an error."""
        self.clock.advance(1)
        self.talk.prompt("go on")
        self.talk.add("failed", kind=kind, text=text)
        self.rests()

    def tries_again(self, text: str, seconds: float, kind: str = "rate_limit") -> None:
        """The agent's request fails in the middle of a turn, and it is to make another one by itself."""
        self.clock.advance(1)
        self.talk.prompt("go on")
        now = self.clock.now()
        again = TriesAgain(Failed(now, kind, text), now + seconds)
        self.agent.says = Status(State.BUSY, self.watch.conversation.agent_session, tries_again=again)
        self.watch.refresh()
        self.watch.read()

    def is_served(self) -> None:
        """It goes on with its turn by itself."""
        self.agent.says = Status(State.BUSY, self.watch.conversation.agent_session)
        self.watch.refresh()

    def works(self) -> None:
        """The agent has a turn that ends well."""
        self.clock.advance(1)
        self.talk.prompt("go on")
        self.talk.say("done", used=30_000)
        self.rests()

    def rests(self) -> None:
        self.agent.says = Status(State.IDLE, self.watch.conversation.agent_session, since=self.clock.now())
        self.watch.refresh()
        self.watch.read()

    async def _notify(self, session: str, text: str) -> None:
        self.told.append(text)

    async def _pass_baton(self, cycle: str, session: str, policy: Policy) -> bool:
        return True

    async def _give(self, watch: Watch, given: Delivery, arrived: Callable[[], bool], seconds: float) -> bool:
        self.given.append(given)
        if self.arrives:
            self.talk.prompt(given.text)
            watch.read()
        return arrived()

    async def look(self, seconds: int = 1) -> None:
        """Look once a second for so long."""
        for _ in range(seconds):
            await self.setbacks.look()
            self.clock.advance(1)

    async def later(self, seconds: float) -> None:
        """Much later it is looked at twice: once to see, once to act on it."""
        self.clock.advance(seconds)
        await self.look(2)

    @property
    def kept(self) -> Setback:
        return self.setbacks.of(self.watch.session.id)

    @property
    def running(self) -> CycleRecord | None:
        return self.store.running_cycle(self.watch.session.id)

    def ends(self, state: CycleState, **data: object) -> None:
        """The cycle that is under way ends."""
        running = self.running
        assert running is not None
        self.store.update_cycle(running.id, state=state, ended=self.clock.now(), data={**running.data, **data})
        self.watch.step = None

    def takes_over(self) -> None:
        """The heir has begun, and the cycle that saw to it is done."""
        self.begins()
        self.ends(CycleState.DONE, started={"label": "pass 1"})
        self.works()

    def begins(self) -> None:
        """The heir has begun, and has not answered yet."""
        assert self.running is not None
        heir, talk = ToldAgent(), OTHER if self.watch.conversation.agent_session == TALK else TALK
        heir.name = str(self.running.data["to"])
        self.watch.become(heir)
        self.agent = heir
        self.talk = Talk(self.folder / f"{heir.name}-{self.running.id}.jsonl", self.clock)
        self.watch.begin(talk, self.talk.path, "startup", self.clock.now())

    def dies(self) -> None:
        self.watch.session = replace(self.watch.session, state=State.DEAD)
        self.watch.status = Status(State.DEAD)


@pytest.fixture
def scene(tmp_path: Path, store: Store, clock: HastyClock) -> Scene:
    return Scene(tmp_path, store, clock)


async def _away(scene: Scene, *agents: str) -> None:
    """The understudy stands in for the first agent."""
    scene.configure(*(agents or ("scripted", "understudy")))
    scene.fails(HOURS)
    await scene.look()
    scene.takes_over()
    await scene.look()
    assert (scene.kept.phase, scene.watch.session.agent) == (Phase.AWAY, "understudy")


async def test_after_the_wait_the_agent_is_told_to_go_on_once_and_that_is_a_delivery(scene: Scene) -> None:
    scene.arrives = True
    scene.fails(SOON)
    await scene.look(9)
    assert scene.given == []
    await scene.look(60)
    (given,) = scene.given
    assert given.tag in given.text
    kept = scene.store.delivery(given.tag)
    assert kept is not None
    assert kept.state is DeliveryState.SEEN
    assert len(scene.told) == 1
    scene.talk.say("done", used=30_000)
    scene.watch.read()
    await scene.look(2)
    assert scene.kept.phase is Phase.WELL


async def test_a_prompt_that_does_not_show_in_the_record_is_not_given_again_at_every_look(scene: Scene) -> None:
    scene.fails(SOON)
    await scene.look(11)
    assert len(scene.given) == 1
    await scene.look(28)
    assert len(scene.given) == 1
    await scene.look(5)
    assert [given.tag for given in scene.given] == [scene.given[0].tag] * 2, "the same one, so that it is never two"


async def test_what_a_session_waits_for_is_known_to_a_later_daemon(scene: Scene) -> None:
    scene.fails(SOON)
    await scene.look()
    before = scene.kept
    scene.start()
    assert scene.kept == before
    assert scene.kept.phase is Phase.WAITING


async def test_a_short_limit_that_strikes_at_every_turn_is_not_tried_at_the_same_pace_for_ever(scene: Scene) -> None:
    scene.arrives = True
    scene.fails("Please retry in 14ms.")
    for _ in range(400):
        given = len(scene.given)
        await scene.look(2)
        if len(scene.given) > given:  # seen at work, and then it fails as before
            await scene.look(2)
            scene.talk.add("failed", kind="rate_limit", text="Please retry in 14ms.")
            scene.rests()
    assert len(scene.given) == 5
    assert scene.kept.due is not None
    assert scene.kept.due > scene.clock.now() + HOUR / 2
    assert len(scene.told) == 1


async def test_at_the_end_of_a_quota_another_agent_takes_over_and_the_first_comes_back_in_time(scene: Scene) -> None:
    await _away(scene)
    await scene.later(HOUR)
    assert scene.running is None
    await scene.later(HOUR)
    assert scene.running is not None
    assert scene.running.data["to"] == "scripted"
    assert scene.running.data["silent"] is False, "the one that stands in can be asked"
    scene.takes_over()
    await scene.look()
    assert scene.kept.phase is Phase.WELL


@pytest.mark.parametrize("state", [CycleState.PENDING, CycleState.POSTPONED, CycleState.FAILED])
@pytest.mark.parametrize("started", [None, {"label": "pass 3"}])
async def test_a_switch_that_does_not_happen_leaves_the_session_waiting_for_its_own_agent(
    scene: Scene, state: CycleState, started: object
) -> None:
    scene.configure("scripted", "understudy", quota={"retry_minutes": 300})
    scene.fails(HOURS)
    await scene.look()
    scene.ends(state, started=started)
    await scene.look(5)
    assert (scene.kept.phase, scene.running) == (Phase.WAITING, None)
    assert "told to go on" in scene.told[-1]
    await scene.later(2 * HOUR)
    assert len(scene.given) == 1


async def test_when_one_cannot_take_over_the_next_one_does(scene: Scene) -> None:
    scene.configure("scripted", "codex", "understudy")
    scene.fails(HOURS)
    heirs = []
    for _ in range(2):
        await scene.look()
        heirs.append(scene.kept.to)
        scene.ends(CycleState.PENDING, started={"label": "pass 3"})
    assert heirs == ["codex", "understudy"]


async def test_one_that_was_prompted_meanwhile_and_left_alone_is_switched_when_it_fails_again(scene: Scene) -> None:
    scene.configure("scripted", "understudy")
    scene.fails(HOURS)
    await scene.look()
    first = scene.kept.cycle
    scene.fails(HOURS)
    scene.ends(CycleState.PENDING)
    await scene.look(2)
    assert scene.running is not None
    assert scene.running.id != first
    assert scene.running.data["to"] == "understudy", "nobody has tried it, so nothing is known against it"


async def test_where_nobody_is_left_alive_the_next_one_goes_on_from_the_handoff(scene: Scene) -> None:
    scene.configure("scripted", "codex", "understudy")
    scene.fails(HOURS)
    await scene.look()
    assert scene.kept.to == "codex"
    for _ in range(2):
        scene.ends(CycleState.PENDING, started={"label": "back 1"})
        scene.dies()
        told = len(scene.told)
        await scene.look(3)
        if scene.kept.phase is Phase.SWITCHING:
            assert scene.kept.to == "understudy"
    assert (scene.kept.phase, scene.running, len(scene.told)) == (Phase.STUCK, None, told), "what is pending was told"


@pytest.mark.parametrize(
    ("state", "refused"), [(CycleState.PENDING, None), (CycleState.UNVERIFIED, {"agent": "codex", "until": None})]
)
async def test_an_heir_that_died_before_it_answered_has_not_served_and_the_next_one_goes_on(
    scene: Scene, state: CycleState, refused: object
) -> None:
    scene.configure("scripted", "codex", "understudy")
    scene.fails(HOURS)
    await scene.look()
    scene.begins()
    scene.ends(state, started={"label": "pass 1"}, refused=refused)
    scene.dies()
    await scene.look()
    assert (scene.watch.session.agent, scene.kept.to, scene.kept.first) == ("codex", "understudy", "scripted")
    assert set(scene.kept.down) == {"scripted", "codex"}


async def test_who_follows_a_dead_heir_is_begun_by_the_next_daemon_where_a_crash_came_first(scene: Scene) -> None:
    scene.configure("scripted", "codex", "understudy")
    scene.fails(HOURS)
    await scene.look()
    scene.begins()
    scene.ends(CycleState.PENDING, started={"label": "pass 1"})
    scene.dies()
    scene.supervisor.starter.pass_baton = None  # no engine: nothing can be started
    await scene.look()
    assert (scene.kept.phase, scene.kept.to, scene.running) == (Phase.SWITCHING, "understudy", None)
    scene.start()
    await scene.look()
    assert scene.running is not None
    assert (scene.running.data["to"], scene.running.data["silent"]) == ("understudy", True)


async def test_a_dead_heir_is_not_waited_for_however_soon_it_would_be_served(scene: Scene) -> None:
    scene.configure("scripted", "codex", "understudy")
    scene.fails(HOURS)
    await scene.look()
    scene.begins()
    refused = {"agent": "codex", "until": scene.clock.now() + 60}
    scene.ends(CycleState.PENDING, started={"label": "pass 1"}, refused=refused)
    scene.dies()
    await scene.look()
    assert scene.kept.to == "understudy"


async def test_an_heir_that_died_after_its_receipt_has_served(scene: Scene) -> None:
    scene.configure("scripted", "codex", "understudy")
    scene.fails(HOURS)
    await scene.look()
    scene.takes_over()
    scene.dies()
    await scene.look(2)
    assert (scene.kept.phase, scene.running) == (Phase.AWAY, None)


async def test_what_kept_one_from_being_started_is_not_tried_with_every_other(scene: Scene) -> None:
    scene.configure("scripted", "codex", "understudy")
    scene.fails(HOURS)
    await scene.look()
    scene.ends(CycleState.PENDING)
    await scene.look()
    assert scene.running is None
    await scene.later(HOUR)
    assert scene.running is not None, "an hour later it is tried again"


async def test_a_switch_that_keeps_failing_is_tried_ever_more_rarely(scene: Scene) -> None:
    scene.configure("scripted", "understudy")
    scene.fails(DAYS)
    tried = 0
    for _ in range(6 * 24):
        await scene.later(HOUR)
        if scene.running is not None:
            tried += 1
            scene.ends(CycleState.PENDING, started={"label": "pass 3"})
    assert tried == 8


async def test_a_cycle_that_is_taken_up_again_is_left_to_its_end(scene: Scene) -> None:
    scene.configure("scripted", "understudy")
    scene.fails(HOURS)
    await scene.look()
    scene.watch.step = None  # as after a restart, until its next step begins
    scene.start()
    await scene.look(3)
    assert (scene.kept.phase, scene.kept.first) == (Phase.SWITCHING, "scripted")
    scene.takes_over()
    await scene.look()
    assert (scene.kept.phase, scene.kept.first) == (Phase.AWAY, "scripted")


async def test_a_switch_that_a_crash_kept_from_beginning_is_begun_by_the_next_daemon(scene: Scene) -> None:
    scene.configure("scripted", "understudy")
    scene.fails(HOURS)
    scene.supervisor.starter.pass_baton = None  # no engine: nothing can be started
    await scene.look()
    assert (scene.kept.phase, scene.running) == (Phase.SWITCHING, None)
    wanted = scene.kept.cycle
    scene.start()
    await scene.look()
    assert scene.running is not None
    assert (scene.running.id, scene.running.data["to"], scene.running.data["silent"]) == (wanted, "understudy", True)


async def test_no_other_cycle_begins_while_a_person_is_told_of_the_switch(scene: Scene) -> None:
    scene.configure("scripted", "understudy")
    scene.fails(HOURS)
    free: list[bool] = []

    async def tell(session: str, text: str) -> None:
        free.append(scene.supervisor.starter.may_start(scene.watch))

    scene.supervisor.notify = tell
    await scene.look()
    assert free == [False]


async def test_when_the_stand_in_is_exhausted_for_longer_the_first_one_is_waited_for(scene: Scene) -> None:
    await _away(scene)
    scene.fails(DAYS)
    await scene.look()
    assert (scene.kept.phase, scene.running) == (Phase.WAITING, None)
    await scene.later(2 * HOUR)
    assert scene.given == []
    assert scene.running is not None
    assert (scene.running.data["to"], scene.running.data["silent"]) == ("scripted", True)
    scene.takes_over()
    await scene.look()
    assert scene.kept.phase is Phase.WELL
    assert "understudy" in scene.kept.down, "and it is known that the other does not serve"


async def test_a_first_agent_that_the_user_does_not_list_is_waited_for_all_the_same(scene: Scene) -> None:
    await _away(scene, "understudy")
    scene.fails(DAYS)
    await scene.look()
    await scene.later(2 * HOUR)
    assert scene.running is not None
    assert scene.running.data["to"] == "scripted"


async def test_a_short_limit_of_the_stand_in_does_not_bring_the_first_one_back_too_soon(scene: Scene) -> None:
    await _away(scene)
    scene.fails(SOON)
    await scene.later(11)
    assert len(scene.given) == 1
    scene.works()
    await scene.later(60)
    assert (scene.kept.phase, scene.running) == (Phase.AWAY, None)
    await scene.later(2 * HOUR)
    assert scene.running is not None
    assert scene.running.data["to"] == "scripted"


async def test_a_first_agent_that_does_not_serve_yet_is_tried_again_when_its_provider_says(scene: Scene) -> None:
    await _away(scene)
    await scene.later(2 * HOUR)
    until = scene.clock.now() + 5 * HOUR
    refused = {"agent": "scripted", "until": until}
    scene.ends(CycleState.POSTPONED, started={"label": "back 1"}, refused=refused)
    scene.works()
    await scene.look()
    assert (scene.kept.phase, scene.kept.due) == (Phase.AWAY, until)
    await scene.later(4 * HOUR)
    assert scene.running is None
    await scene.later(HOUR)
    assert scene.running is not None


async def test_a_person_who_goes_back_by_hand_has_the_session_well(scene: Scene) -> None:
    await _away(scene)
    await scene.supervisor.starter.hand_off(scene.watch, "asked for", to="scripted")
    scene.takes_over()
    await scene.look()
    assert scene.kept.phase is Phase.WELL


async def test_a_stand_in_that_lost_its_sign_in_waits_for_the_first_one_and_calls_nobody(scene: Scene) -> None:
    await _away(scene)
    scene.fails("invalid key", kind="authentication")
    await scene.look()
    assert scene.kept.phase is Phase.WAITING
    await scene.later(2 * HOUR)
    assert scene.running is not None
    assert scene.running.data["to"] == "scripted"


async def test_an_error_that_is_not_the_providers_changes_nothing(scene: Scene) -> None:
    scene.configure("scripted", "understudy")
    scene.fails("prompt is too long", kind="too_long")
    await scene.look(3)
    assert (scene.kept, scene.running, scene.told) == (Setback(), None, [])


async def test_while_a_step_of_a_cycle_runs_nothing_is_done(scene: Scene) -> None:
    scene.configure("scripted", "understudy")
    scene.fails(HOURS)
    scene.watch.step = Step.ASK
    await scene.look(3)
    assert scene.kept == Setback()


# -- agents that try again by themselves -----------------------------------------------------------------


async def test_a_try_that_is_near_is_the_agents_own_and_only_shown(scene: Scene) -> None:
    scene.configure("scripted", "understudy")
    scene.tries_again("Rate limit reached.", 40)
    due = scene.clock.now() + 40
    await scene.look()
    assert (scene.kept.phase, scene.kept.kind, scene.kept.due) == (Phase.WAITING, "rate_limit", due)
    await scene.look(60)
    assert (scene.given, scene.told, scene.running) == ([], [], None)
    scene.is_served()
    await scene.look()
    assert scene.kept.phase is Phase.WELL


async def test_a_try_that_is_far_off_is_not_waited_for_and_another_agent_takes_over_from_facts(scene: Scene) -> None:
    scene.configure("scripted", "understudy")
    scene.tries_again("Rate limit reached.", 3 * HOUR)
    await scene.look()
    assert scene.running is not None
    assert (scene.running.data["to"], scene.running.data["silent"]) == ("understudy", True)
    assert "its rate limit" in scene.told[0]
    scene.takes_over()
    await scene.look()
    assert (scene.kept.phase, scene.kept.first) == (Phase.AWAY, "scripted")
    assert scene.kept.due is not None
    assert 2.9 * HOUR < scene.kept.due - scene.clock.now() <= 3 * HOUR


@pytest.mark.parametrize("seconds", [2, 6 * HOUR])
async def test_the_end_of_a_quota_is_not_left_to_an_agents_own_pace(scene: Scene, seconds: float) -> None:
    scene.configure("scripted", "understudy")
    scene.tries_again("You exceeded your current quota", seconds)
    await scene.look()
    assert scene.running is not None
    assert scene.running.data["to"] == "understudy"
    assert scene.kept.kind == "quota"
    assert scene.kept.down["scripted"] >= scene.clock.now() + min(seconds, HOUR) - 2


async def test_a_time_that_the_words_name_counts_more_than_a_try_before_it(scene: Scene) -> None:
    scene.configure("scripted", "understudy")
    scene.tries_again(HOURS, 2)
    await scene.look()
    assert scene.running is not None
    assert scene.kept.down["scripted"] > scene.clock.now() + 1.9 * HOUR


async def test_with_nobody_else_it_is_told_once_when_the_agent_tries_again_also_by_a_later_daemon(scene: Scene) -> None:
    scene.tries_again("Rate limit reached.", 3 * HOUR)
    await scene.look(2)
    (told,) = scene.told
    assert "tries again by itself" in told
    scene.start()
    again = scene.agent.says.tries_again
    assert again is not None
    later = replace(again, failed=replace(again.failed, at=scene.clock.now()))
    scene.agent.says = replace(scene.agent.says, tries_again=later)  # as its port tells it to whoever asks anew
    scene.watch.refresh()
    await scene.look(2)
    assert scene.told == [told]
    await scene.later(3 * HOUR)
    assert scene.given == [], "its own try is not ours to make"


async def test_a_quota_that_the_agent_runs_into_again_and_again_by_itself_is_told_once(scene: Scene) -> None:
    for _ in range(5):
        scene.tries_again("You exceeded your current quota", 2)
        await scene.look(2)
    assert len(scene.told) == 1
    due = scene.kept.due
    assert due is not None
    assert due <= scene.clock.now() + HOUR - 10, "each try of its own does not put off when somebody goes on"


async def test_an_agent_that_asks_a_person_about_its_quota_is_replaced_at_its_dialog(scene: Scene) -> None:
    scene.configure("scripted", "understudy")
    scene.agent.says = Status(State.BUSY, TALK)
    scene.watch.refresh()
    scene.watch.see_refusal(Failed(scene.clock.now(), "rate_limit", "Usage limit reached for all models."))
    await scene.look()
    assert scene.running is not None
    assert (scene.running.data["to"], scene.running.data["silent"]) == ("understudy", True)
    scene.takes_over()
    await scene.look()
    assert (scene.kept.phase, scene.watch.tries_again) == (Phase.AWAY, None)


async def test_with_nobody_else_a_person_is_told_once_of_a_dialog_about_a_quota(scene: Scene) -> None:
    scene.agent.says = Status(State.BUSY, TALK)
    scene.watch.refresh()
    for _ in range(3):
        scene.watch.see_refusal(Failed(scene.clock.now(), "rate_limit", "Usage limit reached for all models."))
        await scene.look(2)
    (told,) = scene.told
    assert "its dialog can be answered" in told
    assert (scene.given, scene.running) == ([], None)
    scene.watch.see_refusal(None)
    scene.is_served()
    await scene.look()
    assert scene.kept.phase is Phase.WELL


async def test_what_was_promised_to_a_restored_session_is_not_said_by_a_setback_as_well(scene: Scene) -> None:
    scene.fails(SOON)
    await scene.look()
    scene.store.put(f"promise {scene.watch.session.id}", {"tag": "[baton 7f3a91c2 restored 1]", "conversation": TALK})
    await scene.later(HOUR)
    assert scene.given == []
    scene.store.put(f"promise {scene.watch.session.id}", {})
    await scene.look(2)
    assert len(scene.given) == 1


async def test_a_full_disk_leaves_no_setback_that_only_memory_knows(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.configure("scripted", "understudy")
    scene.fails(HOURS)

    def refuse(key: str, value: object) -> None:
        raise StoreAway("the disk is full", where="here")

    with monkeypatch.context() as full:
        full.setattr(scene.store, "put", refuse)
        with pytest.raises(StoreAway):
            await scene.look()
    assert (scene.kept.phase, scene.running) == (Phase.WELL, None)
    await scene.look()
    assert scene.running is not None
    assert scene.running.data["to"] == "understudy"


async def test_a_try_that_is_far_off_counts_again_when_what_went_on_beside_it_has_ended(scene: Scene) -> None:
    scene.tries_again("Rate limit reached.", 3 * HOUR)
    await scene.look()
    held_up = scene.agent.says
    scene.is_served()
    await scene.look()
    assert scene.kept.phase is Phase.WELL
    scene.configure("scripted", "understudy")
    scene.agent.says = held_up
    scene.watch.refresh()
    await scene.look()
    assert scene.running is not None
    assert scene.running.data["to"] == "understudy"


async def test_a_conversation_that_comes_to_the_front_is_not_told_what_another_one_waits_for(scene: Scene) -> None:
    scene.arrives = True
    older = Talk(scene.folder / "older.jsonl", scene.clock)
    older.prompt("what is this?")
    older.say("a shop")
    scene.tries_again("Rate limit reached.", 40)
    await scene.look()
    held_up, talk = scene.agent.says, scene.talk.path
    scene.watch.begin(OTHER, older.path, "resume", scene.clock.now())
    scene.rests()
    await scene.look(60)
    assert (scene.kept.phase, scene.given) == (Phase.WELL, [])
    scene.watch.begin(TALK, talk, "resume", scene.clock.now())
    scene.agent.says = held_up
    scene.watch.refresh()
    await scene.look()
    assert (scene.kept.phase, scene.kept.own) == (Phase.WAITING, True), "it is still refused there"


async def test_a_wait_that_was_kept_without_its_conversation_is_waited_out_all_the_same(scene: Scene) -> None:
    scene.tries_again("Rate limit reached.", 40)
    await scene.look()
    older = kept(scene.kept)
    assert older.pop("talk") == TALK
    scene.store.put(key(scene.watch.session.id), older)
    scene.start()
    scene.rests()  # it was ended between two tries, and is back
    await scene.look(60)
    assert len(scene.given) >= 1


async def test_tries_of_its_own_do_not_count_as_turns_that_its_provider_ended(scene: Scene) -> None:
    for _ in range(5):
        scene.tries_again("Rate limit reached.", 30)
        await scene.look(30)
    scene.fails("Rate limit reached.")
    await scene.look()
    assert (scene.kept.phase, scene.kept.tries) == (Phase.WAITING, 1)
    assert len(scene.told) == 1
    scene.arrives = True
    await scene.look(60)
    assert len(scene.given) == 1


async def test_who_interrupts_a_try_has_the_session_to_himself(scene: Scene) -> None:
    scene.tries_again("Rate limit reached.", 300)
    await scene.look(2)
    scene.talk.add("interrupted")
    scene.rests()
    await scene.look(2)
    assert scene.kept.phase is Phase.WELL
    await scene.later(HOUR)
    assert scene.given == []


async def test_an_agent_that_was_replaced_between_two_tries_and_is_back_does_not_stand_still(scene: Scene) -> None:
    scene.arrives = True
    scene.configure("scripted", "understudy")
    scene.tries_again("Rate limit reached.", 2 * HOUR)
    await scene.look()
    scene.clock.advance(5)
    scene.talk.add("interrupted")  # as some write down when they are ended
    scene.ends(CycleState.POSTPONED, started={"label": "pass 1", "pid": 1})
    scene.rests()
    await scene.look(2)
    assert scene.kept.phase is Phase.WAITING
    await scene.later(3 * HOUR)
    assert len(scene.given) == 1 or scene.running is not None, "it is told to go on, or another agent takes over"
