"""The agent's own list of work, in its latest state."""

import re
from collections.abc import Mapping

from batonpass.facts.model import Todo
from batonpass.transcripts.events import Event, ToolCalled, ToolReturned

_WHOLE_LISTS = {"todowrite": "todos", "write_todos": "todos", "update_plan": "plan"}
_TEXT_KEYS = ("content", "subject", "step", "title", "description")
_CREATED = re.compile(r"#(\w+)")
_STATES = {
    "done": "completed",
    "complete": "completed",
    "in-progress": "in_progress",
    "active": "in_progress",
}


class Todos:
    """Sees events one by one. Knows lists that are written whole and tasks that are made one at a time."""

    def __init__(self) -> None:
        self._list: tuple[Todo, ...] = ()
        self._tasks: dict[str, Todo] = {}
        self._creating: dict[str, Todo] = {}

    def see(self, event: Event) -> None:
        if isinstance(event, ToolReturned):
            self._created(event)
        elif isinstance(event, ToolCalled):
            name = event.tool.lower()
            if name in _WHOLE_LISTS:
                self._list = _read_list(event.arguments.get(_WHOLE_LISTS[name]), event.at)
            elif name == "taskcreate":
                text = _text(event.arguments)
                if text:
                    self._creating[event.call_id] = Todo(text, "pending", event.at)
            elif name == "taskupdate":
                self._update(event.arguments, event.at)

    @property
    def todos(self) -> tuple[Todo, ...]:
        return (*self._list, *self._tasks.values(), *self._creating.values())

    def _created(self, event: ToolReturned) -> None:
        todo = self._creating.pop(event.call_id, None)
        if todo is None or not event.ok:
            return
        named = _CREATED.search(event.text)
        self._tasks[named.group(1) if named else event.call_id] = todo

    def _update(self, arguments: Mapping[str, object], at: float) -> None:
        key = str(arguments.get("taskId", arguments.get("id", "")))
        known = self._tasks.get(key)
        if known is None:
            return
        state = _state(arguments.get("status")) if "status" in arguments else known.state
        if state in {"deleted", "cancelled"}:
            del self._tasks[key]
        else:
            self._tasks[key] = Todo(str(arguments.get("subject") or known.text), state, at)


def _read_list(items: object, at: float) -> tuple[Todo, ...]:
    todos = []
    for item in items if isinstance(items, list) else []:
        if isinstance(item, Mapping) and (text := _text(item)):
            state = _state(item.get("status"))
            if state != "cancelled":
                todos.append(Todo(text, state, at))
    return tuple(todos)


def _text(item: Mapping[str, object]) -> str:
    return next((value for key in _TEXT_KEYS if isinstance(value := item.get(key), str) and value), "")


def _state(value: object) -> str:
    name = str(value or "pending").lower()
    return _STATES.get(name, name)
