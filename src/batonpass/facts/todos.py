"""The agent's own list of work, in its latest state."""

from collections.abc import Mapping

from batonpass.facts.model import Todo
from batonpass.transcripts import vocabulary
from batonpass.transcripts.events import Event, ToolCalled, ToolReturned


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
            if name in vocabulary.WHOLE_LISTS:
                items = next((event.arguments[key] for key in vocabulary.ITEMS if key in event.arguments), None)
                self._list = _read_list(items, event.at)
            elif name in vocabulary.TASK_MADE:
                text = _text(event.arguments)
                if text:
                    self._creating[event.call_id] = Todo(text, "pending", event.at)
            elif name in vocabulary.TASK_CHANGED:
                self._update(event.arguments, event.at)

    @property
    def todos(self) -> tuple[Todo, ...]:
        return (*self._list, *self._tasks.values(), *self._creating.values())

    def _created(self, event: ToolReturned) -> None:
        todo = self._creating.pop(event.call_id, None)
        if todo is None or not event.ok:
            return
        named = vocabulary.TASK_NUMBER.search(event.text)
        self._tasks[named.group(1) if named else event.call_id] = todo

    def _update(self, arguments: Mapping[str, object], at: float) -> None:
        key = vocabulary.given(arguments, vocabulary.TASK_ID)
        known = self._tasks.get(key)
        if known is None:
            return
        state = _state(arguments) if vocabulary.STATUS in arguments else known.state
        if state in vocabulary.GONE:
            del self._tasks[key]
        else:
            self._tasks[key] = Todo(vocabulary.given(arguments, vocabulary.NEW_TEXT) or known.text, state, at)


def _read_list(items: object, at: float) -> tuple[Todo, ...]:
    todos = []
    for item in items if isinstance(items, list) else []:
        if isinstance(item, Mapping) and (text := _text(item)):
            state = _state(item)
            if state not in vocabulary.GONE:
                todos.append(Todo(text, state, at))
    return tuple(todos)


def _text(item: Mapping[str, object]) -> str:
    return vocabulary.given(item, vocabulary.ITEM_TEXT)


def _state(item: Mapping[str, object]) -> str:
    name = str(item.get(vocabulary.STATUS) or "pending").lower()
    return vocabulary.STATES.get(name, name)
