"""opencode without a screen: `opencode run`, its answer as a stream of JSON."""

import re
from collections.abc import Iterator, Mapping

from batonpass.agents.headless import Command, HeadlessOrder, Told
from batonpass.agents.opencode import OpenCode, launch, wishes
from batonpass.agents.opencode.record import failed, refused
from batonpass.agents.setbacks import TriesAgain
from batonpass.agents.wishes import Wishes
from batonpass.transcripts.events import Event, Said, ToolCalled, ToolReturned, TurnEnded
from batonpass.untrusted import decode, identifier

Part = Mapping[str, object]

# Its log, on standard error: the one place where it says that a request failed while it goes on by itself.
_LOGS = ("--print-logs", "--log-level", "ERROR")
_REFUSED = re.compile(r'message="stream error".* small=false .*error\.error=(?:"((?:[^"\\]|\\.)*)"|(\S+))')
_CLASS = re.compile(r"^\w*Error: ")


class OpenCodeHeadless:
    """Satisfies `Headless` and `Overheard`."""

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
            *(() if {"--print-logs", "--log-level"} & set(order.args) else _LOGS),
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
                yield failed(error if isinstance(error, dict) else {}, at)
            case _:
                pass

    def overhear(self, line: bytes, at: float) -> TriesAgain | None:
        """It says in which words it was refused, and not until when."""
        found = _REFUSED.search(line.decode("utf-8", "replace"))
        if found is None:
            return None
        words = _CLASS.sub("", (found[1] or found[2]).replace('\\"', '"'))
        return TriesAgain(refused(words, at))


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
