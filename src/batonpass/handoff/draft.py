"""From facts to a document: without the agent, or around the agent's own words."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from batonpass.agents.base import BackgroundTask
from batonpass.facts.later import Later, beside
from batonpass.facts.model import Facts, OpenItem
from batonpass.facts.previous import FAILED, TASK_UNTIL_NOW
from batonpass.handoff import names, paths, record
from batonpass.handoff.additions import additions, failing_test, told
from batonpass.handoff.additions import with_items as _with_items
from batonpass.handoff.document import Handoff, Section
from batonpass.handoff.gaps import Gap
from batonpass.handoff.items import NONE_KNOWN, is_nothing
from batonpass.handoff.redact import cut

_MOST_FILES = 60
_MOST_DECISIONS = 30
_MOST_TESTS = 20
_MOST_STEPS = 3  # of the pending items: all of them stand under Progress Summary
_REQUEST_CHARS = 800
_LEFT_OUT = "(Recorded by Baton: the agent left this section out.)"


@dataclass(frozen=True, slots=True)
class Meta:
    """What the header needs and the facts do not hold."""

    number: int
    previous: str | None
    created: float
    session: str
    agent: str
    agent_session: str | None
    project: str
    reason: str
    used: int | None = None
    usable: int | None = None
    window: int | None = None
    percent: float | None = None
    late_prompts: tuple[str, ...] = ()  # sent by the user after the agent had written its document
    checkpoint: str | None = None  # path of the full record


def from_facts(facts: Facts, meta: Meta) -> Handoff:
    """A complete document that needs no word of the agent."""
    facts = _holding(facts)
    sections = tuple(Section(title, body) for title, body in _sections(facts, meta).items())
    note = ["The agent wrote no handoff: every section above comes from recorded facts."]
    return _headed(Handoff(sections=sections), facts, meta, note)


def merge(agent_doc: Handoff, facts: Facts, gaps: Sequence[Gap], meta: Meta) -> Handoff:
    """The agent's prose, the recorded facts, and what the agent left out.

    Sections that are missing are filled from facts. What is missing in a section that is there (files, todos,
    constraints, open items, failing tests) is added to it, so that it gets an id and is carried on, marked as
    recorded by Baton. Words of the agent are never changed.
    """
    facts = _holding(facts)
    own = {section.title: section.body for section in agent_doc.sections}
    absent = {gap.subject for gap in gaps if gap.kind == "section"}
    filled = _sections(facts, meta)
    merged = {title: body for title, body in own.items() if title not in absent}
    for title in absent & filled.keys():
        merged[title] = f"{filled[title]}\n\n{_LEFT_OUT}"
    for title in (names.SUBAGENTS, names.LINKS):
        merged.setdefault(title, filled[title])
    merged[names.SUBAGENTS] = _with_background(merged[names.SUBAGENTS], facts)
    merged[names.LINKS] = _with_links(merged[names.LINKS], facts, meta)
    if names.FILES not in absent:
        merged[names.FILES] = _with_files(merged.get(names.FILES, ""), facts, gaps)
    for title, added in additions(gaps, facts).items():
        if title not in absent:
            merged[title] = _with_items(merged.get(title, ""), added)
    order = [*names.STANDARD, *(title for title in own if title not in names.STANDARD)]
    sections = tuple(Section(title, merged[title]) for title in order if merged.get(title) is not None)
    return _headed(replace(agent_doc, sections=sections), facts, meta, told(gaps))


def _headed(document: Handoff, facts: Facts, meta: Meta, gaps: Sequence[str]) -> Handoff:
    epic = facts.epic.path if facts.epic else document.epic
    above = "\n".join([document.preamble, *(f"{part.title}\n{part.body}" for part in document.sections)])
    sections = record.recorded(facts, checkpoint=meta.checkpoint, late=meta.late_prompts, gaps=gaps, told=above)
    return replace(
        document,
        number=meta.number,
        previous=meta.previous,
        created=int(meta.created),
        session=meta.session,
        agent=meta.agent,
        agent_session=meta.agent_session,
        project=meta.project,
        epic=epic,
        branch=facts.git.branch if facts.git else document.branch,
        used=meta.used,
        usable=meta.usable,
        window=meta.window,
        percent=meta.percent,
        reason=meta.reason,
        recorded=tuple(sections),
        instructions=_instructions(facts, document.instructions),
        checksum=None,
    )


def _sections(facts: Facts, meta: Meta) -> dict[str, str]:
    """Every standard section from facts alone."""
    return {
        names.CURRENT_TASK: _task(facts),
        names.PROGRESS: _progress(facts),
        names.SUBAGENTS: _background(facts) or "None.",
        names.DECISIONS: _decisions(facts),
        names.FILES: _files(facts),
        names.NEXT_STEPS: _next_steps(facts, meta),
        names.CONTEXT: _context(facts),
        names.LINKS: _links(facts, meta),
    }


def _task(facts: Facts) -> str:
    lines = []
    if facts.task:
        lines.append(f"{TASK_UNTIL_NOW} {_quoted(facts.task, _REQUEST_CHARS)}")
    elif len(facts.prompts) > 1:
        first = record.current(facts.prompts[0].text, facts)
        lines.append(f"The session began with the user's request: {_quoted(first, _REQUEST_CHARS)}")
    if facts.last_request:
        lines.append(f"The user's last request: {_quoted(facts.last_request.text, _REQUEST_CHARS)}")
    lines += [f"In work: {_one_line(todo.text)}" for todo in facts.todos if todo.state == "in_progress"]
    if facts.epic:
        phase = f", phase {facts.epic.phase}" if facts.epic.phase else ""
        lines.append(f"Epic: {facts.epic.title} ({facts.epic.path}{phase})")
    return "\n".join(f"- {line}" for line in lines) or NONE_KNOWN


def _progress(facts: Facts) -> str:
    states = ((names.COMPLETED, "completed"), (names.IN_PROGRESS, "in_progress"), (names.PENDING, "pending"))
    parts = []
    for heading, state in states:
        texts = [_one_line(todo.text) for todo in facts.todos if todo.state == state]
        if state == "pending":
            texts += [text for text in (facts.epic.open if facts.epic else ()) if text not in texts]
            texts += [_carried(item) for item in facts.carried if not item.done and item.text not in texts]
        nothing = "None." if facts.todos or facts.epic else NONE_KNOWN
        parts.append(f"### {heading}\n" + ("\n".join(f"- {text}" for text in texts) or f"- {nothing}"))
    return "\n\n".join(parts)


def _files(facts: Facts) -> str:
    changes = facts.git.changes if facts.git else ()
    known = {change.path for change in changes}
    lines = [f"- {paths.written(change.path)} ({change.state})" for change in changes[:_MOST_FILES]]
    if facts.git is None:
        lines += [f"- {paths.written(path)} (written by a tool)" for path in facts.touched if path not in known]
    if len(changes) > _MOST_FILES:
        lines.append(f"- {len(changes) - _MOST_FILES} more: see `git status`")
    return "\n".join(lines) or "None: nothing is uncommitted."


def _with_files(body: str, facts: Facts, gaps: Sequence[Gap]) -> str:
    """The agent's list, and the changed files that it left out."""
    missed = {gap.subject for gap in gaps if gap.kind == "file"}
    changes = [change for change in (facts.git.changes if facts.git else ()) if change.path in missed]
    added = [f"- {paths.written(change.path)} ({change.state}; recorded by Baton)" for change in changes]
    if not added:
        return body
    return "\n".join(added if is_nothing(body) else [body, *added])


