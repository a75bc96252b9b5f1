"""What keeps sessions from handing off again and again, in the conversations that they have now."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from batonpass.clock import Clock, iso
from batonpass.ladder import Decision, History, Ladder, decide
from batonpass.reading import Forecast, forecast
from batonpass.store import Store
from batonpass.supervisor.guards import FUTILE, Verdict
from batonpass.supervisor.starter import Starter
from batonpass.supervisor.watch import Watch

_READINGS = 60  # of the conversation before, for what it grew by
_SAME_SECONDS = 0.5  # two looks that are closer are one


@dataclass(slots=True)
class _State:
    """What was found out about one conversation."""

    conversation: str
    judged: bool = False  # the cycles before it were looked at
    raised: float = 0.0  # percent points by which the threshold is put off,
    raised_until: float = 0.0
    futile: str = ""  # why another handoff would not help
    looks: list[float] = field(default_factory=list)  # by the ticks: when to decide anew, though nothing is read


class Restraint:
    """Says whether a handoff that is due may begin, puts the threshold off, and tells a person why."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        starter: Starter,
        ladder: Callable[[Watch], Ladder],
        tell: Callable[[Watch, str], None],
    ) -> None:
        self._store, self._clock, self._starter, self._ladder, self._tell = store, clock, starter, ladder, tell
        self._states: dict[str, _State] = {}

    def raised(self, watch: Watch) -> float:
        """By how many percent points the threshold is put off now, since handoffs follow each other too quickly.

        The cycle that began a conversation ends some answers after its start, so it is judged when none is under way.
        """
        state = self._of(watch)
        if not state.judged and watch.step is None and self._store.running_cycle(watch.session.id) is None:
            verdict = self._starter.verdict(watch)
            if verdict.raised:
                self._tell_once(watch, "frequent", self._frequent(watch, verdict))
                self._look_at(state, verdict.raised_until)
            state.judged, state.raised, state.raised_until = True, verdict.raised, verdict.raised_until
        return state.raised if self._clock.now() < state.raised_until else 0.0

    def holds(self, watch: Watch, decision: Decision) -> bool:
        """Whether a handoff that is due must not begin."""
        state = self._of(watch)
        if not state.futile and watch.session.chain and not self._is_pardoned(watch) and self._born_full(watch):
            self._tell_once(watch, "futile", _born_full_sentence(watch, decision))
            state.futile = f"the conversation began above the threshold ({decision.reason.rstrip('.')})"
        if state.futile:
            return True
        verdict = self._starter.verdict(watch)
        has_news = not verdict.wants_news or self._has_news(watch, verdict)
        if verdict.free:
            return not has_news
        if verdict.until is not None and has_news:
            self._look_at(state, verdict.until)
        if sentence := self._starter.pause_to_tell(watch, verdict):
            self._tell(watch, sentence)
        return True

    def is_over(self, watch: Watch) -> bool:
        """Whether the time is up for which a handoff was held back or put off; true once for each."""
        state, now = self._of(watch), self._clock.ticks()
        due = [look for look in state.looks if look <= now]
        state.looks = [look for look in state.looks if look > now]
        return bool(due)

    def _look_at(self, state: _State, date: float) -> None:
        look = self._clock.ticks() + date - self._clock.now()
        if all(abs(look - other) > _SAME_SECONDS for other in state.looks):
            state.looks.append(look)

    def verdict(self, watch: Watch) -> Verdict:
        """What all guards together say, for whoever looks."""
        found, state = self._starter.verdict(watch), self._of(watch)
        return replace(found, guard=FUTILE, why=state.futile) if found.free and state.futile else found

    def reset(self, watch: Watch) -> None:
        """A person has looked: count anew from now, and let this conversation hand off, too."""
        self._starter.reset(watch.session.id)
        self._store.put(_pardon(watch), watch.conversation.agent_session)
        self._states.pop(watch.session.id, None)

    def forget(self, session: str) -> None:
        self._states.pop(session, None)

    def _of(self, watch: Watch) -> _State:
        state, conversation = self._states.get(watch.session.id), watch.conversation.agent_session
        if state is None or state.conversation != conversation:
            state = self._states[watch.session.id] = _State(conversation)
        return state

    def _is_pardoned(self, watch: Watch) -> bool:
        return self._store.get(_pardon(watch)) == watch.conversation.agent_session

    def _has_news(self, watch: Watch, verdict: Verdict) -> bool:
        """Whether the agent has answered since the handoff that was postponed."""
        return watch.reading is not None and watch.reading.at > verdict.since

    def _born_full(self, watch: Watch) -> bool:
        """A successor that is above the threshold after its first response would hand off for ever.

        By its own record: the first reading that is seen may come late, from a daemon that was away.
        """
        first, reading = watch.conversation.first_used, watch.reading
        if first is None and watch.readings and watch.conversation.prompts < 2:
            first = watch.readings[0].used
        if first is None or reading is None:
            return False
        begun, nothing = replace(reading, used=first), Forecast(None, None, None)
        at_first = decide(begun, nothing, History(raised=self.raised(watch)), self._ladder(watch), self._clock.now())
        return at_first.hand_off or at_first.force

    def _tell_once(self, watch: Watch, topic: str, text: str) -> None:
        """Tell a person, once for each conversation, also if the daemon is restarted meanwhile."""
        key, conversation = f"told {topic} {watch.session.id}", watch.conversation.agent_session
        if self._store.get(key) != conversation:
            self._store.put(key, conversation)
            self._tell(watch, text)

    def _frequent(self, watch: Watch, verdict: Verdict) -> str:
        """The warning about handoffs that follow each other too quickly, with what seems to cause it."""
        causes = []
        first = watch.readings[0].percent if watch.readings else None
        if first is not None and first >= 40:
            causes.append(f"each conversation begins {first:.0f} % full")
        if grew := self._growth_before(watch):
            causes.append(f"each message adds about {grew / 1000:.0f}k tokens")
        cause = " and ".join(causes) or "the window is small for this work"
        return (
            f"{watch.session.name}: {verdict.frequent} handoffs within an hour, because {cause}; "
            f"the threshold is {verdict.raised:.0f} points higher until {iso(verdict.raised_until)}"
        )

    def _growth_before(self, watch: Watch) -> float | None:
        """Tokens that a message added in the conversation that was handed off last; this one has hardly begun."""
        cycles = self._store.cycles(session=watch.session.id, limit=1)
        before = cycles[-1].old_agent_session if cycles else None
        if before is None:
            return None
        readings = self._store.readings(watch.session.id, agent_session=before, limit=_READINGS)
        return forecast(readings).tokens_per_message


def _born_full_sentence(watch: Watch, decision: Decision) -> str:
    """The warning about a successor for which another handoff would not help."""
    return (
        f"{watch.session.name}: the new conversation begins above the threshold ({decision.reason.rstrip('.')}); "
        "no further handoff is started for it. Take a larger model or a higher threshold, "
        f"then run: baton breaker reset {watch.session.name}"
    )


def _pardon(watch: Watch) -> str:
    return f"pardoned {watch.session.id}"
