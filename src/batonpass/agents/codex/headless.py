"""Codex without a screen: `codex exec`, its answer as a stream of JSON."""

from collections.abc import Iterator, Mapping

from batonpass.agents.codex import Codex, launch
from batonpass.agents.headless import Command, HeadlessOrder, Told
from batonpass.agents.wishes import Approval
from batonpass.transcripts.events import Event, Failed, Said, ToolCalled, ToolReturned, TurnEnded
from batonpass.untrusted import decode, identifier

_APPROVAL = {
    Approval.PLAN: ("--sandbox", "read-only"),
    Approval.ASK: (),  # its sandbox is read-only then
    Approval.EDITS: ("--sandbox", "workspace-write"),
    Approval.ALL: ("--dangerously-bypass-approvals-and-sandbox",),
}
_NO_TOOLS = frozenset({"agent_message", "reasoning", "todo_list", "error"})  # an `error` item is but a warning
_NOT_ARGUMENTS = frozenset({"id", "type", "status", "aggregated_output", "exit_code", "result", "error"})

Item = Mapping[str, object]


class CodexHeadless:
    """Satisfies `Headless`."""

    name = "codex"

    def __init__(self) -> None:
        self.reads = Codex()
        self.told = Told()
        self._called: set[str] = set()

    def command(self, order: HeadlessOrder) -> Command:
        argv = (
            launch.program(order.env),
            *("exec", "--json"),
            *(("--model", order.model) if order.model else ()),
            *_APPROVAL[order.approval],
            *order.args,
            *(("resume", order.resume) if order.resume else ()),
            "-",  # the prompt comes by standard input, which has no limit
        )
        return Command(argv, launch.environment(order.env), order.prompt.encode("utf-8", "replace"))

    def hear(self, line: bytes, at: float) -> Iterator[Event]:
        try:
            said = decode(line)
        except ValueError:
            return
        match said:
            case {"type": "thread.started", "thread_id": thread}:
                self.told.agent_session = identifier(thread)
            case {"type": "item.started" | "item.completed" as kind, "item": dict(item)}:
                yield from self._item(item, at, over=kind == "item.completed")
            case {"type": "turn.completed"}:
                yield TurnEnded(at)
            case {"type": "turn.failed", "error": {"message": str(text)}}:
                yield Failed(at, "other", text)
            case {"type": "turn.failed"}:
                yield Failed(at, "other", "")
            case _:
                pass

    def _item(self, item: Item, at: float, *, over: bool) -> Iterator[Event]:
        kind, identity = str(item.get("type")), str(item.get("id"))
        if kind == "agent_message" and over:
            yield Said(at, str(item.get("text", "")), identity)
        if kind in _NO_TOOLS:
            return
        if identity not in self._called:
            self._called.add(identity)
            yield ToolCalled(at, identity, kind, {k: v for k, v in item.items() if k not in _NOT_ARGUMENTS})
        if over:
            output = item.get("aggregated_output")
            yield ToolReturned(at, identity, _succeeded(item), output if isinstance(output, str) else "")


def _succeeded(item: Item) -> bool:
    code = item.get("exit_code")
    return code == 0 if isinstance(code, int) else item.get("status") == "completed"