def _background(facts: Facts) -> str:
    return "\n".join(
        f"- **{task.kind}** (id: {task.id}) {task.state}: {_one_line(task.description)}" for task in facts.background
    )


def _with_background(body: str, facts: Facts) -> str:
    unnamed = tuple(task for task in facts.background if task.id not in body)
    if not unnamed:
        return body
    added = _background(replace(facts, background=unnamed))
    return added if is_nothing(body) else f"{body}\n\nRecorded by Baton:\n\n{added}"


def _holding(facts: Facts) -> Facts:
    """The facts with sub-agents that run among the background work, whoever told of them."""
    known = {task.id for task in facts.background}
    agents = tuple(
        BackgroundTask(one.id, "sub-agent", one.state, one.task)
        for one in facts.subagents
        if one.state == "running" and one.id not in known
    )
    return replace(facts, background=(*facts.background, *agents))


def _decisions(facts: Facts) -> str:
    later = Later(facts)
    rules = {note.text for note in facts.constraints}  # told as such
    decided, failed = ([n for n in notes if n.text not in rules] for notes in (facts.decisions, facts.failures))
    lines = [beside(note.text, later.of_anyone(note)) for note in decided[-_MOST_DECISIONS:]]
    lines += [f"{FAILED}{note.text}" for note in failed[-_MOST_DECISIONS:]]
    nothing = f'None known: see "{record.REMARKS}" below.' if facts.remarks else NONE_KNOWN
    return "\n".join(f"- {_one_line(line)}" for line in lines) or nothing


