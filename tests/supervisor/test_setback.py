"""When to wait for a provider, when to go on with another agent, and when to call a person."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batonpass.agents.base import Status
from batonpass.config.schema import Quota
from batonpass.delivery import Delivery, DeliveryState
from batonpass.session import State
from batonpass.store import Store
from batonpass.supervisor.act import Supervisor
from batonpass.supervisor.setback import Call, Phase, Setback, Setbacks, Switch, Wait, plan, read
from batonpass.supervisor.settings import Settings
from batonpass.supervisor.watch import Watch
from tests.supervisor.fakes import TALK, HastyClock, ToldAgent, a_watch

NOW = 1_000_000.0
LIMITS = Quota()
KINDS = ("rate_limit", "quota", "overloaded", "authentication")


def test_a_limit_that_ends_soon_is_waited_for_even_where_others_could_go_on() -> None:
    assert plan("quota", NOW + 300, 0, NOW, ["codex"], LIMITS) == Wait(NOW + 300)


def test_a_quota_that_lasts_longer_sends_the_work_to_the_next_agent_until_then() -> None:
    assert plan("quota", NOW + 7200, 0, NOW, ["codex", "gemini"], LIMITS) == Switch("codex", NOW + 7200)


def test_a_quota_of_unknown_end_is_tried_again_after_an_hour() -> None:
    assert plan("quota", None, 0, NOW, ["codex"], LIMITS) == Switch("codex", NOW + 3600)


def test_a_rate_limit_is_waited_for_ever_longer_and_then_taken_for_the_end() -> None:
    waits = [plan("rate_limit", None, tries, NOW, ["codex"], LIMITS) for tries in range(6)]
    assert waits[:5] == [Wait(NOW + 30 * 2**tries) for tries in range(5)]
    assert waits[5] == Switch("codex", NOW + 3600)


def test_with_nobody_else_a_quota_is_waited_for_and_a_lost_sign_in_is_a_persons() -> None:
    assert plan("quota", NOW + 7200, 0, NOW, [], LIMITS) == Wait(NOW + 7200)
    assert plan("authentication", None, 0, NOW, [], LIMITS) == Call()
    assert plan("authentication", None, 0, NOW, ["codex"], LIMITS) == Switch("codex", NOW + 3600)


@given(
    st.sampled_from(KINDS),
    st.none() | st.floats(NOW + 1, NOW + 1e6),
    st.integers(0, 20),
    st.lists(st.sampled_from(["codex", "gemini"]), unique=True),
)
def test_whatever_happens_nothing_is_tried_in_the_past_nor_for_ever(
    kind: str, resets: float | None, tries: int, others: list[str]
) -> None:
    match plan(kind, resets, tries, NOW, others, LIMITS):
        case Wait(until):
            assert until > NOW
            assert resets is None or until == resets
        case Switch(to, until):
            assert to == others[0]
            assert until > NOW
        case Call():
            assert not others


def test_what_was_kept_is_read_again_and_rubbish_is_none() -> None:
    kept = {"phase": "away", "at": 5.0, "kind": "quota", "until": 9.0, "tries": 0, "first": "claude", "down": {}}
    assert read(kept) == Setback(Phase.AWAY, 5.0, "quota", 9.0, first="claude")
    assert read(None) == read({"phase": "odd"}) == read([1]) == Setback()


class Scene:
    """A session whose turn has just ended with an error of its provider's, and what it is given then."""

    def __init__(self, folder: Path, store: Store, clock: HastyClock) -> None:
        self.store, self.clock, self.agent = store, clock, ToldAgent()
        self.watch, self.talk = a_watch(folder, clock, self.agent)
        supervisor = Supervisor(store, clock, Settings(folder / "home", {}), self._notify)
        supervisor.add(self.watch)
        self.setbacks = Setbacks(supervisor, self._give)
        self.told: list[str] = []
        self.given: list[Delivery] = []
        self.arrives = False
        self.talk.prompt("go on")
        self.talk.add("failed", kind="rate_limit", text="Rate limit reached. Please try again in 10s.")
        self.agent.says = Status(State.IDLE, TALK, since=clock.now())
        self.watch.refresh()
        self.watch.read()

    async def _notify(self, session: str, text: str) -> None:
        self.told.append(text)

    async def _give(self, watch: Watch, given: Delivery, arrived: Callable[[], bool], seconds: float) -> bool:
        self.given.append(given)
        if self.arrives:
            self.talk.prompt(given.text)
            watch.read()
        return arrived()

    async def look(self, seconds: int) -> None:
        """Look once a second for so long."""
        for _ in range(seconds):
            await self.setbacks.look()
            self.clock.advance(1)


@pytest.fixture
def scene(tmp_path: Path, store: Store, clock: HastyClock) -> Scene:
    return Scene(tmp_path, store, clock)


async def test_after_the_wait_the_agent_is_told_to_go_on_once_and_that_is_a_delivery(scene: Scene) -> None:
    scene.arrives = True
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
    assert scene.setbacks.of(scene.watch.session.id).phase is Phase.WELL


async def test_a_prompt_that_does_not_show_in_the_record_is_not_given_again_at_every_look(scene: Scene) -> None:
    await scene.look(11)
    assert len(scene.given) == 1
    await scene.look(28)
    assert len(scene.given) == 1
    await scene.look(5)
    assert [given.tag for given in scene.given] == [scene.given[0].tag] * 2, "the same one, so that it is never two"


async def test_what_a_session_waits_for_is_known_to_a_later_daemon(scene: Scene, tmp_path: Path) -> None:
    await scene.look(1)
    later = Setbacks(Supervisor(scene.store, scene.clock, Settings(tmp_path / "home", {}), scene._notify), scene._give)
    assert later.of(scene.watch.session.id) == scene.setbacks.of(scene.watch.session.id)
    assert later.of(scene.watch.session.id).phase is Phase.WAITING
