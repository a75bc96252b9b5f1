"""Commands that were sent to the background and have not been heard of since."""

import re
from collections.abc import Iterable

from batonpass.agents.base import BackgroundTask
from batonpass.facts.notices import notice_in
from batonpass.transcripts.events import Event, Prompted, ToolCalled, ToolReturned

_SHELLS = {"bash", "shell", "run_shell_command", "exec_command", "powershell"}
_STOPPERS = {"killshell", "killbash", "kill_shell", "taskstop"}
_ID = re.compile(r"\bID:\s*([\w-]{2,40})")


class Processes:
    """Sees events one by one; holds the background commands by their id."""

    def __init__(self) -> None:
        self._starting: dict[str, str] = {}
        self._running: dict[str, BackgroundTask] = {}
        self._calls: dict[str, str] = {}

    def see(self, event: Event) -> None:
        if isinstance(event, ToolCalled):
            name, given = event.tool.lower(), event.arguments
            if name in _SHELLS and given.get("run_in_background"):
                self._starting[event.call_id] = " ".join(str(given.get("command", "")).split())[:200]
            elif name in _STOPPERS:
                named = given.get("shell_id") or given.get("task_id") or given.get("bash_id")
                self._running.pop(str(named or ""), None)
        elif isinstance(event, ToolReturned) and event.call_id in self._starting:
            command, said = self._starting.pop(event.call_id), _ID.search(event.text)
            if event.ok and said:
                self._running[said[1]] = BackgroundTask(said[1], "shell", "running", command)
                self._calls[event.call_id] = said[1]
        elif isinstance(event, Prompted) and (notice := notice_in(event.text)):
            self._running.pop(notice.task or self._calls.get(notice.call, ""), None)

    def with_known(self, known: Iterable[BackgroundTask]) -> tuple[BackgroundTask, ...]:
        """What the agent's program reports, and what only the conversation tells."""
        reported = tuple(known)
        ids = {task.id for task in reported}
        return (*reported, *(task for task in self._running.values() if task.id not in ids))
