"""The facts as sub-sections of "Recorded by Baton". Words of people, agents and tools are fenced as data."""

from collections.abc import Iterator, Sequence

from batonpass.clock import iso
from batonpass.facts.model import Command, Facts, GitFacts, Todo, Utterance
from batonpass.handoff.document import Section
from batonpass.handoff.entries import joined
from batonpass.handoff.fences import fenced
from batonpass.handoff.paths import written
from batonpass.handoff.redact import cut

LEFT_OUT = "Not in the agent's document"
LATE = "User prompts after the document was written"
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


def recorded(facts: Facts, *, checkpoint: str | None, late: Sequence[str], gaps: Sequence[str]) -> list[Section]:
    """Every fact that is there, under its heading; what there is none of has no heading."""
    bodies = {
        LEFT_OUT: _bullets(gaps),
        LATE: _late(late),
        GIT: _git(facts.git) if facts.git else "",
        BACKGROUND: _bullets(
            [f"{task.kind} {task.id} ({task.state}): {task.description}" for task in facts.background]
        ),
        TODOS: _bullets([_todo(todo) for todo in facts.todos]),
        LAST_TEST: _commands([facts.last_test]) if facts.last_test else "",
        PROMPTS: _utterances(facts.prompts, "Prompt"),
        COMMANDS: _commands(facts.commands),
        TOUCHED: _bullets([written(path) for path in facts.touched]),
        EPIC: _epic(facts),
        SAID: _utterances(facts.said, "Text"),
        UNKNOWN: _bullets(facts.missing),
        SOURCES: _bullets(list(_sources(facts, checkpoint))),
    }
    return [Section(title, body) for title, body in bodies.items() if body]


def _bullets(texts: Sequence[str]) -> str:
    return "\n".join(f"- {' '.join(text.split())}" for text in texts)


def _utterances(utterances: Sequence[Utterance], label: str) -> str:
    return joined([(f"{label} {n} ({iso(said.at)})", fenced(said.text)) for n, said in enumerate(utterances, 1)])


def _late(prompts: Sequence[str]) -> str:
    return joined([(f"Prompt {n}", fenced(text)) for n, text in enumerate(prompts, 1)])


def _commands(commands: Sequence[Command]) -> str:
    entries = []
    for command in commands:
        line = " ".join(command.command.split())
        tail = fenced(command.tail) if command.tail else ""
        entries.append((f"{iso(command.at)} {_result(command)}: {cut(line, 200)}", tail))
    return joined(entries)


def _result(command: Command) -> str:
    if command.ok is None:
        return "no result yet"
    if command.ok:
        return "ok"
    return "failed" if command.exit is None else f"failed, exit {command.exit}"


def _todo(todo: Todo) -> str:
    return f"[{'x' if todo.state == 'completed' else ' '}] {todo.text} ({todo.state})"


def _git(git: GitFacts) -> str:
    lines = [f"- Branch: {git.branch or 'none, detached'}, head {(git.head or 'none yet')[:12]}"]
    if git.upstream:
        lines.append(f"- Upstream: {git.upstream}, {git.ahead} ahead, {git.behind} behind")
    if git.operation:
        lines.append(f"- Under way: {git.operation}")
    lines += [f"- Changed: {written(change.path)} ({change.state})" for change in git.changes]
    lines += [f"- Stash: {stash}" for stash in git.stashes]
    lines += [f"- Commit {commit.id[:12]} {iso(commit.at)}: {commit.subject}" for commit in git.commits]
    return "\n".join(lines)


def _epic(facts: Facts) -> str:
    epic = facts.epic
    if epic is None:
        return ""
    phase = f", phase {epic.phase}" if epic.phase else ""
    lines = [f"- {epic.title} ({epic.path}): {len(epic.done)} done, {len(epic.open)} open{phase}"]
    return "\n".join(lines + [f"- [ ] {item}" for item in epic.open])


def _sources(facts: Facts, checkpoint: str | None) -> Iterator[str]:
    if facts.transcript:
        yield f"Transcript: {facts.transcript}"
    if checkpoint:
        yield f"Full record (checkpoint): {checkpoint}"
