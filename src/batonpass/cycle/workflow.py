"""The durable engine: cycles as DBOS workflows. Nothing else in Baton imports DBOS, besides tasks.

The workflow itself decides nothing: it asks the plan for the next move, runs it, and asks again; the moves of a phase
are one step to the engine. DBOS runs workflows on a loop of its own; every move is made on the supervisor's loop.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any, ClassVar

from dbos import DBOS, DBOSPortableJSONSerializer, SetEnqueueOptions, SetWorkflowID
from dbos import error as dbos_error

from batonpass.cycle import steps
from batonpass.cycle.claim import claim
from batonpass.cycle.moves import Move, Outcome, Policy, Step, Way
from batonpass.cycle.plan import next_move
from batonpass.cycle.stage import Stage
from batonpass.store import CycleRecord, CycleState, StoreAway, durable_engine, plain_url
from batonpass.supervisor.outage import until_back
from batonpass.supervisor.starter import policy_of

log = logging.getLogger(__name__)

_VERSION = "1"  # never the hash of the source: an upgrade must find the cycles that are under way
# The engine's own look at its queue is the net: it costs a few milliseconds of everything else, and a cycle that is
# started here is claimed at once. Those that a crash cut off come to the queue in the first moments of a start.
_POLL_SECONDS = 2.0
_RECOVERY_SECONDS, _RECOVERY_TRIES = 0.2, 20
# A cycle that has closed is still under way for the engine until its end is written down, and a successor may be
# full by then: refused at that moment, it would wait for a reading that an idle session never brings.
_ENDING_SECONDS, _AGAIN_SECONDS = 5.0, 0.1
# A cycle is given up that has outlived so many daemons without an end: it may be what kills them.
_MOST_DAEMONS = 1_000
_AT_ONCE = 500  # cycles that are dropped by one statement: databases take no list of any length
_GIVEN_UP = ("ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED")


class _Running:
    """The one engine of this process; DBOS allows no more."""

    stage: Stage | None = None
    loop: asyncio.AbstractEventLoop | None = None
    # The phase that each cycle is in, with the number of moves before it.
    ahead: ClassVar[dict[str, tuple[int, asyncio.Task[list[Outcome]]]]] = {}


# What the engine records at once. The moves between are quick, and after a crash the store has their outcomes.
_PHASES_END = (Step.ASK, Step.PASS, Step.VERIFY, Step.BACK, Step.CLOSE)


@DBOS.step(name="move")
async def _phase(cycle: str, policy: dict[str, Any], history: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The next moves of a cycle, on the supervisor's own loop, up to the end of a phase."""
    stage, loop = _Running.stage, _Running.loop
    if stage is None or loop is None:
        raise RuntimeError("the engine was stopped")
    moves = _joined(stage, cycle, _as_policy(policy), [_as_outcome(outcome) for outcome in history])
    outcomes = await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(moves, loop))
    return [asdict(outcome) for outcome in outcomes]


def _begin_ahead(stage: Stage, cycle: str, rules: Policy, before: Sequence[Outcome]) -> None:
    """Begin a phase while the engine still writes down that it is due: an agent waits for it. Nothing hangs on the
    order of the two, because after a crash it is the store that tells which moves had ended."""
    if next_move(before, rules) is None:
        _Running.ahead.pop(cycle, None)
    elif (known := _Running.ahead.get(cycle)) is None or known[0] < len(before):
        _Running.ahead[cycle] = len(before), asyncio.ensure_future(_moves(stage, cycle, rules, before))


async def _joined(stage: Stage, cycle: str, rules: Policy, before: Sequence[Outcome]) -> list[Outcome]:
    """The outcomes of a phase, which may have begun already; the next one begins at its end.

    An engine that could not write a phase down asks for it again: then the store has all of its outcomes, and the
    next one is under way.
    """
    place, begun = _Running.ahead.get(cycle, (-1, None))
    if begun is None or place != len(before):
        outcomes = await _moves(stage, cycle, rules, before)
    else:
        try:
            outcomes = await begun
        except BaseException:
            _Running.ahead.pop(cycle, None)  # it has no outcome: whoever asks again is to make it anew
            raise
    _begin_ahead(stage, cycle, rules, [*before, *outcomes])
    return outcomes


async def _moves(stage: Stage, cycle: str, rules: Policy, before: Sequence[Outcome]) -> list[Outcome]:
    """The outcomes of one phase. A move that was cut off is made again, and looks before it acts; one that ended
    before a crash is not: the store has its outcome."""
    history = list(before)
    while (move := next_move(history, rules)) is not None:
        history.append(await _patiently(stage, cycle, partial(_made, stage, cycle, move, len(history))))
        if move.step in _PHASES_END:
            break
    return history[len(before) :]


async def _made(stage: Stage, cycle: str, move: Move, place: int) -> Outcome:
    """The outcome of the move at this place of the cycle's history: every ended row of the store is one of them."""
    ended = [step for step in stage.store.steps(cycle) if step.ended is not None]
    if place < len(ended) and (ended[place].step, ended[place].attempt) == (move.step, move.attempt):
        known = ended[place]
        return Outcome(move.step, known.state, known.note or "", known.data)
    return await steps.run(stage, cycle, move)


