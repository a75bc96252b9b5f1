"""A delivery: one prompt on its way to one session, by one channel at a time."""

import re
from dataclasses import dataclass, replace
from enum import StrEnum


class Channel(StrEnum):
    HOOK = "hook"
    API = "api"  # the agent's own interface
    KEYS = "keys"
    ARGV = "argv"


class DeliveryState(StrEnum):
    OFFERED = "offered"  # laid out for a hook to take, or about to be typed
    SENT = "sent"  # taken by the hook, typed, or given on a command line
    SEEN = "seen"  # the agent's own record shows it as a user message
    WITHDRAWN = "withdrawn"  # taken back before anybody took it


@dataclass(frozen=True, slots=True)
class Delivery:
    tag: str
    session: str
    cycle: str
    step: str
    attempt: int
    channel: Channel
    state: DeliveryState
    text: str
    offered: float
    seen: float | None = None

    @classmethod
    def alone(cls, mark: str, session: str, channel: Channel, text: str, at: float) -> "Delivery":
        """One that belongs to no cycle: by its tag it is the only one of its own."""
        _, cycle, step, attempt = mark.strip("[]").split()
        return cls(mark, session, cycle, step, int(attempt), channel, DeliveryState.OFFERED, text, at)

    def become(self, state: DeliveryState, at: float) -> "Delivery":
        """The same delivery in a later state; `seen` is final and keeps its first time."""
        if self.state is DeliveryState.SEEN:
            return self
        return replace(self, state=state, seen=at if state is DeliveryState.SEEN else None)


def tag(cycle: str, step: str, attempt: int) -> str:
    """The mark that proves delivery.

    >>> tag("7f3a91c2", "ask", 1)
    '[baton 7f3a91c2 ask 1]'
    """
    return f"[baton {cycle} {step} {attempt}]"


_TAG = re.compile(r"\[baton ([0-9a-f]{8}) ([a-z_]+) (\d+)\]")


def tags_in(text: str) -> list[str]:
    """Every tag in a text, in order.

    >>> tags_in("Stop hook feedback: [baton 7f3a91c2 ask 1] write")
    ['[baton 7f3a91c2 ask 1]']
    """
    return [match.group(0) for match in _TAG.finditer(text)]
