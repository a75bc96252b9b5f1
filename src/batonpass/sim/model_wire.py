"""What every vendor's wire has in common: a request as a scripted model sees it, and an answer ready to be sent."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from batonpass.sim.brain import Reply

Json = dict[str, Any]


class Kind(StrEnum):
    """Who in the agent asks."""

    MAIN = "main"  # the conversation that its user sees
    SIDE = "side"  # titles, small models, suggestions for the next prompt
    SUB = "sub"  # a sub-agent
    COMPACT = "compact"  # the summary of a compaction


@dataclass(frozen=True, slots=True)
class Message:
    """One message: all of its text, what a person (or Baton) said in it, and the tool results in it."""

    role: str
    text: str
    said: str
    results: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Request:
    kind: Kind
    model: str
    system: str
    messages: tuple[Message, ...]
    session: str | None  # the agent's session id, where it says it
    stream: bool
    tools: frozenset[str] = frozenset()  # by name, where the answer depends on what there is
    schema: Json | None = None  # the form that the answer must have, where one is asked for

    @property
    def user_texts(self) -> list[str]:
        """Every user message in order, without tool results and what the agent itself puts in."""
        return [message.said for message in self.messages if message.said and message.role != "assistant"]

    @property
    def text(self) -> str:
        """What is to be answered: the last user message, or what started a turn in its place."""
        news = [message for message in self._since_response if message.role == "user"]
        if news and not self.results and not any(message.said for message in self._since_response):
            return news[-1].text
        return next(reversed(self.user_texts), "")

    @property
    def results(self) -> tuple[str, ...]:
        """Results of the tools that the last response called."""
        return tuple(result for message in self._since_response for result in message.results)

    @property
    def _since_response(self) -> tuple[Message, ...]:
        answered = [at for at, message in enumerate(self.messages) if message.role == "assistant"]
        return self.messages[answered[-1] + 1 :] if answered else self.messages


class Answer(Protocol):
    """A reply made ready for the wire."""

    @property
    def reply(self) -> Reply: ...

    @property
    def used(self) -> int: ...

    def whole(self) -> Json:
        """The answer to a request that does not stream."""
        ...

    def events(self) -> Iterator[Json]:
        """The answer as a stream of events, each with its `type`."""
        ...


class Wire(Protocol):
    """One vendor's API, as far as its own CLI uses it."""

    endpoint: tuple[str, ...]  # what the path of a request to the model ends with
    delta: str  # the type of the events that bring text, between which a slow model pauses

    def read(self, body: Mapping[str, Any], path: str = "") -> Request:
        """What a request says by its body and its path; parts that are not there count as empty."""
        ...

    def answer(self, number: str, request: Request, reply: Reply, used: int) -> Answer: ...

    def frame(self, event: Json) -> bytes:
        """One event of a stream as it goes over the line."""
        ...

    def error(self, name: str, used: int, window: int, words: str = "") -> tuple[int, Json]:
        """Status and body of an error by its name in Reply.error. KeyError for one that is no answer."""
        ...

    def summary(self, text: str) -> str:
        """How a compaction's summary is put."""
        ...


def server_sent(event: Json) -> bytes:
    """An event by the usual form, named after its type."""
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def pieces(text: str, count: int) -> list[str]:
    """A text cut into so many pieces of about the same length.

    >>> pieces("abcde", 2)
    ['abc', 'de']
    """
    size = max(1, -(-len(text) // max(1, count)))
    return [text[at : at + size] for at in range(0, len(text), size)]
