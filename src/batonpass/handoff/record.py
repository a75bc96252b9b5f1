"""The facts as sub-sections of "Recorded by Baton". Words of people, agents and tools are fenced as data.

Only what the document above does not tell already is recorded: a fact that stands there twice costs the room of
another one.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from batonpass.clock import iso
from batonpass.facts.errors import plain
from batonpass.facts.later import Later, beside
from batonpass.facts.model import Command, Facts, GitFacts, Note, Todo, Utterance
from batonpass.facts.remarks import substance
from batonpass.facts.wording import REVOKED, says, sentences
from batonpass.handoff.document import Section
from batonpass.handoff.entries import joined
from batonpass.handoff.fences import fenced, span
from batonpass.handoff.paths import mentions, written
from batonpass.handoff.redact import cut

LEFT_OUT = "Not in the agent's document"
LATE = "User prompts after the document was written"
RULES = "Constraints of the user"
CARRIED = "Open items of the previous handoff"
FAILING = "Failing tests"
ERRORS = "Errors still open"
DECISIONS = "Decisions"
FAILURES = "Tried, and failed"
VALUES = "Ports, addresses, versions, names"
REMARKS = "Other remarks of the agent"
PROMPTS = "User prompts, word for word"
SAID = "Last texts of the agent"
COMMANDS = "Last commands"
LAST_TEST = "Last test run"
TOUCHED = "Files written by tools"
TODOS = "Todos of the agent"
BACKGROUND = "Background work"
GIT = "Git"
EPIC = "Epic"
UNKNOWN = "Not known"
SOURCES = "Sources"

EARLIER = "What else the user said before"
_NO_OUTPUT = re.compile(r"\([^()\n]*no output\)$", re.IGNORECASE)
_BACKGROUND = re.compile(r"^Command running in background with ID:")
_MOST_COMMITS = 15
_MOST_REMARKS = 60
_WHOLE_PROMPTS = 3
_SAME = 0.8  # of the words: what is told in fewer is recorded word for word


def recorded(
    facts: Facts, *, checkpoint: str | None, late: Sequence[str], gaps: Sequence[str], told: str = ""
) -> list[Section]:
    """Every fact that `told` does not hold, under its heading; what there is none of has no heading."""
    writers: tuple[tuple[str, Callable[[str], str]], ...] = (
        (LEFT_OUT, lambda _: _bullets(gaps)),
        (LATE, lambda _: _late(late)),
        (RULES, lambda known: _notes(facts.constraints, known)),
        (CARRIED, lambda known: _carried(facts, known)),
        (GIT, lambda known: _git(facts.git, known) if facts.git else ""),
        (BACKGROUND, lambda known: _background(facts, known)),
        (TODOS, lambda known: _todos(facts.todos, known)),
        (FAILING, lambda known: _bullets([span(name) for name in facts.failing if name not in known])),
        (LAST_TEST, lambda _: _commands([facts.last_test]) if facts.last_test else ""),
        (ERRORS, lambda _: _commands([c for c in facts.errors if c != facts.last_test])),
        (DECISIONS, lambda known: _notes(facts.decisions, known)),
        (FAILURES, lambda known: _notes(facts.failures, known)),
        (VALUES, lambda known: _values(facts, known)),
        (REMARKS, lambda known: _remarks(facts, known)),
        (PROMPTS, lambda known: _prompts(facts, known)),
        (COMMANDS, lambda _: _commands(_past(facts))),
        (TOUCHED, lambda known: _touched(facts, known)),
        (EPIC, lambda known: _epic(facts, known)),
        (SAID, lambda known: _utterances(_unheard(facts.said, known), "Text", facts)),
        (UNKNOWN, lambda _: _bullets(facts.missing)),
        (SOURCES, lambda _: _bullets(list(_sources(facts, checkpoint)))),
    )
    sections: list[Section] = []
    for title, write in writers:
        if body := write(told):
            sections.append(Section(title, body))
            told = f"{told}\n{body}"
    return sections


def _bullets(texts: Iterable[str]) -> str:
    return "\n".join(f"- {' '.join(text.split())}" for text in texts)


def _notes(notes: Sequence[Note], known: str) -> str:
    return _bullets([note.text for note in notes if not says(known, note.text, share=_SAME)])


def _carried(facts: Facts, known: str) -> str:
    left = [item for item in facts.carried if not item.done and not says(known, item.text)]
    return _bullets([f"{item.text} ({item.id} of {item.handoff})" for item in left])


def _todos(todos: Sequence[Todo], known: str) -> str:
    """Open ones that are not told above, then what is done, so that nobody does it again."""
    left = [todo for todo in todos if todo.state == "completed" or not says(known, todo.text, share=_SAME)]
    return _bullets([_todo(todo) for todo in left if not says(known, todo.text, share=1.0)])


def _background(facts: Facts, known: str) -> str:
    tasks = [
        f"{task.kind} {task.id} ({task.state}): {task.description}" for task in facts.background if task.id not in known
    ]
    listed = {task.id for task in facts.background}
    agents = [one for one in facts.subagents if one.state == "running" and one.id not in listed and one.id not in known]
    return _bullets([*tasks, *(f"sub-agent {one.id} ({one.state}): {one.task}" for one in agents)])


def _values(facts: Facts, known: str) -> str:
    """The sentences that say what each value is, each once."""
    lines = dict.fromkeys(value.text for value in facts.values if value.value not in known)
    return _bullets(lines)


def _remarks(facts: Facts, known: str) -> str:
    """What no rule took for a decision, a failure or a value, and may be one all the same."""
    gone = {note.text for note in (*facts.reversed, *facts.revoked)} | {value.text for value in facts.stale}
    left = [note for note in facts.remarks if note.text not in gone]
    best = sorted(left, key=lambda note: (substance(note.text), note.at))[-_MOST_REMARKS:]
    later = Later(facts)
    untold = [note for note in left if note in best and not says(known, note.text, share=_SAME)]
    return _bullets(_each_once([(note.text, later.of_anyone(note)) for note in untold]))


def _touched(facts: Facts, known: str) -> str:
    if facts.git is None:  # then this is the only list of what was changed
        return _bullets([written(path) for path in facts.touched])
    return _bullets([written(path) for path in facts.touched if not mentions(known, path)])


def _prompts(facts: Facts, known: str) -> str:
    """The last prompts word for word; of those before them every sentence that is told nowhere else."""
    older, newer = facts.prompts[:-_WHOLE_PROMPTS], facts.prompts[-_WHOLE_PROMPTS:]
    entries = _entries(newer, "Prompt", facts, first=len(older) + 1)
    known = "\n".join([known, *(text for _, text in entries)])
    later = Later(facts)
    said = [replace(note, text=current(note.text, facts)) for note in facts.heard]
    said += [Note(one.at, text, "user") for one in older for text in sentences(current(one.text, facts))]
    left = [note for note in said if note.text != REVOKED and not says(known, note.text, share=_SAME)]
    lines = _each_once([(note.text, later.of_user(note)) for note in left])
    return joined([(EARLIER, fenced("\n".join(lines)))] * bool(lines) + entries)


def _each_once(said: Sequence[tuple[str, str | None]]) -> list[str]:
    """Sentences with what was said later beside them; one that stands beside another has no line of its own."""
    seconds = {later for text, later in said if later != text}
    return list(dict.fromkeys(beside(text, later) for text, later in said if text not in seconds))


def _utterances(utterances: Sequence[Utterance], label: str, facts: Facts) -> str:
    return joined(_entries(utterances, label, facts))


def _entries(said: Sequence[Utterance], label: str, facts: Facts, *, first: int = 1) -> list[tuple[str, str]]:
    return [(f"{label} {n} ({iso(one.at)})", fenced(current(one.text, facts))) for n, one in enumerate(said, first)]


def current(text: str, facts: Facts) -> str:
    """A text without the sentences that no longer hold: quoted once more, they would be obeyed."""
    live = {value.text for value in facts.values}
    gone = [note.text for note in (*facts.revoked, *facts.reversed)]
    gone += [value.text for value in facts.stale if value.text not in live]
    for sentence in gone:
        pattern = r"\s+".join(re.escape(word) for word in sentence.rstrip("…").split())
        text = re.sub(pattern, REVOKED, text)
    return text


def _unheard(said: Sequence[Utterance], known: str) -> list[Utterance]:
    """Texts of which something is not told yet, each once."""
    last = {one.text: one for one in said}
    return [one for one in last.values() if any(text not in known for text in sentences(one.text))]


def _late(prompts: Sequence[str]) -> str:
    return joined([(f"Prompt {n}", fenced(text)) for n, text in enumerate(prompts, 1)])


def _commands(commands: Sequence[Command]) -> str:
    entries = []
    for command in commands:
        line = " ".join(command.command.split())
        tail = fenced(command.tail) if command.tail and not _NO_OUTPUT.match(command.tail) else ""
        entries.append((f"{iso(command.at)} {_result(command)}: {cut(line, 200)}", tail))
    return joined(entries)


def _past(facts: Facts) -> list[Command]:
    """The commands that are told nowhere else, each by its last run: what a later one made untrue is not told."""
    shown = []
    for n, command in enumerate(facts.commands):
        if command == facts.last_test or command in facts.errors or _BACKGROUND.search(command.tail):
            continue
        if any(plain(later.command) == plain(command.command) for later in facts.commands[n + 1 :]):
            continue
        shown.append(replace(command, tail="") if command.test else command)
    return shown


def _result(command: Command) -> str:
    if command.ok is None:
        return "no result yet"
    if command.ok:
        return "ok"
    return "failed" if command.exit is None else f"failed, exit {command.exit}"


def _todo(todo: Todo) -> str:
    return f"[{'x' if todo.state == 'completed' else ' '}] {todo.text} ({todo.state})"


def _git(git: GitFacts, known: str) -> str:
    """Git's state. A file whose path and state are told already is only counted."""
    lines = [f"- Branch: {git.branch or 'none, detached'}, head {(git.head or 'none yet')[:12]}"]
    if git.upstream:
        lines.append(f"- Upstream: {git.upstream}, {git.ahead} ahead, {git.behind} behind")
    if git.operation:
        lines.append(f"- Under way: {git.operation}")
    changed = [f"{written(change.path)} ({change.state})" for change in git.changes]
    untold = [line for line in changed if line.removesuffix(")") not in known]
    if len(untold) < len(changed):
        lines.append(f"- Changed, and told above: {len(changed) - len(untold)} of {len(changed)} files")
    lines += [f"- Changed: {line}" for line in untold]
    lines += [f"- In conflict: {written(path)}" for path in git.conflicts]
    lines += [f"- Stash: {stash}" for stash in git.stashes]
    made = git.session_commits[:_MOST_COMMITS]
    lines += [f"- Commit of this session {commit.id[:12]}: {commit.subject}" for commit in made]
    if len(git.session_commits) > len(made):
        lines.append(f"- {len(git.session_commits) - len(made)} older commits of this session: see git log")
    older = [commit for commit in git.commits if commit.id not in {one.id for one in made}]
    lines += [f"- Commit {commit.id[:12]} {iso(commit.at)}: {commit.subject}" for commit in older[: 5 - len(made)]]
    return "\n".join(lines)


def _epic(facts: Facts, known: str) -> str:
    epic = facts.epic
    if epic is None:
        return ""
    phase = f", phase {epic.phase}" if epic.phase else ""
    lines = [f"- {epic.title} ({epic.path}): {len(epic.done)} done, {len(epic.open)} open{phase}"]
    return "\n".join(lines + [f"- [ ] {item}" for item in epic.open if not says(known, item, share=_SAME)])


def _sources(facts: Facts, checkpoint: str | None) -> Iterator[str]:
    if facts.transcript:
        yield f"Transcript: {facts.transcript}"
    if checkpoint:
        yield f"Full record (checkpoint): {checkpoint}"
