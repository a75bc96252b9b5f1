"""What a running opencode says of itself over its port, kept current by its own events."""

import logging
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from time import monotonic, time

from batonpass.agents import processes
from batonpass.agents.opencode.limits import Limits, told
from batonpass.agents.opencode.record import Entry, created, entries, mapping, text
from batonpass.agents.opencode.server import Server, ServerAway
from batonpass.disk import read_plain
from batonpass.untrusted import decode, identifier

log = logging.getLogger(__name__)

_AGAIN_SECONDS = 0.25  # between tries to reach a process that has just been started
_PATIENCE_SECONDS = 120.0  # in which a port that is there answers, also on a busy machine
_PERMIT = "permit.json"


class Word:
    """Listens in a thread of its own until the process is gone; what it has heard can be asked for at any time."""

    def __init__(self, server: Server, pid: int, folder: Path) -> None:
        self.server, self.pid, self._folder = server, pid, folder
        self.answers = False  # whether the port answers now
        self.front: str | None = None  # the conversation that its user sees
        self.limits: Mapping[str, Limits] = {}
        self._front_at = 0.0
        self._busy: dict[str, str] = {}
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
        while processes.alive(self.pid) and not self._closed.is_set():
            try:
                for event in self.server.events():
                    if self._closed.is_set():
                        break
                    if not self.answers:
                        self._catch_up()
                    self.hear(event)
            except ServerAway:
                pass
            except Exception:  # whatever it said: listening goes on
                log.exception("opencode on port %d said something that nobody foresaw", self.server.port)
            if self.answers:
                self.answers, self._since = False, monotonic()
            self._closed.wait(_AGAIN_SECONDS)

    def _catch_up(self) -> None:
        """Ask for what was said while nobody listened. Raises ServerAway."""
        statuses = mapping(self.server.get("/session/status"))
        asked = [*entries(self.server.get("/permission")), *entries(self.server.get("/question"))]
        self.limits = told(self.server.get("/config/providers"))
        with self._lock:
            self._busy = {one: text(mapping(status), "type") for one, status in statuses.items()}
            self._asking = {text(one, "id"): (text(one, "sessionID"), _question(one)) for one in asked}
        for one in self._busy:
            if self.front is None and self._is_users(one):
                self.select(one)
        for question in asked:
            self._permit(question)
        self.answers = True

    def hear(self, event: Entry) -> None:
        """Take in one event."""
        kind, about = text(event, "type"), mapping(event.get("properties"))
        info = mapping(about.get("info"))
        conversation = text(about, "sessionID") or text(info, "sessionID") or text(info, "id")
        match kind:
            case "session.created" | "session.updated":
                self._parents[conversation] = text(info, "parentID") or None
                if kind == "session.created":
                    self._came(conversation, created(info))
            case "session.deleted":
                self._left(conversation)
            case "message.updated" if info.get("role") == "user":
                self._came(conversation, created(info))
            case "tui.session.select":
                self.select(conversation)
            case "session.status" if text(mapping(about.get("status")), "type") != "idle":
                self._busy = {**self._busy, conversation: text(mapping(about.get("status")), "type")}
            case "session.status" | "session.idle":
                self._busy = {one: how for one, how in self._busy.items() if one != conversation}
            case "permission.asked" | "question.asked":
                with self._lock:
                    self._asking[text(about, "id")] = (conversation, _question(about))
                self._permit(about)
            case "permission.replied" | "question.replied" | "question.rejected":
                with self._lock:
                    self._asking.pop(text(about, "requestID"), None)
            case _:
                pass

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
        if _is_for_draft(asked, self._folder / _PERMIT):
            try:
                self.server.post(f"/permission/{text(asked, 'id')}/reply", {"reply": "once"})
            except ServerAway:
                return


def _question(asked: Entry) -> str:
    if "permission" in asked:
        patterns = asked.get("patterns")
        what = ", ".join(str(one) for one in patterns) if isinstance(patterns, list) else ""
        return f"asks for permission: {text(asked, 'permission')} {what}".strip()[:200]
    return "asks a question"


def _is_for_draft(asked: Entry, rule: Path) -> bool:
    """Whether it is about one single file, in the folder that the rule names."""
    patterns, path = asked.get("patterns"), text(mapping(asked.get("metadata")), "filepath")
    if text(asked, "permission") != "edit" or not isinstance(patterns, list) or len(patterns) != 1 or not path:
        return False
    if not identifier(asked.get("id")) or not os.path.isabs(path) or not path.endswith(str(patterns[0])):
        return False
    try:
        folder = text(mapping(decode(read_plain(rule))), "folder")
    except (OSError, ValueError):
        return False
    return bool(folder) and os.path.realpath(path).startswith(os.path.join(folder, ""))
