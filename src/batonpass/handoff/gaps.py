"""What facts demand of a document. Lenient on wording, exact on ids, paths and names."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from batonpass.facts.model import Facts
from batonpass.facts.wording import says
from batonpass.handoff import names, paths
from batonpass.handoff.document import Handoff

_MOST_TESTS = 20  # beyond, the names say less than where to find them
_COMMAND = 0.8  # of the words of a command line: half of one is another one
_ENDED = frozenset({"completed", "failed", "killed", "stopped", "exited", "done"})
_CALL_ID = re.compile(r"^(?:toolu_|call_|c\d)")  # the id of a call, which agents do not know as a name


@dataclass(frozen=True, slots=True)
class Gap:
    """One thing that is wrong with the document. `message` can be put before the agent or a person as it is."""

    kind: str
    subject: str
    message: str


def of_files(document: Handoff, text: str, facts: Facts, is_own: Callable[[str], bool]) -> Iterator[Gap]:
    """Changed files that are not named."""
    folders = [path for path in paths.listed(document.section(names.FILES) or "") if path.endswith("/")]
    for change in facts.git.changes if facts.git else ():
        path = change.path
        named = any(path.startswith(folder) for folder in folders) or paths.mentions(text, path)
        if not named and not is_own(path):
            message = f"The changed file {path} ({change.state}) is not mentioned."
            yield Gap("file", path, message)


def of_constraints(text: str, facts: Facts) -> Iterator[Gap]:
    """What the user demands and the document does not say."""
    every = [note.text for note in facts.constraints]
    for note in facts.constraints:
        if not says(text, note.text, among=every):
            yield Gap("constraint", note.text, f'The user\'s constraint is not mentioned: "{note.text}".')


def of_todos(text: str, facts: Facts) -> Iterator[Gap]:
    """Open todos that the document does not say."""
    every = [todo.text for todo in facts.todos]
    for todo in facts.todos:
        if todo.state != "completed" and not says(text, todo.text, among=every):
            state = todo.state.replace("_", " ")
            yield Gap("todo", todo.text, f'The {state} todo is not mentioned: "{_short(todo.text)}".')


def of_subagents(text: str, facts: Facts) -> Iterator[Gap]:
    """Sub-agents that still run and are not named by their id."""
    for one in facts.subagents:
        if one.state != "running":
            continue
        unnamed = bool(_CALL_ID.match(one.id))
        if not (says(text, one.task) if unnamed else _has_id(text, one.id)):
            name = "" if unnamed else f" {one.id}"
            message = f"The running sub-agent{name} is not mentioned: {_short(one.task)}."
            yield Gap("subagent", one.id, message)


def of_processes(text: str, facts: Facts) -> Iterator[Gap]:
    """Shells and other background work that still runs, named neither by its id nor by what it runs."""
    agents = {one.id for one in facts.subagents}
    for task in facts.background:
        ended = task.state.lower() in _ENDED
        if task.id in agents or ended or _has_id(text, task.id) or says(text, task.description, share=_COMMAND):
            continue
        message = f"The background {task.kind} {task.id} ({task.state}) is not mentioned: {_short(task.description)}."
        yield Gap("process", task.id, message)


def of_tests(text: str, facts: Facts) -> Iterator[Gap]:
    """Tests that fail and are not named."""
    for name in facts.failing[:_MOST_TESTS]:
        if name not in text and not _has_id(text, _last_part(name)):
            yield Gap("test", name, f"The failing test is not mentioned: {name}.")
    last = facts.last_test
    failed = last is not None and last.ok is False and not facts.failing
    told = re.search(r"\bfail(?:s|ed|ing|ure)?\b", text, re.IGNORECASE)
    if failed and last and not told and not says(text, last.command):
        yield Gap("test", last.command, f"The last test run failed and is not mentioned: {_short(last.command)}.")


def of_carried(text: str, facts: Facts) -> Iterator[Gap]:
    """Open items of the previous handoff that are neither done nor carried on."""
    every = [item.text for item in facts.carried]
    for item in facts.carried:
        if not item.done and not says(text, item.text, among=every):
            start = f"The open item {item.id} of {item.handoff} is neither done nor carried on"
            yield Gap("carried", item.text, f'{start}: "{_short(item.text)}".')


def _has_id(text: str, name: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) is not None


def _last_part(name: str) -> str:
    """The name of a test without the file or suite that it is in."""
    return re.split(r"::| > | › ", name)[-1].split(" (")[0].strip()


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 160 else f"{line[:159]}…"
