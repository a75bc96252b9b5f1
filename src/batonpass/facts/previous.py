"""What the previous handoff left behind: its task, its constraints and its open items."""

from collections.abc import Iterable
from pathlib import Path

from batonpass.disk import read_document
from batonpass.facts.model import Note, OpenItem
from batonpass.facts.wording import REVOKED, overlap, sentences
from batonpass.handoff import fences, names
from batonpass.handoff.document import Handoff
from batonpass.handoff.items import is_nothing, items
from batonpass.handoff.markdown import NotAHandoff, parse

_DONE = 0.6
FAILED = "Tried, and failed: "  # how a document from facts begins a line on a way that failed
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


def decisions(previous: Handoff, name: str) -> tuple[tuple[Note, ...], tuple[Note, ...]]:
    """What was decided by then, and which ways had failed: a chain must not forget them at its second link."""
    lines = _listed(previous.section(names.DECISIONS) or "") + _recorded(previous, "Decisions")
    failed = [line.removeprefix(FAILED) for line in lines if line.startswith(FAILED)]
    failed += _recorded(previous, "Tried, and failed")
    decided = [line for line in lines if not line.startswith(FAILED)]
    return _notes(decided, previous, name), _notes(failed, previous, name)


def values(previous: Handoff, name: str) -> tuple[Note, ...]:
    """The sentences that said what ports, addresses, versions and names stand for, and what else was noted."""
    lines = _recorded(previous, "Ports, addresses, versions, names") + _recorded(previous, "Other remarks of the agent")
    return _notes(lines, previous, name)


def words(previous: Handoff, name: str) -> tuple[Note, ...]:
    """What the user had said by then, sentence by sentence, as far as that handoff quotes it."""
    quoted = [part.body for part in previous.recorded if part.title == "User prompts, word for word"]
    texts = [text for body in quoted for text in fences.blocks(body)]
    lines = [line for text in texts for line in (text.split("\n") if "(said later: " in text else sentences(text))]
    return _notes([line for line in lines if line.strip() and REVOKED not in line], previous, name)


def _notes(lines: Iterable[str], previous: Handoff, name: str) -> tuple[Note, ...]:
    at = float(previous.created or 0)
    return tuple(Note(at, line, name) for line in dict.fromkeys(lines) if not is_nothing(line))


def _recorded(previous: Handoff, title: str) -> list[str]:
    return [line for part in previous.recorded if part.title == title for line in _listed(part.body)]


def _listed(body: str) -> list[str]:
    """The items of a list, without those that only say that something was left out."""
    lines = [line[2:].strip() for line, plain in fences.marked(body.split("\n")) if plain and line.startswith("- ")]
    return [line for line in lines if line and "older ones left out" not in line]


def open_items(previous: Handoff, name: str, done: Iterable[str]) -> tuple[OpenItem, ...]:
    """What was in progress or pending, each with whether something since then says that it is done."""
    finished = tuple(done)
    return tuple(
        OpenItem(item.id, item.text, any(overlap(item.text, text) >= _DONE for text in finished), name)
        for item in items(previous)
        if item.kind in "IP"
    )
