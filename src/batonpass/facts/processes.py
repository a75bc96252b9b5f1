"""Commands that were sent to the background and have not been heard of since."""

from collections.abc import Iterable

from batonpass.agents.base import BackgroundTask
from batonpass.transcripts import vocabulary
from batonpass.transcripts.events import Event, Prompted, ToolCalled, ToolReturned


class Processes:
    """Sees events one by one; holds the background commands by their id."""

    def __init__(self) -> None:
        self._starting: dict[str, str] = {}
        self._running: dict[str, BackgroundTask] = {}
        self._calls: dict[str, str] = {}

    def see(self, event: Event) -> None:
        if isinstance(event, ToolCalled):
            name, given = event.tool.lower(), event.arguments
            if name in vocabulary.SHELLS and given.get(vocabulary.IN_BACKGROUND):
                command = vocabulary.given(given, vocabulary.COMMAND)
                self._starting[event.call_id] = " ".join(command.split())[:200]
            elif name in vocabulary.STOPPERS:
                self._running.pop(vocabulary.given(given, vocabulary.STOPPED), None)
        elif isinstance(event, ToolReturned) and event.call_id in self._starting:
            command, said = self._starting.pop(event.call_id), vocabulary.BACKGROUND_ID.search(event.text)
            if event.ok and said:
                self._running[said[1]] = BackgroundTask(said[1], "shell", "running", command)
                self._calls[event.call_id] = said[1]
        elif isinstance(event, Prompted) and (notice := event.notice):
            self._running.pop(notice.task or self._calls.get(notice.call, ""), None)

    def with_known(self, known: Iterable[BackgroundTask]) -> tuple[BackgroundTask, ...]:
        """What the agent's program reports, and what only the conversation tells."""
        reported = tuple(known)
        ids = {task.id for task in reported}
        return (*reported, *(task for task in self._running.values() if task.id not in ids))
