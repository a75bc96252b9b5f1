"""A live session as the supervisor sees it: its conversation, its state, its readings."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from batonpass.agents.base import Agent, BackgroundTask, Binding, FrontUnknown, HookKind, HookReport, Status
from batonpass.agents.setbacks import TriesAgain
from batonpass.clock import Clock
from batonpass.reading import CONFIDENCE, Forecast, Reading, Source, forecast
from batonpass.session import Session, State
from batonpass.supervisor.conversation import Conversation, News
from batonpass.transcripts.events import Failed

STARTS_KEPT = 20
RESTORING = "restore"  # the step of a session that is being brought back; no cycle has it
_READINGS = 60  # kept in memory for the forecast
_CHARACTERS_PER_TOKEN = 4
_EXACT = (Source.STATUSLINE, Source.TRANSCRIPT)  # counts of the provider's own; the others round or guess
_TURN_SECONDS = 3.0  # a prompt that the agent does not go to work on within this time began no turn
_TURNS = (HookKind.PROMPT, HookKind.STOP, HookKind.STOP_FAILED)
TAKEN_SECONDS = 20.0  # from the taking of a text by the agent to its own record of it
_LAG_SECONDS = 0.3  # at a stop the record lags behind; longer than this nobody waits for it
_LOOK_SECONDS = 0.004
_LIVE_SECONDS = 2.0  # a hook's report is not older than this, unless it waited for the daemon
_UNTOLD_SECONDS = 3.0  # by then the hook of a conversation that began has told of it, or it never will
_LATE_SOURCE_SECONDS = 20.0  # a worse source counts again when the better one has been silent this long


@dataclass(frozen=True, slots=True)
class Stopped:
    """The end of a turn, by the agent's stop hook."""

    at: float
    agent_session: str
    last_message: str | None
    heard: int | None = None  # how much of the conversation was read when it came; None when it waited in the spool


@dataclass(frozen=True, slots=True)
class Started:
    """The start of a conversation, by the agent's session-start hook."""

    at: float
    agent_session: str
    source: str | None


