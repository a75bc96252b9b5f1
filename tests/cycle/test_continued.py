"""A session that was started from a handoff is followed by a cycle of its own, until its receipt is right."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from batonpass.cycle import closing, priming, sealing, steps
from batonpass.cycle.case import Case
from batonpass.cycle.moves import GONE, NOT_SEEN, Move, Policy, Result, Step, Way
from batonpass.session import State
from batonpass.store import CycleState
from batonpass.supervisor.starter import policy_of
from tests.cycle.scene import Scene
from tests.supervisor.fakes import OTHER

FOLLOWED = "c0ffee00"
KICK = f"[baton {FOLLOWED} kick 1]"
PRIME = Move(Step.PRIME, way=Way.START)


@dataclass
class Started:
    """The scene's session as one that `baton continue` has just started."""

    scene: Scene
    document: Path
    policies: list[Policy] = field(default_factory=list)

    @property
    def case(self) -> Case:
        cycle = self.scene.store.cycle(FOLLOWED)
        assert cycle is not None
        return Case(self.scene.stage, cycle, self.scene.watch, self.scene.settings(self.scene.project))


@pytest.fixture
async def started(scene: Scene) -> Started:
    document = Path(str((await sealing.seal(scene.case, Move(Step.SEAL, document=False))).data["path"]))
    scene.store.update_cycle(scene.case.cycle.id, state=CycleState.DONE, ended=scene.clock.now())
    found = Started(scene, document)

    async def pass_baton(cycle: str, session: str, policy: Policy) -> bool:
        found.policies.append(policy)
        return True

    scene.supervisor.starter.pass_baton = pass_baton
    await scene.supervisor.starter.go_on(scene.watch, FOLLOWED, document, f"{KICK} go on", scene.clock.now())
    return found


async def test_it_is_followed_without_being_asked_anything(started: Started) -> None:
    assert started.policies == [Policy(way=Way.START, max_backs=0)]
    started.scene.hears(f"{KICK} go on")
    assert (await priming.prime(started.case, PRIME)).ok
    assert started.scene.panes.typed == []
    (delivery,) = started.scene.store.deliveries(cycle=FOLLOWED)
    assert delivery.seen is not None


async def test_a_kick_is_seen_in_a_conversation_that_the_agent_names_only_after_its_start(started: Started) -> None:
    began = asyncio.create_task(priming.prime(started.case, PRIME))
    await asyncio.sleep(0)
    started.scene.begins(OTHER, "startup")
    started.scene.hears(f"{KICK} go on")
    assert (await began).ok
    assert started.case.cycle.new_agent_session == OTHER


@pytest.mark.parametrize(("state", "code"), [(State.DEAD, GONE), (State.STARTING, NOT_SEEN)])
async def test_a_kick_that_is_not_heard_is_not_typed(started: Started, state: State, code: str) -> None:
    started.scene.says(state)
    outcome = await priming.prime(started.case, PRIME)
    assert outcome.code == code
    assert started.scene.panes.typed == []


async def test_it_takes_no_place_from_those_who_hand_off(started: Started) -> None:
    await started.scene.stage.slots.hold("somebody", 99.0)  # the only one there is
    started.scene.hears(f"{KICK} go on")
    assert (await steps.run(started.scene.stage, FOLLOWED, PRIME)).ok


async def test_its_end_is_told_as_what_it_is_and_no_baton_is_counted(started: Started) -> None:
    chain = started.scene.watch.session.chain
    await closing.close(started.case, Move(Step.CLOSE, result=Result.DONE))
    assert started.scene.told[-1].endswith(f"went on from {started.document}, and its receipt is right")
    assert started.scene.watch.session.chain == chain
    await closing.close(started.case, Move(Step.CLOSE, result=Result.UNVERIFIED, note="wrong branch"))
    assert "old conversation" not in started.scene.told[-1]


async def test_what_was_noted_down_and_never_begun_is_taken_up_as_it_was_meant(started: Started) -> None:
    assert policy_of(started.case.cycle, auto_continue=True).way is Way.START
    only_seal = started.scene.store.cycle(started.scene.case.cycle.id)
    assert only_seal is not None
    started.scene.store.update_cycle(only_seal.id, data={**only_seal.data, "only_seal": True})
    assert policy_of(started.scene.case.cycle, auto_continue=True).auto_continue is False