async def _patiently(stage: Stage, cycle: str, made: Callable[[], Awaitable[Outcome]]) -> Outcome:
    """The outcome of a move. One that the database cut off has none: it is made again once that is back."""
    while True:
        try:
            return await made()
        except StoreAway:
            log.info("cycle %s waits for the store", cycle)
            await until_back(stage.store, stage.clock)


@DBOS.workflow(name="cycle", max_recovery_attempts=_MOST_DAEMONS)
async def _cycle(cycle: str, policy: dict[str, Any]) -> str:
    rules = _as_policy(policy)
    history: list[dict[str, Any]] = []
    while next_move([_as_outcome(outcome) for outcome in history], rules) is not None:
        found: Any = await _phase(cycle, policy, history)
        history += found if isinstance(found, list) else [found]  # one by one, by a daemon of an earlier release
    return str(history[-1]["note"])


def _as_outcome(value: Mapping[str, Any]) -> Outcome:
    return Outcome(Step(value["step"]), value["code"], value["note"], value["data"])


def _as_policy(value: Mapping[str, Any]) -> Policy:
    return Policy(**{**value, "way": Way(value["way"])})


class Engine:
    """Starts cycles, one at a time for each session, and brings back those that a crash cut off."""

    def __init__(self, url: str, host: str, stage: Stage) -> None:
        self._queue_name = f"host-{host}"
        self._url, self._host, self._stage = plain_url(url), host, stage
        self._connections = durable_engine(url)

    async def start(self) -> None:
        """Launch; cycles that were under way on this host go on at once."""
        _Running.stage, _Running.loop = self._stage, asyncio.get_running_loop()
        logging.getLogger("dbos").addHandler(logging.NullHandler())
        DBOS(
            config={
                "name": "baton",
                "system_database_url": self._url,
                "system_database_engine": self._connections,
                "executor_id": self._host,
                "application_version": _VERSION,
                "enable_patching": True,
                "serializer": DBOSPortableJSONSerializer(),
                "log_level": "ERROR",
                "notification_listener_polling_interval_sec": 1.0,
            }
        )
        DBOS.listen_queues([self._queue_name])
        await asyncio.to_thread(DBOS.launch)
        self._queue = await DBOS.register_queue_async(self._queue_name, polling_interval_sec=_POLL_SECONDS)
        self._recovery = asyncio.create_task(self._claim_recovered())

    async def _claim_recovered(self) -> None:
        for _ in range(_RECOVERY_TRIES):
            await asyncio.to_thread(claim, self._queue)
            await self._stage.clock.sleep(_RECOVERY_SECONDS)

    async def pass_baton(self, cycle: str, session: str, policy: Policy) -> bool:
        """Start a cycle; False when the session has one under way."""
        deadline = self._stage.clock.ticks() + _ENDING_SECONDS
        while not await self._enqueued(cycle, session, policy):
            if self._stage.clock.ticks() >= deadline:
                return False
            await self._stage.clock.sleep(_AGAIN_SECONDS)
        _begin_ahead(self._stage, cycle, policy, [])
        await asyncio.to_thread(claim, self._queue)
        return True

    async def _enqueued(self, cycle: str, session: str, policy: Policy) -> bool:
        try:
            with SetWorkflowID(cycle), SetEnqueueOptions(deduplication_id=session):
                await self._queue.enqueue_async(_cycle, cycle, asdict(policy))
        except dbos_error.DBOSQueueDeduplicatedError:
            return False
        return True

    async def take_up(self, cycle: CycleRecord) -> None:
        """Start a cycle that was noted down and never begun, because something ended in between.

        One that the engine gave up is closed: it would keep its session from ever passing a baton again.
        """
        known = await DBOS.get_workflow_status_async(cycle.id)
        if known is not None:
            if known.status in _GIVEN_UP:
                note = "the engine gave it up; what was written before is kept"
                self._stage.store.update_cycle(
                    cycle.id, state=CycleState.FAILED, ended=self._stage.clock.now(), note=note
                )
            return
        watch = self._stage.watch(cycle.session)
        project = watch.session.project if watch else None
        policy = policy_of(cycle, auto_continue=self._stage.config(project).auto_continue_cli)
        if not await self.pass_baton(cycle.id, cycle.session, policy):
            note = "another one is under way"
            self._stage.store.update_cycle(
                cycle.id, state=CycleState.POSTPONED, ended=self._stage.clock.now(), note=note
            )

    async def forget(self, cycles: Sequence[str]) -> None:
        """Drop the engine's record of cycles that ended long ago. Of those that it does not know, nothing happens."""
        for begin in range(0, len(cycles), _AT_ONCE):
            await DBOS.delete_workflows_async(list(cycles[begin : begin + _AT_ONCE]))

    async def stop(self) -> None:
        """Stop at once: what is under way goes on at the next start."""
        self._recovery.cancel()
        _Running.stage = _Running.loop = None
        for _place, begun in _Running.ahead.values():
            begun.cancel()
        _Running.ahead.clear()
        await asyncio.to_thread(DBOS.destroy, destroy_registry=False)
        self._connections.dispose()
