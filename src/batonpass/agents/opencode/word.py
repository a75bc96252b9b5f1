"""What a running opencode says of itself over its port, kept current by its own events."""

import logging
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from time import monotonic, time

from batonpass.agents import processes
from batonpass.agents.opencode.asked import is_for_draft, question
from batonpass.agents.opencode.limits import Limits, told
from batonpass.agents.opencode.record import Entry, created, entries, mapping, refused, seconds, text
from batonpass.agents.opencode.server import Server, ServerAway
from batonpass.agents.setbacks import TriesAgain
from batonpass.untrusted import identifier

log = logging.getLogger(__name__)

_AGAIN_SECONDS = 0.1  # between tries to reach a process that has just been started
_FIRST_SECONDS, _LAST_SECONDS = 0.25, 2.0  # how long a try is waited for: longer each time, for a busy machine
_PATIENCE_SECONDS = 120.0  # in which a port that is there answers, also on a busy machine
_PERMIT = "permit.json"
# What only its events say; the rest shows in its database as well.
_TELL = ("session.status", "session.idle", "tui.session.select", "permission.asked", "question.asked")


class Word:
    """Listens in a thread of its own until the process is gone; what it has heard can be asked for at any time."""

    def __init__(self, server: Server, pid: int, folder: Path, told: Callable[[], None] = lambda: None) -> None:
        self.server, self.pid, self._folder, self._told = server, pid, folder, told
        self.answers = False  # whether the port answers now
        self.front: str | None = None  # the conversation that its user sees
        self.limits: Mapping[str, Limits] = {}
        self._front_at = 0.0
        self._busy: frozenset[str] = frozenset()
        self._refused: dict[str, TriesAgain] = {}  # conversations whose last request failed, and is made again
        self._asking: dict[str, tuple[str, str]] = {}  # a question's id -> whose it is, and what it asks
        self._parents: dict[str, str | None] = {}
        self._looked_for: set[str] = set()  # conversations that the process is being asked for
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._since = monotonic()  # when it was last known to answer, or first asked

    @property
    def silent(self) -> bool:
        """Whether the port has not answered for so long that it will not: then only the record tells."""
        return not self.answers and monotonic() - self._since > _PATIENCE_SECONDS

    def listen(self) -> None:
        """Begin to listen; ends by itself with the process."""
        threading.Thread(target=self._listen, name=f"opencode-{self.pid}", daemon=True).start()

    def close(self) -> None:
        """Stop listening after what is being heard."""
        self._closed.set()

    def busy(self, conversation: str) -> bool | None:
        """Whether a turn is under way, by its own word; None while it does not answer."""
        return conversation in self._busy if self.answers else None

    def tries_again(self, conversation: str) -> TriesAgain | None:
        """What keeps it waiting for its provider: in this conversation, or in every sub-agent that works for it.

        While one of them is served the work goes on, whatever the others wait for; else the next to try is told of.
        """
        with self._lock:
            if conversation in self._refused:
                return self._refused[conversation]
            at_work = [one for one in self._busy if self._parents.get(one) == conversation]
            waiting = [self._refused[one] for one in at_work if one in self._refused]
        if not waiting or len(waiting) < len(at_work):
            return None
        return min(waiting, key=lambda again: (again.at or 0.0, again.failed.at))

    def asks(self, conversation: str) -> str | None:
        """What it waits for a person to answer, in this conversation or in a sub-agent of it."""
        with self._lock:
            for whose, what in self._asking.values():
                if conversation in (whose, self._parents.get(whose)):
                    return what
        return None

    def knows(self, conversation: str | None) -> bool:
        """Whether the process has said that it finds this conversation; else it is asked, beside whoever wants to know.

        A port may be slow, and whoever wants to know has other sessions to see to.
        """
        if conversation is None or not self.answers:
            return False
        with self._lock:
            ask = conversation not in self._parents and conversation not in self._looked_for
            if ask:
                self._looked_for.add(conversation)
        if ask:
            threading.Thread(target=self._look_for, args=(conversation,), daemon=True).start()
        return conversation in self._parents

    def select(self, conversation: str) -> None:
        """Note that this conversation was brought to the front."""
        with self._lock:
            self.front, self._front_at = conversation, time()

    # -- listening -----------------------------------------------------------------------------------

    def _listen(self) -> None:
        within = _FIRST_SECONDS
        while processes.alive(self.pid) and not self._closed.is_set():
            try:
                for event in self.server.events(within):
                    if self._closed.is_set():
                        break
                    if not self.answers:
                        self._catch_up()
                        within = _FIRST_SECONDS
                        self._told()
                    self.hear(event)
                    if text(event, "type") in _TELL:
                        self._told()
            except ServerAway:
                pass
            except Exception:  # whatever it said: listening goes on
                log.exception("opencode on port %d said something that nobody foresaw", self.server.port)
            if self.answers:
                self.answers, self._since = False, monotonic()
            within = min(2 * within, _LAST_SECONDS)
            self._closed.wait(_AGAIN_SECONDS)

    def _catch_up(self) -> None:
        """Ask for what was said while nobody listened. Raises ServerAway."""
        statuses = mapping(self.server.get("/session/status"))
        asked = [*entries(self.server.get("/permission")), *entries(self.server.get("/question"))]
        self.limits = told(self.server.get("/config/providers"))
        with self._lock:
            noted = {one: self._noted(one, mapping(status)) for one, status in statuses.items()}
            self._busy = frozenset(statuses)
            self._refused = {one: again for one, again in noted.items() if again is not None}
            self._asking = {text(one, "id"): (text(one, "sessionID"), question(one)) for one in asked}
        for one in statuses:
            if self._is_users(one) and self.front is None:  # whose a sub-agent is, is to be known of all
                self.select(one)
        for each in asked:
            self._permit(each)
        self.answers = True

    def hear(self, event: Entry) -> None:
        """Take in one event."""
        kind, about = text(event, "type"), mapping(event.get("properties"))
        info, part = mapping(about.get("info")), mapping(about.get("part"))
        named = (text(about, "sessionID"), text(info, "sessionID"), text(part, "sessionID"), text(info, "id"))
        conversation = next(filter(None, named), "")  # older ones name it only in what they are about
        match kind:
            case "session.created" | "session.updated":
                self._parents[conversation] = text(info, "parentID") or None
                if kind == "session.created":
                    self._came(conversation, created(info))
            case "session.deleted":
                self._left(conversation)
                self._rests(conversation)
            case "message.updated" if info.get("role") == "user":
                self._came(conversation, created(info))
            case "tui.session.select":
                self.select(conversation)
            case "session.status" if text(mapping(about.get("status")), "type") != "idle":
                self._goes_on(conversation, mapping(about.get("status")))
            case "session.status" | "session.idle":
                self._rests(conversation)
            case "message.part.updated" if text(part, "type") == "step-start":
                self._served(conversation)
            case "permission.asked" | "question.asked":
                with self._lock:
                    self._asking[text(about, "id")] = (conversation, question(about))
                self._permit(about)
            case "permission.replied" | "question.replied" | "question.rejected":
                with self._lock:
                    self._asking.pop(text(about, "requestID"), None)
            case _:
                pass

    def _goes_on(self, conversation: str, how: Entry) -> None:
        """It is at work, or waits to try again; that it tries is no answer yet, so what was refused still holds."""
        self._busy |= {conversation}
        with self._lock:
            if (again := self._noted(conversation, how)) is not None:
                self._refused[conversation] = again

    def _noted(self, conversation: str, how: Entry) -> TriesAgain | None:
        """What is to be tried again by what it says of itself; the same one as before keeps its first date."""
        if text(how, "type") != "retry":
            return None
        said = TriesAgain(refused(text(how, "message"), time()), seconds(how.get("next")) or None)
        known = self._refused.get(conversation)
        same = known is not None and (known.at, known.failed.text) == (said.at, said.failed.text)
        return known if same else said

    def _rests(self, conversation: str) -> None:
        """Nothing is under way in it any more."""
        self._busy -= {conversation}
        self._served(conversation)

    def _served(self, conversation: str) -> None:
        """An answer has begun, or nothing is waited for any more."""
        with self._lock:
            told = self._refused.pop(conversation, None) is not None
        if told:
            self._told()

    def _came(self, conversation: str, at: float) -> None:
        """A conversation began, or somebody spoke in it: it is in front, unless that is older than what is known.

        Messages are told again when their summary is made, long after another conversation may have begun.
        """
        if at > self._front_at and identifier(conversation) and self._is_users(conversation):
            with self._lock:
                self.front, self._front_at = conversation, at

    def _left(self, conversation: str) -> None:
        with self._lock:
            if self.front == conversation:
                self.front = None

    def _is_users(self, conversation: str) -> bool:
        """Whether a person talks in it, and not only the agent to one of its sub-agents."""
        if conversation not in self._parents:
            try:
                info = mapping(self.server.get(f"/session/{conversation}"))
            except ServerAway:
                return False
            self._parents[conversation] = text(info, "parentID") or None
        return self._parents[conversation] is None

    def _look_for(self, conversation: str) -> None:
        try:
            self._is_users(conversation)
        finally:
            with self._lock:
                self._looked_for.discard(conversation)

    def _permit(self, asked: Entry) -> None:
        """Allow the one thing that Baton itself asked for: writing below this session's draft folder."""
        if is_for_draft(asked, self._folder / _PERMIT):
            try:
                self.server.post(f"/permission/{text(asked, 'id')}/reply", {"reply": "once"})
            except ServerAway:
                return
