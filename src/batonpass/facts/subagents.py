"""Agents that the agent set to work: id, task and state."""

import re
from dataclasses import replace

from batonpass.facts.model import Subagent
from batonpass.facts.notices import Notice, notice_in
from batonpass.transcripts.events import Event, Prompted, ToolCalled, ToolReturned

_TOOLS = {"task", "agent", "spawn_agent", "delegate_task", "subagent", "dispatch_agent"}
_STOPPERS = {"taskstop", "killagent", "close_agent", "agentstop"}
_ID = re.compile(r"\bagent[_ ]?id['\"]?\s*[:=]\s*['\"]?([\w-]{2,64})", re.IGNORECASE)
_GOES_ON = re.compile(
    r"\b(?:launched|in the background|async|started|spawned|is (?:now )?(?:running"
    r"|working))\b",
    re.IGNORECASE,
)
# An answer with nothing but who it is: it was set to work and has said nothing yet.
_ONLY_NAMED = re.compile(r'\s*\{\s*"agent_id"\s*:\s*"[\w-]+"\s*(?:,\s*"nickname"\s*:\s*(?:"[^"]*"|null)\s*)?\}\s*')
_TASK_KEYS = ("description", "prompt", "task", "message")
_MOST = 60


class Subagents:
    """Sees events one by one. One that was never heard of again counts as running: it may still write files."""

    def __init__(self) -> None:
        self._by_call: dict[str, Subagent] = {}

    def see(self, event: Event) -> None:
        if isinstance(event, ToolCalled):
            self._called(event)
        elif isinstance(event, ToolReturned) and event.call_id in self._by_call:
            self._by_call[event.call_id] = _after(self._by_call[event.call_id], event)
        elif isinstance(event, ToolReturned):  # some agents tell the end by the sub-agent's own id
            self._noticed(Notice(event.call_id, "", "completed" if event.ok else "failed"))
        elif isinstance(event, Prompted) and (notice := notice_in(event.text)):
            self._noticed(notice)

    @property
    def all(self) -> tuple[Subagent, ...]:
        return tuple(self._by_call.values())

    def _called(self, event: ToolCalled) -> None:
        name, given = event.tool.lower(), event.arguments
        if name in _TOOLS:
            task = next((str(given[key]) for key in _TASK_KEYS if given.get(key)), "")
            kind = str(given.get("subagent_type") or given.get("agent_type") or "")
            text = " ".join(task.split())[:200]
            self._by_call[event.call_id] = Subagent(
                str(given.get("name") or event.call_id), f"{kind}: {text}" if kind else text, "running", event.at
            )
            while len(self._by_call) > _MOST:
                done = next((call for call, one in self._by_call.items() if one.state != "running"), None)
                del self._by_call[done or next(iter(self._by_call))]
        elif name in _STOPPERS:
            wanted = str(given.get("task_id") or given.get("agent_id") or given.get("id") or "")
            self._noticed(Notice(wanted, "", "killed"))

    def _noticed(self, notice: Notice) -> None:
        for call, one in self._by_call.items():
            if notice.call == call or (notice.task and one.id == notice.task):
                self._by_call[call] = replace(one, id=notice.task or one.id, state=notice.state)


def _after(one: Subagent, event: ToolReturned) -> Subagent:
    said = _ID.search(event.text)
    known = replace(one, id=said[1]) if said else one
    if not event.ok:
        return replace(known, state="failed")
    goes_on = said and (_GOES_ON.search(event.text[:600]) or _ONLY_NAMED.fullmatch(event.text))
    return known if goes_on else replace(known, state="completed")
