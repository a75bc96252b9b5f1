"""Records with sensible values, for tests that care about one or two of them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from batonpass.delivery import Channel, Delivery, DeliveryState, tag
from batonpass.reading import Reading, Source
from batonpass.session import Kind, PaneRef, Session
from batonpass.store import CycleRecord, HandoffRecord

SESSION = Session(
    id="5e55a001",
    name="web",
    agent="claude",
    kind=Kind.INTERACTIVE,
    project=Path("/projects/web"),
    host="here",
    pane=PaneRef("", 4711, "%12"),
    pid=4712,
    agent_session="0d7c",
    transcript=Path("/transcripts/0d7c.jsonl"),
    model="opus",
    permission_mode="plan",
    ladder="staged",
    chain=2,
    adopted=True,
    created=1000.0,
)


def session(id: str = SESSION.id, **fields: Any) -> Session:
    return replace(SESSION, id=id, **fields)


def reading(at: float, used: int | None = 1000, agent_session: str = "0d7c") -> Reading:
    return Reading(at, agent_session, used, 200_000, 167_000, Source.STATUSLINE, 1.0, "opus")


def delivery(step: str = "ask", attempt: int = 1, **fields: Any) -> Delivery:
    mark = tag("7f3a91c2", step, attempt)
    offered = Delivery(
        mark, SESSION.id, "7f3a91c2", step, attempt, Channel.HOOK, DeliveryState.OFFERED, f"{mark} write", 5.0
    )
    return replace(offered, **fields)


def cycle(id: str = "7f3a91c2", **fields: Any) -> CycleRecord:
    return replace(CycleRecord(id, SESSION.id, "here", "threshold", 100.0), **fields)


def handoff(number: int = 1, **fields: Any) -> HandoffRecord:
    path = SESSION.project / f"handoff-{number}.md"
    record = HandoffRecord(
        f"h{number}", path, number, 100.0 * number, SESSION.id, SESSION.project, "claude", sealed=True
    )
    return replace(record, **fields)