class Watch:
    """Takes in what hooks, files and screens say; `until` waits for what follows from it."""

    def __init__(self, session: Session, agent: Agent, folder: Path, env: Mapping[str, str], clock: Clock) -> None:
        self.session = session
        self.agent = agent
        self.folder = folder
        self.env = dict(env)
        self.clock = clock
        self.conversation = Conversation(session.agent_session or "", session.transcript, agent.record)
        self.past: list[Conversation] = []
        self.status = Status(session.state)
        self.readings: list[Reading] = []
        self.window: int | None = None
        self.compacts_at: dict[int, int] = {}  # tokens at which it was seen compacting itself, by its window then
        self.background: tuple[BackgroundTask, ...] = ()
        self.stops: list[Stopped] = []
        self.starts: list[Started] = []
        self.holding_stop = False  # a stop hook waits for our answer right now
        self.hooks_seen = 0
        self.began = session.created  # its agent has had the pane since then; a resumed conversation has older turns
        self.step: str | None = None  # of the cycle that is under way
        self.queued = False  # that cycle waits for its place among others
        self.brought_back: str | None = None  # the conversation that this cycle came back to
        self.due: tuple[str, float] | None = None  # a cycle's round, and when its time is up by the ticks
        self.being_told = False  # a prompt of no cycle is on its way to it
        self.leaving = False  # the user closed the agent
        self.notice: str | None = None  # what the user should know of how it was started
        self.title = ""  # of the pane's window
        self.title_since = self.title_at = 0.0
        self._refused: TriesAgain | None = None  # by its provider, as a dialog of the agent's says
        self.dialog: str | None = None  # what the screen shows where the agent itself says nothing yet
        self.heard: Callable[[News], None] = lambda news: None  # whoever acts on what a read brings
        self._others: dict[str, Agent] = {}  # who held conversations before a switch, by their ids
        self._prompted: float | None = None  # when a prompt came by hook that the agent has not gone to work on yet
        self._named_since = self._followed_since = 0.0  # by the ticks: a conversation, by the agent's word and by ours
        self._waiters: set[asyncio.Event] = set()

    # -- waiting -------------------------------------------------------------------------------------

    def changed(self) -> None:
        """Wake everyone who waits for something of this session."""
        for waiter in self._waiters:
            waiter.set()

    async def until(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Whether the condition came true within that time. It is looked at on every change, first at once."""
        deadline = self.clock.ticks() + seconds
        waiter = asyncio.Event()
        self._waiters.add(waiter)
        try:
            while not condition():
                left = deadline - self.clock.ticks()
                if left <= 0:
                    return False
                waiter.clear()
                try:
                    await self.clock.within(waiter.wait(), left)
                except TimeoutError:
                    return condition()
            return True
        finally:
            self._waiters.discard(waiter)

    async def records(self, arrived: Callable[[], bool]) -> bool:
        """Whether the agent, which has taken a text, comes to write it into its own record: then that has arrived."""
        return await self.until(lambda: arrived() or self.gone, TAKEN_SECONDS) and arrived()

    async def recorded(self, words: str) -> bool:
        """Whether the record comes to have what the agent said last, as its hook told it. An agent may stand still
        meanwhile, so we look more often than the events of files come."""
        deadline = self.clock.ticks() + _LAG_SECONDS
        while not await self.until(lambda: self._has_said(words), _LOOK_SECONDS):
            if self.clock.ticks() >= deadline:
                return False
        return True

    def _has_said(self, words: str) -> bool:
        self.read()
        return (self.conversation.last_said() or "").strip() == words.strip()

    # -- state ---------------------------------------------------------------------------------------

    @property
    def binding(self) -> Binding:
        return Binding(
            pid=self.session.pid,
            agent_session=self.conversation.agent_session or None,
            transcript=self.conversation.transcript,
            folder=self.folder,
            env=self.env,
            title=self.title,
            title_since=self.title_since,
            title_at=self.title_at,
        )

    @property
    def gone(self) -> bool:
        return self.session.state in (State.DEAD, State.ENDED) or self.status.state is State.DEAD

    def see_title(self, title: str) -> None:
        """Take in what the title of its window is now; some agents tell their state by it."""
        self.title_at = self.clock.now()
        if title != self.title:
            self.title, self.title_since = title, self.title_at

    def refresh(self) -> bool:
        """Ask the agent's own record for its state; True when it changed."""
        if self.session.state in (State.DEAD, State.ENDED):
            return False
        status = self.agent.status(self.binding)
        if status.state is State.UNKNOWN and self.status.state is State.STARTING:
            return False
        if status == self.status:
            return False
        if status.agent_session != self.status.agent_session:
            self._named_since = self.clock.ticks()
        self.status = status
        self._prompted = None  # it has spoken for itself since
        if status.state is not State.DEAD:  # whether it died or was closed is told by its pane
            self.session = replace(self.session, state=status.state)
        self.changed()
        return True

    @property
    def hooks_run(self) -> bool | None:
        """Whether Baton's hooks run in this session; None while that cannot be told.

        They come long before the end of the first turn: a turn that ended with none means that an
        administrator, the user's settings or another version keeps them from running.
        """
        if not self.agent.has_hooks:
            return None
        if self.hooks_seen:
            return True
        if self.session.adopted or self.conversation.has_ended_a_turn_since(self.began) or self._answered_unheard():
            return False
        return None

    def _answered_unheard(self) -> bool:
        """Whether it is idle after an answer: not every record tells ends of turns."""
        return self.status.state is State.IDLE and self.conversation.has_answered_since(self.began)

    @property
    def left_for(self) -> str | None:
        """The conversation that the agent itself calls the one in front, where another one is followed here.

        It lasts for a moment at every clear, until the hook comes; for longer when that was lost. Nothing is to be
        typed meanwhile: it would go to the wrong one.
        """
        said, followed = self.status.agent_session, self.conversation.agent_session
        if said is None or not followed or said == followed:
            return None
        # Its word may name a conversation that was left; where hooks run they tell when it is gone back to.
        left = self.agent.starts_with_prompt and self.hooks_seen > 0 and self._began(said)
        return None if left else said

    def idle(self) -> bool:
        """Idle by the agent's own word, with no hook of its turn still open, and no prompt just given to it."""
        return self.status.state is State.IDLE and not self.working()

    def working(self) -> bool:
        """Whether a turn is under way, whose stop hook is still to come or is open now."""
        return self.holding_stop or self.status.state is State.BUSY or self._turn_begins()

    def _turn_begins(self) -> bool:
        """A prompt was given to the agent a moment ago; that it is busy it says a little later."""
        if self._prompted is None or self.status.state is not State.IDLE:
            return False
        return self.clock.ticks() - self._prompted < _TURN_SECONDS

    @property
    def tries_again(self) -> TriesAgain | None:
        """What its provider refused in the conversation that is followed, while the agent waits to try again itself.

        Or for a person, at a dialog about that: `asks_of_it` tells.
        """
        mine = self.status.agent_session == self.conversation.agent_session
        return None if self.gone else self._refused or (self.status.tries_again if mine else None)

    @property
    def asks_of_it(self) -> bool:
        """Whether it stands at a dialog because its provider does not serve it."""
        return self._refused is not None

    def see_refusal(self, failed: Failed | None) -> None:
        """Take in what a dialog of the agent's says of its provider; None when it shows none, or none any more."""
        known = self._refused.failed if self._refused else None
        if (failed and (failed.kind, failed.text)) != (known and (known.kind, known.text)):
            self._refused = TriesAgain(failed) if failed else None
            self.changed()

    @property
    def failure(self) -> Failed | None:
        """What keeps the work from going on: the error that the last turn ended with, or one that it is tried over."""
        return self.tries_again.failed if self.tries_again else self.conversation.failure

    def turn_over(self, tag: str, since: float) -> bool:
        """Whether the turn that the prompt with this tag began is over, by any of the agent's own signals."""
        index = self.conversation.prompted(tag)
        if index is None:
            return False
        if any(self._stopped_after(tag, index, since, stop) for stop in self.stops):
            return True
        if self.conversation.ended_after(tag):
            return True
        return self.idle() and (self.status.since or 0.0) > since

    def last_message(self, tag: str, since: float) -> str:
        """What the stop hook of the turn that the prompt with this tag began has brought along; "" before that."""
        index = self.conversation.prompted(tag)
        if index is None or self.conversation.prompted_after(index):
            return ""
        ends = [stop for stop in self.stops if stop.heard is not None and self._stopped_after(tag, index, since, stop)]
        return (ends[0].last_message or "") if ends else ""

    def _stopped_after(self, tag: str, index: int, since: float, stop: Stopped) -> bool:
        """By the order in which things came; by their dates only where they came late, for a clock may be set.

        A record may be written later than the hook runs: then the stop's last words are found behind the prompt.
        """
        if stop.agent_session != self.conversation.agent_session:
            return False
        if stop.heard is not None and stop.heard > index + self.conversation.forgotten:
            return True
        if stop.at < since:
            return False
        if stop.heard is None:
            return True
        words = (stop.last_message or "").strip()
        return bool(words) and words in map(str.strip, self.conversation.said_after(tag))

    # -- what comes in -------------------------------------------------------------------------------

    def take_hook(self, report: HookReport, at: float) -> bool:
        """Take in a hook's report; True when the session moved to another conversation."""
        self.hooks_seen += 1
        moved = False
        if report.kind in _TURNS and report.agent_session == self.conversation.agent_session:
            live = report.kind is HookKind.PROMPT and abs(self.clock.now() - at) < _LIVE_SECONDS
            self._prompted = self.clock.ticks() if live else None
        if report.background is not None:
            self.background = report.background
        if report.permission_mode:
            self.session = replace(self.session, permission_mode=report.permission_mode)
        if report.kind is HookKind.SESSION_START:
            moved = self._started(report, at)
        elif report.kind is HookKind.STOP:
            self.read()  # the turn that ends here stands in the record, and comes before its end
            self.stops.append(Stopped(at, report.agent_session, report.last_message, self._heard_so_far(at)))
            del self.stops[:-20]
        if report.transcript is not None and report.agent_session == self.conversation.agent_session:
            self._follow(report.transcript)
        self.changed()
        return moved

    def _heard_so_far(self, at: float) -> int | None:
        """How far the record was read at this moment; a report from the spool may be older than all of it."""
        live = abs(self.clock.now() - at) < _LIVE_SECONDS
        return self.conversation.forgotten + len(self.conversation.log) if live else None

    def _started(self, report: HookReport, at: float) -> bool:
        moved = self.begin(report.agent_session, report.transcript, report.source, at)
        if report.model:
            self.session = replace(self.session, model=report.model)
        return moved

    def begin(self, agent_session: str, transcript: Path | None, source: str | None, at: float) -> bool:
        """A conversation begins or goes on; True when it is another one than before."""
        self.starts.append(Started(at, agent_session, source))
        del self.starts[:-STARTS_KEPT]
        moved = agent_session != self.conversation.agent_session
        if moved:
            self._followed_since = self.clock.ticks()
            if self.conversation.agent_session:
                self.past = [*self.past, self.conversation][-3:]
            self.conversation = Conversation(agent_session, transcript, self.agent.record)
            self.readings = []
        kept = transcript or self.conversation.transcript
        self.session = replace(self.session, agent_session=agent_session, transcript=kept)
        self.changed()
        return moved

    def follow_word(self) -> bool:
        """Where no hook tells, follow the agent's own word on which conversation is in front; True when it moved.

        Where hooks run they are waited for: the word comes before them, and what they bring along comes with them.
        """
        if self.session.pid is None or self.gone:
            return False
        if self.agent.starts_with_prompt and self._began_unheard():
            return True
        if self.hooks_seen and not self._hook_was_lost():
            return False
        said = self.status.agent_session
        if said is None or (said == self.conversation.agent_session and self.conversation.transcript is not None):
            return False
        try:
            found = self.agent.find(self.session.pid)
        except FrontUnknown:
            return False  # the one known so far goes on to hold
        if found is None or found.agent_session is None:
            return False
        if found.agent_session != self.conversation.agent_session:
            return self.begin(found.agent_session, found.transcript, self._how(found.agent_session), self.clock.now())
        if found.transcript is not None:
            self._follow(found.transcript)
        return False

    def _hook_was_lost(self) -> bool:
        """Whether the agent has named another conversation for so long that no hook will tell of it any more."""
        since = max(self._named_since, self._followed_since)
        return self.left_for is not None and self.clock.ticks() - since >= _UNTOLD_SECONDS

    def _began(self, agent_session: str) -> bool:
        return any(start.agent_session == agent_session for start in self.starts)

    def _how(self, agent_session: str) -> str:
        """In which way a conversation came to the front that only the agent's own word tells of."""
        if self._began(agent_session):
            return "resume"
        return "clear" if self.conversation.agent_session else "startup"

    def knows_start(self, report: HookReport) -> bool:
        """Whether the agent's own word told of this start before the hook, which comes with the first prompt."""
        begun = ("startup", "clear")  # a new process in the same pane is a clear by its word, a startup by its hook
        told = [start.source for start in self.starts if start.agent_session == report.agent_session]
        return self.agent.starts_with_prompt and report.source in begun and any(source in begun for source in told)

    def _began_unheard(self) -> bool:
        """Follow a conversation that its agent names before any hook does. One that was left is not gone back to."""
        said = self.status.agent_session
        if said is None or said == self.conversation.agent_session or self._began(said):
            return False
        source = "clear" if self.conversation.agent_session else "startup"
        return self.begin(said, None, source, self.clock.now())

    def become(self, agent: Agent) -> Callable[[], None]:
        """Another agent is about to take over in the pane. Gives what undoes that, should it not start."""
        before = dict(self.__dict__)
        if self.conversation.agent_session:
            self.past = [*self.past, self.conversation][-3:]
            self._others = {**self._others, self.conversation.agent_session: self.agent}
        self.agent = agent
        self.conversation = Conversation("", None, agent.record)
        self.readings, self.stops, self.background = [], [], ()
        self.window, self.compacts_at = None, {}
        self.hooks_seen = 0
        self._refused = None
        self.began = self.clock.now()
        self.session = replace(
            self.session, agent=agent.name, agent_session=None, transcript=None, model=None, permission_mode=None
        )
        return lambda: self.__dict__.update(before)

    def agent_of(self, agent_session: str | None) -> Agent:
        """Who holds or held this conversation."""
        return self._others.get(agent_session or "", self.agent)

    def _follow(self, transcript: Path) -> None:
        if transcript != self.conversation.transcript:
            self.conversation.follow(transcript)
            self.session = replace(self.session, transcript=transcript)

    def read(self) -> News:
        """Take in what the transcript says since the last look; whoever reads, it is acted on."""
        news = self.conversation.read()
        for compacted in news.compacted:
            if compacted.trigger == "auto" and compacted.before:
                self.saw_compaction(self.window_of(self.session.model), compacted.before)
        if news.permitted is not None:
            self.session = replace(self.session, permission_mode=news.permitted.mode)
        self.heard(news)
        if news.any:
            self.changed()
        return news

    def conversation_of(self, agent_session: str | None) -> Conversation | None:
        """The live conversation or one of the last few, by the agent's own id."""
        for conversation in (self.conversation, *reversed(self.past)):
            if conversation.agent_session == agent_session:
                return conversation
        return None

    # -- readings ------------------------------------------------------------------------------------

    @property
    def reading(self) -> Reading | None:
        return self.readings[-1] if self.readings else None

    def usable(self, window: int, model: str | None = None) -> int:
        limit = self.agent.usable(window, self.env, model)
        return min(limit, self.compacts_at.get(window, limit))

    def saw_compaction(self, window: int, at: int) -> None:
        """Take note of where the agent compacted itself, whatever its formula says; another window has its own."""
        self.compacts_at[window] = min(at, self.compacts_at.get(window, at))

    def reading_of(self, used: int, at: float, model: str | None, source: Source) -> Reading:
        """A reading from a count of tokens, with the best known window."""
        window = self.window_of(model)
        sure = CONFIDENCE[source] if self.window else min(CONFIDENCE[source], 0.7)
        return Reading(
            at, self.conversation.agent_session, used, window, self.usable(window, model), source, sure, model
        )

    def window_of(self, model: str | None) -> int:
        """The best known window of the live conversation, with this model."""
        return self.window or self.agent.window(self._whole_name(model), self.env)

    def _whole_name(self, model: str | None) -> str | None:
        """The model's name with its variant, such as [1m]: records leave it out, and with it goes the window."""
        known = self.session.model
        if model is None or (known is not None and known.partition("[")[0] == model):
            return known
        return model

    def take_reading(self, reading: Reading) -> bool:
        """Keep a reading of the live conversation; False for another's, or for a worse and older one."""
        if reading.agent_session != self.conversation.agent_session or reading.used is None:
            return False
        if reading.source is Source.STATUSLINE and reading.window:
            self.window = reading.window
            reading = replace(reading, usable=self.usable(reading.window))
        last = self.reading
        if last is not None:
            worse = CONFIDENCE[reading.source] < CONFIDENCE[last.source]
            if last.used == reading.used:
                # The same count again tells nothing new, unless it comes from a better source.
                if not worse and reading.source is not last.source:
                    self.readings[-1] = replace(reading, at=last.at)
                return False
            if worse and reading.source not in _EXACT and reading.at - last.at < _LATE_SOURCE_SECONDS:
                return False
        if last is not None and reading.source in _EXACT and last.source not in _EXACT:
            self.readings = []  # the step from a guess to a count is no growth
        self.readings = [*self.readings, reading][-_READINGS:]
        if reading.model:
            self.session = replace(self.session, model=self._whole_name(reading.model))
        self.changed()
        return True

    def estimate(self) -> Reading | None:
        """A guess from the length of what was said, for an agent that tells no usage at all."""
        conversation = self.conversation
        if self.readings or conversation.usage_told or not conversation.characters:
            return None
        used = conversation.characters // _CHARACTERS_PER_TOKEN
        return self.reading_of(used, self.clock.now(), self.session.model, Source.ESTIMATE)

    @property
    def forecast(self) -> Forecast:
        return forecast(self.readings)

    @property
    def growth(self) -> int | None:
        """By how much the context grew at its last step up."""
        known = [r.used for r in self.readings if r.used is not None]
        steps = [b - a for a, b in pairwise(known) if b > a]
        return steps[-1] if steps else None
