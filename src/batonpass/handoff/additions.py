"""What the agent left out, put where it belongs in its document."""

from collections.abc import Mapping, Sequence

from batonpass.facts.later import Later, beside
from batonpass.facts.model import Facts
from batonpass.handoff import names
from batonpass.handoff.fences import span
from batonpass.handoff.gaps import Gap
from batonpass.handoff.items import is_nothing

MARK = "(recorded by Baton)"
# Under which heading each kind is added; the others can only be told.
_PLACES = {
    "constraint": ("constraints", names.CONTEXT),
    "test": ("failing tests", names.CONTEXT),
    "todo": ("todos", names.PROGRESS),
    "carried": ("open items of the previous handoff", names.PROGRESS),
}
# Added to their sections by the draft itself, which knows their states.
_LISTED = {
    "file": ("changed files", names.FILES),
    "subagent": ("running sub-agents", names.SUBAGENTS),
    "process": ("background processes", names.SUBAGENTS),
}
_WITHIN = {"in_progress": names.IN_PROGRESS, "pending": names.PENDING}


def additions(gaps: Sequence[Gap], facts: Facts) -> Mapping[str, list[tuple[str | None, str]]]:
    """By section: the lines to add, each with the part of the section that it belongs to."""
    states = {todo.text: todo.state for todo in facts.todos}
    rules = {note.text: note for note in facts.constraints}
    later = Later(facts)
    found: dict[str, list[tuple[str | None, str]]] = {}
    for gap in gaps:
        if gap.kind not in _PLACES:
            continue
        text = failing_test(gap.subject) if gap.kind == "test" else " ".join(gap.subject.split())
        if gap.subject in rules:
            text = beside(text, later.of_user(rules[gap.subject]))
        title = _PLACES[gap.kind][1]
        part = _WITHIN.get(states.get(gap.subject, "pending"), names.PENDING) if title == names.PROGRESS else None
        found.setdefault(title, []).append((part, f"- {text} {MARK}"))
    return found


def with_items(body: str, added: Sequence[tuple[str | None, str]]) -> str:
    """A section with these lines at its end, by parts."""
    blocks = [] if is_nothing(body) else [body]
    for part in dict.fromkeys(part for part, _ in added):
        lines = [line for of, line in added if of == part]
        blocks.append("\n".join([f"### {part}", *lines] if part else lines))
    joiner = "\n\n" if any(part for part, _ in added) else "\n"
    return joiner.join(blocks)


def told(gaps: Sequence[Gap]) -> list[str]:
    """What is said of the gaps: each in its own words, unless it was added above, which is said once for all."""
    lines = [gap.message for gap in gaps if gap.kind not in _PLACES and gap.kind not in _LISTED]
    filled = {gap.subject for gap in gaps if gap.kind == "section"}  # from facts, as a whole
    for kind, (name, title) in (_PLACES | _LISTED).items():
        if title not in filled and (count := sum(gap.kind == kind for gap in gaps)):
            lines.append(f'{name.capitalize()}: {count}, added to "{title}" and marked as recorded by Baton.')
    return lines


def failing_test(name: str) -> str:
    """Its name is a tool's word, and anybody may name a test: so it stands as data."""
    return f"Failing test: {span(name)}"
