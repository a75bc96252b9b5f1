"""opencode without a screen: `opencode run`, its answer as a stream of JSON."""

from collections.abc import Iterator, Mapping

from batonpass.agents.headless import Command, HeadlessOrder, Told
from batonpass.agents.opencode import OpenCode, launch, wishes
from batonpass.agents.wishes import Wishes
from batonpass.transcripts.events import Event, Failed, Said, ToolCalled, ToolReturned, TurnEnded
from batonpass.untrusted import decode, identifier

Part = Mapping[str, object]


class OpenCodeHeadless:
    """Satisfies `Headless`."""

    name = "opencode"

    def __init__(self) -> None:
        self.reads = OpenCode()
        self.told = Told()

    def command(self, order: HeadlessOrder) -> Command:
        argv = (
            launch.program(order.env),
            *("run", "--format", "json"),
            *(("--session", order.resume) if order.resume else ()),
            *(("--model", order.model) if order.model else ()),
            *wishes.arguments(Wishes(approval=order.approval), {}),
            *order.args,
        )
        return Command(argv, launch.environment(order.env), order.prompt.encode("utf-8", "replace"))

    def hear(self, line: bytes, at: float) -> Iterator[Event]:
        try:
            said = decode(line)
        except ValueError:
            return
        if not isinstance(said, dict):
            return
        self.told.agent_session = identifier(said.get("sessionID")) or self.told.agent_session
        part = said.get("part")
        facts: Part = part if isinstance(part, dict) else {}
        match said.get("type"):
            case "text":
                yield Said(at, str(facts.get("text", "")), str(facts.get("messageID", "")))
            case "tool_use":
                yield from _tool(facts, at)
            case "step_finish" if facts.get("reason") == "stop":
                yield TurnEnded(at)
            case "error":
                error = said.get("error")
                yield Failed(at, "other", _words(error if isinstance(error, dict) else {}))
            case _:
                pass


def _tool(part: Part, at: float) -> Iterator[Event]:
    """A call is printed once it has ended, with its result."""
    call, state = str(part.get("callID", "")), part.get("state")
    facts = state if isinstance(state, Mapping) else {}
    given, output = facts.get("input"), facts.get("output") or facts.get("error")
    yield ToolCalled(at, call, str(part.get("tool", "")), given if isinstance(given, Mapping) else {})
    metadata = facts.get("metadata")
    code = metadata.get("exit") if isinstance(metadata, Mapping) else None
    ok = facts.get("status") == "completed" and code in (None, 0)
    yield ToolReturned(at, call, ok, output if isinstance(output, str) else "")


def _words(error: Mapping[str, object]) -> str:
    data = error.get("data")
    told = data.get("message") if isinstance(data, Mapping) else None
    return str(told or error.get("message") or error.get("name") or "")
