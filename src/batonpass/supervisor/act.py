"""From readings to actions: what the ladder decides for each session, and the cycles that follow."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from batonpass.agents.base import HookKind, HookReport
from batonpass.clock import Clock
from batonpass.cycle.moves import Step
from batonpass.ladder import UNKNOWN, Action, Decision, History, Ladder, decide
from batonpass.reading import Reading, Source
from batonpass.session import Session, State
from batonpass.store import Store
from batonpass.supervisor.conversation import News
from batonpass.supervisor.known import Known
from batonpass.supervisor.line import status_line
from batonpass.supervisor.offers import Offers
from batonpass.supervisor.restraint import Restraint
from batonpass.supervisor.settings import Settings
from batonpass.supervisor.signs import is_unserved
from batonpass.supervisor.starter import Starter
from batonpass.supervisor.watch import RESTORING, STARTS_KEPT, Started, Watch
from batonpass.transcripts.events import Compacted

log = logging.getLogger(__name__)

_GUESS_SECONDS = 3.0
_TOLD_SECONDS = 1.0  # in which a status line comes that is on its way
_HOLD_SECONDS = 2.0  # how long a stop hook is held for a cycle that is about to ask
_SLOW_SECONDS = 3.0  # and longer on a busy machine, but not for one that waits for others
_WRITING = (Step.PREPARE, Step.SAFE_POINT, Step.ASK, Step.AWAIT, Step.CHECK)


@dataclass(slots=True)
class Standing:
    """What the supervisor has decided for a session so far in its conversation."""

    agent_session: str
    history: History = field(default_factory=History)
    decision: Decision | None = None
    saved: Session | None = None
    line: str = ""


Notify = Callable[[str, str], Awaitable[None]]  # session id, one sentence for a person


class Supervisor:
    """Takes in what agents report and acts on it. Effects go through the store, offers and the cycle engine."""

    def __init__(self, store: Store, clock: Clock, config: Settings, notify: Notify) -> None:
        self.store, self.clock, self.config, self.notify = store, clock, config, notify
        self.watches: dict[str, Watch] = {}
        self.starter = Starter(store, clock, config)
        self.restraint = Restraint(store, clock, self.starter, self.ladder, self._tell_later)
        self.known = Known(config)
        self.also_forget: list[Callable[[str], None]] = []  # others who keep something of each session that is watched
        self._standing: dict[str, Standing] = {}
        self._again: set[str] = set()  # sessions to decide on anew as soon as nothing is under way in them
        self._tasks: set[asyncio.Future[object]] = set()

    def watch(self, session: str) -> Watch | None:
        return self.watches.get(session)

    def add(self, watch: Watch) -> None:
        self.watches[watch.session.id] = watch
        watch.heard = partial(self._heard, watch)
        self.persist(watch)

    def forget_ended(self, before: float) -> None:
        """Let go of sessions that ended before a moment; what is left to know of them is in the store."""
        for id, watch in list(self.watches.items()):
            if watch.session.state is State.ENDED and watch.step is None and (watch.session.ended or 0.0) < before:
                del self.watches[id]
                self._standing.pop(id, None)
                self.restraint.forget(id)
                self._again.discard(id)
                for forget in self.also_forget:
                    forget(id)
            elif watch.gone and watch.step is None:
                self.known.let_go(watch)

    def standing(self, watch: Watch) -> Standing:
        """The decisions of the live conversation; another conversation starts anew."""
        current = self._standing.get(watch.session.id)
        if current is None or current.agent_session != watch.conversation.agent_session:
            saved = current.saved if current else None
            current = Standing(watch.conversation.agent_session, saved=saved)
            self._standing[watch.session.id] = current
        return current

    def persist(self, watch: Watch) -> None:
        """Keep what changed about the session itself."""
        standing = self.standing(watch)
        if standing.saved != watch.session:
            self.store.save_session(watch.session)
            standing.saved = watch.session

    # -- what comes in -------------------------------------------------------------------------------

    async def take_hook(self, watch: Watch, report: HookReport, at: float) -> None:
        """A hook of the session's own conversation. Returns when the agent may go on."""
        if report.foreign:
            return
        if not watch.hooks_seen:  # for a daemon that takes the session up later
            self.store.add_event("HOOKS_HEARD", at, watch.session.id, None, {"agent": watch.agent.name})
        known = watch.knows_start(report)
        watch.take_hook(report, at)
        if report.kind is HookKind.SESSION_START and not known:
            self.started(watch, report.source, at)
        self.take_news(watch)
        self.persist(watch)
        if report.kind is HookKind.PROMPT and report.handoff_requested is not None:
            why = report.handoff_requested.strip()
            await self.starter.hand_off(watch, f"asked for by /handoff{': ' + why if why else ''}")
        elif report.kind is HookKind.STOP:
            await self._stopped(watch, report)
        elif report.kind is HookKind.SESSION_END and report.agent_session == watch.conversation.agent_session:
            watch.leaving = report.source == "prompt_input_exit"
        watch.refresh()

    def follow_word(self, watch: Watch) -> None:
        """Move along when the agent itself says that another conversation is in front."""
        if watch.follow_word():
            self.started(watch, watch.starts[-1].source, self.clock.now(), by_word=True)
            self.persist(watch)

    def started(self, watch: Watch, source: str | None, at: float, *, by_word: bool = False) -> None:
        """Keep that a conversation began: after a crash it tells whether the baton was passed, and who told of it."""
        data = {"agent_session": watch.conversation.agent_session, "source": source, "by_word": by_word}
        self.store.add_event("SESSION_STARTED", at, watch.session.id, None, data)

    def reopen(self, watch: Watch) -> None:
        """Take up a session that was watched by an earlier daemon, with what the store remembers of it."""
        session = watch.session
        watch.readings = self.store.readings(session.id, agent_session=session.agent_session, limit=60)
        watch.window = next((r.window for r in reversed(watch.readings) if r.window), None)
        if not session.adopted:
            heard = self.store.events(session=session.id, name="HOOKS_HEARD")
            watch.hooks_seen = sum(event.data.get("agent") == session.agent for event in heard)
        watch.starts = self._starts(session)
        for event in self.store.events(session=session.id, name="COMPACTED"):
            at, window = event.data.get("before"), event.data.get("window")
            own = event.data.get("trigger") == "auto" and event.data.get("agent") == session.agent
            if own and isinstance(at, int) and isinstance(window, int):
                watch.saw_compaction(window, at)
        self.add(watch)

    def _starts(self, session: Session) -> list[Started]:
        """The conversations that the session has been in, up to the one that is followed: a crash may have come before
        a later one was, which its agent's word then tells of."""
        events = self.store.events(session=session.id, name="SESSION_STARTED", limit=STARTS_KEPT)
        starts = [Started(e.at, str(e.data.get("agent_session")), _text(e.data.get("source"))) for e in events]
        last = max((n for n, start in enumerate(starts) if start.agent_session == session.agent_session), default=-1)
        return starts[: last + 1]

    async def _stopped(self, watch: Watch, report: HookReport) -> None:
        """The end of a turn: decide on its usage, and keep the hook while a cycle is about to ask."""
        watch.holding_stop = True
        if watch.step is not None or self._is_near(watch):
            self.known.look_ahead(watch)  # in a large project git takes its time, so not at every turn's end
        try:
            last = report.last_message
            if last and watch.step is None:  # a cycle that is under way needs no decision
                await watch.recorded(last)
            self.take_news(watch)
            self.consider(watch)
            if self._is_due(watch) and self._only_guessed(watch):
                # The first turn of a session may end before its status line was heard: a moment, and it can be asked.
                await watch.until(lambda: not self._only_guessed(watch), _TOLD_SECONDS)
            await self._settled(watch)
        finally:
            watch.holding_stop = False
            watch.changed()

    def _is_near(self, watch: Watch) -> bool:
        """Whether a handoff may soon be due."""
        decision = self.standing(watch).decision
        return decision is not None and decision.status != "ok"

    def _is_due(self, watch: Watch) -> bool:
        decision = self.standing(watch).decision
        return decision is not None and (decision.hand_off or decision.force)

    async def _settled(self, watch: Watch) -> None:
        """Wait until the cycle has laid out its question or does not need this turn any more."""
        offers = Offers(watch.folder, watch.agent)

        def settled() -> bool:
            return (
                (watch.step is None and not self.starter.starting(watch.session.id))
                or (watch.step is not None and watch.step not in _WRITING)
                or offers.ask_pending(watch.conversation.agent_session)
            )

        if not await watch.until(settled, _HOLD_SECONDS) and not watch.queued:
            await watch.until(settled, _SLOW_SECONDS)

    def take_statusline(self, watch: Watch, payload: Mapping[str, object], at: float) -> None:
        reading, window = watch.agent.statusline(payload, at, watch.env), watch.window
        if reading is not None:
            self.take_reading(watch, reading)
            if watch.window != window:  # what was only guessed before is known now
                self.consider(watch)
        self.persist(watch)

    def take_reading(self, watch: Watch, reading: Reading) -> None:
        """Keep a reading that tells something new, and decide on it."""
        if watch.take_reading(reading) and watch.reading is not None:
            self.store.add_reading(watch.session.id, watch.reading)
            self.consider(watch)

    def take_news(self, watch: Watch) -> None:
        """Read what the transcript says since the last look, and act on it."""
        watch.read()

    def _heard(self, watch: Watch, news: News) -> None:
        for mark, at in news.tags:
            self.store.mark_seen(mark, at)
        if news.unknown or news.compacted:
            watch.readings = []
        for compacted in news.compacted:
            self._compacted(watch, compacted)
        for note in news.notes:
            log.warning("%s: %s", watch.session.name, note)
        compacted_at = news.compacted[-1].at if news.compacted else 0.0
        used = [usage for usage in news.used if usage.at >= compacted_at]
        if used:
            last = used[-1]
            watch.window = last.window or watch.window
            self.take_reading(watch, watch.reading_of(last.used, last.at, last.model, Source.TRANSCRIPT))
        if news.any:
            watch.refresh()

    def _compacted(self, watch: Watch, compacted: Compacted) -> None:
        """Record it, once: a record that is read again after a restart tells it again."""
        known = self.store.events(session=watch.session.id, name="COMPACTED")
        if any(event.at == compacted.at for event in known):
            return
        of = {"agent": watch.session.agent, "window": watch.window_of(watch.session.model)}
        details = {"trigger": compacted.trigger, "before": compacted.before, **of}
        self.store.add_event("COMPACTED", compacted.at, watch.session.id, None, details)
        if compacted.trigger != "manual":  # nobody wanted it: the handoff came too late
            self.store.add_event("CONTEXT_MISSED", compacted.at, watch.session.id, None, details)

    # -- deciding ------------------------------------------------------------------------------------

    def ladder(self, watch: Watch) -> Ladder:
        return self.config.ladder(watch.session.project, watch.session.ladder)

    def consider(self, watch: Watch) -> None:
        """Decide on the latest reading, and act on what is new."""
        reading = watch.reading
        if reading is None:
            return
        standing, now = self.standing(watch), self.clock.now()
        first = standing.decision is None
        # A predecessor that was brought back is full, and about to be asked once more: it needs no word on that.
        suspended = watch.brought_back is not None and watch.brought_back == standing.agent_session
        raised = self.restraint.raised(watch)
        history = replace(standing.history, growth=watch.growth, raised=raised, suspended=suspended)
        decision = decide(reading, watch.forecast, history, self.ladder(watch), now)
        changed = first or (standing.decision is not None and standing.decision.zone != decision.zone)
        standing.history = history.after(decision, now)
        standing.decision = decision
        if changed or decision.actions:
            self._record(watch, decision, now)
        self.show_line(watch)
        self._remark(watch, decision)
        if decision.hand_off or decision.force:
            self._due(watch, decision)

    def consider_again(self) -> None:
        """Decide anew for every session whose cycle is over, or whose handoff was held back for a while: one that idles
        brings no reading."""
        for watch in list(self.watches.values()):
            if watch.step == RESTORING or watch.gone or is_unserved(watch):
                continue  # whoever brings it back, or has it go on, is first
            if watch.step is not None:
                self._again.add(watch.session.id)
            elif watch.session.id in self._again or self.restraint.is_over(watch):
                self._again.discard(watch.session.id)
                self.consider(watch)

    def _due(self, watch: Watch, decision: Decision) -> None:
        """A handoff is due: start it, unless a guard holds the session back."""
        if watch.being_told or not self.starter.may_start(watch):
            self._again.add(watch.session.id)
            return
        if self._only_guessed(watch):
            self.spawn(self._consider_later(watch))
            return
        if self.restraint.holds(watch, decision):
            return
        self.known.look_ahead(watch)  # while the engine starts
        self.starter.claim(watch)
        self.spawn(self.starter.start(watch, decision.reason.rstrip("."), force=decision.force))

    def _only_guessed(self, watch: Watch) -> bool:
        """Whether the window is a guess that the agent will settle in a moment; nothing is cleared on a guess."""
        reading, unheard = watch.reading, watch.agent.has_hooks and not watch.hooks_seen
        if watch.window is not None or unheard or reading is None:
            return False
        return abs(self.clock.now() - reading.at) < _GUESS_SECONDS

    async def _consider_later(self, watch: Watch) -> None:
        """A status line that does not come (no daemon heard it, say) must not leave the guess for ever."""
        await self.clock.sleep(_GUESS_SECONDS)
        last = watch.reading
        if watch.window is None and last is not None and last.used is not None:
            watch.readings[-1] = watch.reading_of(last.used, last.at, last.model, last.source)  # it may know by now
            self.consider(watch)

    def show_line(self, watch: Watch) -> None:
        """Lay out what the agent's status line shows, when it has changed."""
        standing = self.standing(watch)
        line = status_line(watch, standing.decision)
        if line != standing.line:
            standing.line = line
            Offers(watch.folder, watch.agent).line(line)

    def _record(self, watch: Watch, decision: Decision, now: float) -> None:
        reading = watch.reading
        details = {"context_usage": reading.percent if reading else None, "zone": decision.zone}
        actions = ", ".join(decision.actions) or None
        self.store.add_health(
            watch.session.id, watch.session.project, "context", decision.status, details, actions, now
        )
        self.store.add_event(
            "TOKEN_BUDGET", now, watch.session.id, None,
            {"used": reading.used if reading else None, "limit": reading.usable if reading else None, **details},
        )  # fmt: skip

    def _remark(self, watch: Watch, decision: Decision) -> None:
        """A warning rides on the next turn that happens anyway; nobody is woken for it."""
        if Action.WARN in decision.actions or decision.nudge:
            percent = watch.reading.percent if watch.reading else None
            text = f"[baton] Context at {percent or 0:.0f} % of what is usable. "
            text += (
                "Finish the current piece of work; Baton asks for a handoff when it is due."
                if decision.nudge
                else "Large tasks are better begun after the next handoff; Baton asks for it when it is due."
            )
            Offers(watch.folder, watch.agent).note(watch.conversation.agent_session, text)

    def _tell_later(self, watch: Watch, text: str) -> None:
        self.spawn(self.tell(watch, text))

    async def tell(self, watch: Watch, text: str) -> None:
        await self.notify(watch.session.id, text)

    def spawn(self, work: Coroutine[None, None, object]) -> None:
        """Let something run beside the caller, until it ends by itself."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def zone(self, watch: Watch) -> str:
        decision = self.standing(watch).decision
        return decision.zone if decision else UNKNOWN


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