def _context(facts: Facts) -> str:
    """Constraints, and what is broken: each becomes an item that the successor must name."""
    later = Later(facts)
    lines = [beside(note.text, later.of_user(note)) for note in facts.constraints]
    lines += [failing_test(name) for name in facts.failing[:_MOST_TESTS]]
    return "\n".join(f"- {_one_line(line)}" for line in lines) or NONE_KNOWN


def _next_steps(facts: Facts, meta: Meta) -> str:
    steps = [f"Answer the user's late prompt: {_quoted(text, 300)}" for text in meta.late_prompts]
    steps += [f"Go on: {_one_line(todo.text)}" for todo in facts.todos if todo.state == "in_progress"]
    if facts.last_request:
        steps.append(f"Finish the user's last request: {_quoted(facts.last_request.text, 300)}")
    if facts.failing:
        steps.append(f"Mend the failing tests that are named under Important Context ({len(facts.failing)}).")
    elif facts.last_test and facts.last_test.ok is False:
        steps.append(f"Mend what the last test run shows: {_quoted(facts.last_test.command, 200)}")
    pending = [_one_line(todo.text) for todo in facts.todos if todo.state == "pending"]
    steps += pending[:_MOST_STEPS]
    if len(pending) > _MOST_STEPS:
        steps.append("Then the rest of what is pending, in its order.")
    if not steps:
        steps += [f"Go on: {_one_line(item.text)}" for item in facts.carried if not item.done]
    if not steps:
        steps.append("Look at git and at the files above, and ask the user how to go on.")
    return "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))


def _links(facts: Facts, meta: Meta) -> str:
    links = []
    if facts.epic:
        links.append(f"Epic: {facts.epic.path}")
    links += [f"{ref.kind.upper() if ref.kind == 'adr' else 'Plan'}: {ref.path}" for ref in facts.references]
    if meta.previous:
        links.append(f"Previous handoff: {meta.previous}")
    return "\n".join(f"- {link}" for link in links) or "None."


def _with_links(body: str, facts: Facts, meta: Meta) -> str:
    """The agent's links, and those documents of the project that it left out."""
    links = _links(facts, replace(meta, previous=None)).split("\n")  # the header names the previous handoff
    missed = [line for line in links if line.startswith("- ") and line.split(": ", 1)[1] not in body]
    if not missed:
        return body
    return "\n".join(missed if is_nothing(body) else [body, *missed])


def _instructions(facts: Facts, own: str) -> str:
    if own:
        return own
    steps = ["Read this handoff completely; it is all that is left of the conversation before you."]
    if facts.background:
        steps.append("Check the background work listed above; it may still run: do not start it again.")
    steps.append('Go on with the first of "Next Steps"; keep to every item of "Important Context".')
    if facts.prompts:
        steps.append(f'What the user said, quoted under "{record.PROMPTS}", holds unless a later word changes it.')
    return "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))


def _carried(item: OpenItem) -> str:
    return f"{_one_line(item.text)} (carried from {item.handoff}, {item.id})"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _quoted(text: str, limit: int) -> str:
    """A text of somebody else as one quoted line: data in the middle of Baton's own words."""
    return '"' + cut(_one_line(text), limit).replace('"', "'") + '"'
