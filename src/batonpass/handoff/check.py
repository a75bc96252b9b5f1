"""The check: the agent's document against the facts, before anything is cleared."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from batonpass.facts.model import Facts
from batonpass.handoff import names, paths
from batonpass.handoff.document import Handoff
from batonpass.handoff.items import is_nothing

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
    r"|<(?:task description|describe|your |todo|fill|insert|one |what |why |path)[^>\n]*>"
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


@dataclass(frozen=True, slots=True)
class Gap:
    """One thing that the document leaves out. `message` can be put before the agent or a person as it is."""

    kind: str  # unreadable, short, template, section, placeholder, file
    subject: str
    message: str


def check(document: Handoff | None, facts: Facts, *, is_own: Callable[[str], bool]) -> tuple[Gap, ...]:
    """What is missing, in the order of the document; empty when nothing is.

    `document` is None when there is nothing that could be read as one.
    """
    if document is None:
        message = "There is no document that can be read: it needs its sections as '## ' headings."
        return (Gap("unreadable", "document", message),)
    text = _own_words(document)
    if _is_template(text):
        return (Gap("template", "document", "The document is the template, not filled in."),)
    gaps = [*_sections(document), *_files(document, text, facts, is_own)]
    if not gaps and len(text) < _LEAST_CHARS:
        message = f"The document is too short to go on from ({len(text)} characters)."
        gaps.append(Gap("short", "document", message))
    return tuple(gaps)


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


def _files(document: Handoff, text: str, facts: Facts, is_own: Callable[[str], bool]) -> Iterator[Gap]:
    folders = [path for path in paths.listed(document.section(names.FILES) or "") if path.endswith("/")]
    for change in facts.git.changes if facts.git else ():
        path = change.path
        named = any(path.startswith(folder) for folder in folders) or paths.mentions(text, path)
        if not named and not is_own(path):
            message = f"The changed file {path} ({change.state}) is not mentioned."
            yield Gap("file", path, message)


def _without_code(body: str) -> str:
    return re.sub(r"```.*?```|`[^`\n]*`", "", body, flags=re.DOTALL)
