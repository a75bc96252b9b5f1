"""What the previous handoff left behind: its task, its constraints and its open items."""

from collections.abc import Iterable
from pathlib import Path

from batonpass.disk import read_document
from batonpass.facts.model import Note, OpenItem
from batonpass.facts.wording import overlap
from batonpass.handoff import names
from batonpass.handoff.document import Handoff
from batonpass.handoff.items import is_nothing, items
from batonpass.handoff.markdown import NotAHandoff, parse

_DONE = 0.6
TASK_UNTIL_NOW = "The task until now:"  # how a document from facts begins the line in which it carries a task on


def read_previous(path: Path | None) -> Handoff | None:
    """The document; None when there is none, or none that can be read."""
    if path is None:
        return None
    try:
        return parse(read_document(path))
    except (OSError, NotAHandoff):
        return None


def task(previous: Handoff) -> str | None:
    """Its current task in its own words; of one that was carried on already, those words and no more."""
    body = previous.section(names.CURRENT_TASK) or ""
    known = [line.partition(TASK_UNTIL_NOW)[2].strip(' "') for line in body.splitlines() if TASK_UNTIL_NOW in line]
    text = known[0] if known else body.strip()
    return None if is_nothing(text) else text


def constraints(previous: Handoff, name: str) -> tuple[Note, ...]:
    """What had to be kept to, by its ids there."""
    at = float(previous.created or 0)
    return tuple(Note(at, item.text, name, item.id) for item in items(previous) if item.kind == "C")


def open_items(previous: Handoff, name: str, done: Iterable[str]) -> tuple[OpenItem, ...]:
    """What was in progress or pending, each with whether something since then says that it is done."""
    finished = tuple(done)
    return tuple(
        OpenItem(item.id, item.text, any(overlap(item.text, text) >= _DONE for text in finished), name)
        for item in items(previous)
        if item.kind in "IP"
    )
