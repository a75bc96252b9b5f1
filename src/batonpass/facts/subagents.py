"""Agents that the agent set to work: id, task and state."""

from dataclasses import replace

from batonpass.facts.model import Subagent
from batonpass.transcripts import vocabulary
from batonpass.transcripts.events import Event, Notice, Prompted, ToolCalled, ToolReturned

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
        elif isinstance(event, Prompted) and event.notice:
            self._noticed(event.notice)

    @property
    def all(self) -> tuple[Subagent, ...]:
        return tuple(self._by_call.values())

    def _called(self, event: ToolCalled) -> None:
        name, given = event.tool.lower(), event.arguments
        if name in vocabulary.SUBAGENTS:
            text = " ".join(vocabulary.given(given, vocabulary.TASK).split())[:200]
            kind = vocabulary.given(given, vocabulary.KIND)
            self._by_call[event.call_id] = Subagent(
                vocabulary.given(given, vocabulary.NAME) or event.call_id,
                f"{kind}: {text}" if kind else text,
                "running",
                event.at,
            )
            while len(self._by_call) > _MOST:
                done = next((call for call, one in self._by_call.items() if one.state != "running"), None)
                del self._by_call[done or next(iter(self._by_call))]
        elif name in vocabulary.STOPPERS:
            self._noticed(Notice(vocabulary.given(given, vocabulary.STOPPED), "", "killed"))

    def _noticed(self, notice: Notice) -> None:
        for call, one in self._by_call.items():
            if notice.call == call or (notice.task and one.id == notice.task):
                self._by_call[call] = replace(one, id=notice.task or one.id, state=notice.state)


def _after(one: Subagent, event: ToolReturned) -> Subagent:
    said = vocabulary.SUBAGENT_ID.search(event.text)
    known = replace(one, id=said[1]) if said else one
    if not event.ok:
        return replace(known, state="failed")
    at_work = vocabulary.SUBAGENT_GOES_ON.search(event.text[:600]) or vocabulary.SUBAGENT_NAMED.fullmatch(event.text)
    return known if said and at_work else replace(known, state="completed")
