"""A scripted model on loopback: a brain behind HTTP, in the words of one vendor's API.

Each vendor is a wire (what a request says, how a reply is put) and a name; the rest is here.
"""

import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from batonpass.clock import Clock, SystemClock
from batonpass.sim.brain import Asked, Brain, Reply
from batonpass.sim.model_server import Server
from batonpass.sim.model_wire import Answer, Kind, Request, Wire

Thought = Reply | Callable[[Asked], Reply]

_SMALL_TALK: Mapping[Kind, Reply] = {
    Kind.SIDE: Reply('{"title": "Rehearsal"}', used=400),
    Kind.SUB: Reply("The sub-agent is done.", used=9_000),
}


@dataclass(frozen=True, slots=True)
class Recorded:
    """One request as it came in."""

    number: int
    kind: Kind
    model: str
    messages: list[tuple[str, str]]
    system: str
    at: float
    session: str | None
    user_texts: list[str]  # every user message in order, tool results and reminders left out

    @property
    def text(self) -> str:
        """The last user message."""
        return self.user_texts[-1] if self.user_texts else ""

    @property
    def context(self) -> str:
        """Every text of the conversation, oldest first."""
        return "\n".join(text for _, text in self.messages)


@dataclass(slots=True)
class _Rule:
    thought: Thought
    match: re.Pattern[str] | None
    turn: int | None
    kind: Kind
    times: int

    def fits(self, asked: Asked) -> bool:
        right_turn = self.turn is None or self.turn == asked.turn
        return right_turn and (self.match is None or self.match.search(asked.text) is not None)


@dataclass(slots=True)
class _Conversation:
    """How full it was after the response to a request of so many messages; rewinding goes back."""

    used: dict[int, int] = field(default_factory=dict)

    def before(self, messages: int) -> int:
        earlier = [count for count in self.used if count < messages]
        return self.used[max(earlier)] if earlier else 0


class ScriptedModel:
    """The model. Main conversations go to the brain, other requests get small talk.

    `start` and `step` are the tokens of a reply that names none. Errors are answered before the brain's
    next thought: a retried request asks the brain again.
    """

    WIRE: type[Wire]  # what it speaks, said by each model
    WINDOW = 200_000

    def __init__(
        self,
        brain: Brain,
        *,
        port: int = 0,
        record_dir: Path | None = None,
        window: int | None = None,
        start: int = 20_000,
        step: int = 1_000,
        clock: Clock | None = None,
    ) -> None:
        self.brain = brain
        self.wire = self.WIRE()
        self.window = window or self.WINDOW
        self.requests: list[Recorded] = []
        self.stopping = threading.Event()
        self._start, self._step = start, step
        self._clock = clock or SystemClock()
        self._record_dir = record_dir
        self._rules: list[_Rule] = []
        self._conversations: dict[tuple[str | None, str], _Conversation] = {}
        self._changed = threading.Condition()
        if record_dir:
            record_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._server = Server(port, self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        """Its address, with no path."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def start(self) -> Self:
        self._thread.start()
        return self

    def stop(self) -> None:
        """Stop serving; slow streams end at once."""
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def script(
        self, thought: Thought, *, match: str | None = None, turn: int | None = None, kind: Kind = Kind.MAIN,
        times: int = 1,
    ) -> None:  # fmt: skip
        """Answer the next `times` requests of this kind, for the brain.

        Only those whose last user text matches, and that belong to this user turn of their conversation, from 1.
        """
        pattern = re.compile(match, re.DOTALL) if match else None
        with self._changed:
            self._rules.append(_Rule(thought, pattern, turn, kind, times))

    def wait_for(self, predicate: Callable[[Recorded], object], timeout: float = 90.0) -> Recorded:
        """The first request, past or to come, that fits. TimeoutError tells what came instead."""
        with self._changed:
            found = self._changed.wait_for(lambda: next(filter(predicate, self.requests), None), timeout)
        if found is None:
            seen = "; ".join(f"{r.kind} {r.text[:80]!r}" for r in self.requests) or "none at all"
            raise TimeoutError(f"No such request reached the model in {timeout:g} s; it saw: {seen}.")
        return found

    def main_requests(self) -> list[Recorded]:
        """The requests of the conversations that users see, in order."""
        return [request for request in self.requests if request.kind is Kind.MAIN]

    def user_texts(self) -> list[str]:
        """The user messages of all conversations, each by its longest request, in order of birth.

        A prompt that reached a conversation twice is here twice.
        """
        longest: dict[tuple[str | None, str], list[str]] = {}
        for request in self.main_requests():
            key = (request.session, next(iter(request.user_texts), ""))
            longest[key] = max(longest.get(key, []), request.user_texts, key=len)
        return [text for texts in longest.values() for text in texts]

    def answer(self, body: dict[str, Any], raw: bytes, path: str = "") -> tuple[Answer, Request]:
        """Record a request and think; for the server."""
        request = self.wire.read(body, path)
        with self._changed:
            number = self._record(request, raw)
            conversation = self._conversation(request)
            asked = self._asked(request, conversation)
            thought = self._scripted(request.kind, asked)
        reply = self._think(thought, request, asked)
        used = reply.used if reply.used is not None else asked.used + self._step if asked.used else self._start
        if request.kind is Kind.MAIN and reply.error is None:
            with self._changed:
                conversation.used[len(request.messages)] = used
        return self.wire.answer(f"{number:06d}", request, reply, used), request

    def _record(self, request: Request, raw: bytes) -> int:
        number = len(self.requests) + 1
        recorded = Recorded(
            number=number,
            kind=request.kind,
            model=request.model,
            messages=[(message.role, message.text) for message in request.messages],
            system=request.system,
            at=self._clock.now(),
            session=request.session,
            user_texts=request.user_texts,
        )
        self.requests.append(recorded)
        if self._record_dir:
            (self._record_dir / f"{number:04d}-{request.kind}.json").write_bytes(raw)
        self._changed.notify_all()
        return number

    def _conversation(self, request: Request) -> _Conversation:
        # A clear brings another session id, a compaction another first message.
        key = (request.session, next(iter(request.user_texts), ""))
        return self._conversations.setdefault(key, _Conversation())

    def _asked(self, request: Request, conversation: _Conversation) -> Asked:
        return Asked(
            text=request.text,
            context="\n".join(message.text for message in request.messages),
            tool_results=request.results,
            turn=len(request.user_texts),
            used=conversation.before(len(request.messages)),
        )

    def _scripted(self, kind: Kind, asked: Asked) -> Thought | None:
        for rule in self._rules:
            if rule.kind is kind and rule.fits(asked):
                rule.times -= 1
                if rule.times <= 0:
                    self._rules.remove(rule)
                return rule.thought
        return None

    def _think(self, thought: Thought | None, request: Request, asked: Asked) -> Reply:
        if thought is not None:
            return thought if isinstance(thought, Reply) else thought(asked)
        if request.kind is Kind.MAIN:
            return self.brain.reply(asked)
        if request.kind is Kind.COMPACT:
            return Reply(self.wire.summary(_summary(request)), used=400)
        return _SMALL_TALK[request.kind]


def _summary(request: Request) -> str:
    """Little, but enough to go on: the first request of the user and the model's last words."""
    said = [message.text for message in request.messages if message.role == "assistant" and message.text]
    first = next(iter(request.user_texts), "")
    return f"The user asked: {first[:500]}\nThe last words were:\n" + "\n".join(said[-2:])
