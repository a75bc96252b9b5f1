"""The check: the agent's document against the facts, before anything is cleared."""

import re
from collections.abc import Callable, Iterator

from batonpass.facts.model import Facts
from batonpass.handoff import gaps, names, truth
from batonpass.handoff.document import Handoff
from batonpass.handoff.gaps import Gap
from batonpass.handoff.items import is_nothing
from batonpass.handoff.markdown import NotAHandoff, parse
from batonpass.handoff.seal import checksum_ok

__all__ = ["REQUIRED", "WEIGHTS", "Gap", "Gaps", "check", "check_text", "required"]

# A document of 001's form has these; any other is measured by 000's.
_SHORT_FORM = ("handoff document", (names.CURRENT_TASK, names.PROGRESS, names.NEXT_STEPS, names.CONTEXT))
REQUIRED = (
    names.CURRENT_TASK,
    names.PROGRESS,
    names.DECISIONS,
    names.FILES,
    names.NEXT_STEPS,
    names.CONTEXT,
)
# "None" is no answer here: an agent that is asked to hand over has a task and a next step.
_NEVER_NOTHING = {names.CURRENT_TASK, names.NEXT_STEPS, names.PROGRESS}
_LEAST_CHARS = 200
_PLACEHOLDER = re.compile(
    r"\[(?:plain english|session id|describe|your |todo|fill|insert|one line|what |why )[^\]\n]*\]"
    r"|<(?:task description|describe|your |todo|fill|insert|one |what |why |path|yyyy-mm|context threshold|token count)"
    r"[^>\n]*>"
    r"|<!-- (?:last 5-10|what the next session|any context that would)[^>\n]*-->"
    r"|\b(?:TBD|FIXME: fill|lorem ipsum)\b",
    re.IGNORECASE,
)
_TEMPLATE_MARKS = (
    "[plain english description",
    "implementing jwt authentication system for api",
    "agent_id: abc123",
    ".bmad/adr/005-jwt-authentication.md",
    "user requested jwt specifically",
    "src/middleware/auth.ts (new)",
    *(guide.lower() for _, guide in names.GUIDE),
)


# What one gap takes from the hundred: what makes the successor do wrong things costs more than what slows it.
WEIGHTS = {
    "unreadable": 100, "template": 100, "short": 40, "section": 15, "checksum": 20, "contradiction": 15,
    "constraint": 12, "subagent": 12, "process": 12, "file": 10, "test": 10, "carried": 8, "placeholder": 8,
    "todo": 8, "dead": 4,
}  # fmt: skip


class Gaps(tuple[Gap, ...]):
    """What is missing, in the order of the document, and what that makes of the document."""

    __slots__ = ()

    @property
    def score(self) -> int:
        """From 100, nothing is missing, to 0: do not go on from this."""
        return max(0, 100 - sum(WEIGHTS.get(gap.kind, 5) for gap in self))


def check(
    document: Handoff | None, facts: Facts, *, is_own: Callable[[str], bool], with_recorded: bool = False
) -> Gaps:
    """What is missing or wrong, in the order of the document; empty when nothing is.

    `document` is None when there is nothing that could be read as one. What Baton recorded counts as said only
    with `with_recorded`: it is no merit of the agent, but the successor has it.
    """
    if document is None:
        message = "There is no document that can be read: it needs its sections as '## ' headings."
        return Gaps((Gap("unreadable", "document", message),))
    text = _own_words(document)
    if _is_template(text):
        return Gaps((Gap("template", "document", "The document is the template, not filled in."),))
    whole = "\n".join([text, *(section.body for section in document.recorded)]) if with_recorded else text
    found = [
        *_sections(document),
        *gaps.of_files(document, whole, facts, is_own),
        *gaps.of_todos(whole, facts),
        *gaps.of_subagents(whole, facts),
        *gaps.of_processes(whole, facts),
        *gaps.of_tests(whole, facts),
        *gaps.of_constraints(whole, facts),
        *gaps.of_carried(whole, facts),
        *truth.of_git(document, text, facts),
        *truth.of_paths(document, facts),
    ]
    if not found and len(text) < _LEAST_CHARS:
        message = f"The document is too short to go on from ({len(text)} characters)."
        found.append(Gap("short", "document", message))
    return Gaps(found)


def check_text(text: str, facts: Facts, *, is_own: Callable[[str], bool]) -> Gaps:
    """As `check`, for a document as it stands in a file: with its checksum and with what Baton recorded."""
    try:
        document = parse(text)
    except NotAHandoff:
        return check(None, facts, is_own=is_own)
    found = list(check(document, facts, is_own=is_own, with_recorded=True))
    if checksum_ok(text) is False:
        found.append(
            Gap("checksum", "document", "The document was changed after it was sealed: its checksum is wrong.")
        )
    return Gaps(found)


def required(document: Handoff) -> tuple[str, ...]:
    """The sections that a document of this form must have."""
    title, sections = _SHORT_FORM
    return sections if document.title.lower() == title else REQUIRED


def _own_words(document: Handoff) -> str:
    """What the agent wrote: never what Baton recorded."""
    return "\n".join([document.preamble, *(f"{section.title}\n{section.body}" for section in document.sections)])


def _is_template(text: str) -> bool:
    return sum(mark in text.lower() for mark in _TEMPLATE_MARKS) >= 3


def _sections(document: Handoff) -> Iterator[Gap]:
    for title in required(document):
        body = document.section(title)
        if body is None:
            yield Gap("section", title, f"The section '{title}' is missing.")
        elif not body.strip() or (title in _NEVER_NOTHING and is_nothing(body)):
            yield Gap("section", title, f"The section '{title}' says nothing.")
    for section in document.sections:
        if found := _PLACEHOLDER.search(_without_code(section.body)):
            message = f"The section '{section.title}' still holds the placeholder {found[0]}."
            yield Gap("placeholder", section.title, message)


def _without_code(body: str) -> str:
    return re.sub(r"```.*?```|`[^`\n]*`", "", body, flags=re.DOTALL)
