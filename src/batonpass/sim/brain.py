"""What a scripted agent thinks: from what it was asked, to what it says and does.

The scripted model (for real agent CLIs) and the scripted agent (ours) share it, so that a rehearsal
behaves the same on both.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool call: `write` (path, content) or `shell` (command), or an agent's own tool by its own name."""

    name: str
    arguments: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reply:
    """One model response. With tools, the model is asked again with their results."""

    text: str = ""  # of an error: the words that it is told with
    tools: tuple[ToolUse, ...] = ()
    used: int | None = None  # tokens of the whole context after this response; None: climb by the default step
    output: int = 12
    delay: float = 0.0  # before the first byte
    chunks: int = 1
    chunk_delay: float = 0.0
    error: str | None = None  # rate_limit, overloaded, server, authentication, too_long, cut_before, cut_mid
    retry_after: float | None = None  # of an error: the seconds after which it tells the agent to ask again


@dataclass(frozen=True, slots=True)
class Asked:
    """What the model sees of one request."""

    text: str  # the last user text, tool results excluded
    context: str  # every text of the conversation so far, oldest first, system notes included
    tool_results: tuple[str, ...]  # results of the tools called by the previous reply, empty at a turn's start
    turn: int  # user turns so far, from 1
    used: int  # tokens after the previous response of this conversation, 0 at its start


class Brain(Protocol):
    def reply(self, asked: Asked) -> Reply: ...
