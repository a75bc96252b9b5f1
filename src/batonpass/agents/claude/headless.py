"""Claude Code without a screen: `claude -p`, its answer as a stream of JSON."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from uuid import uuid4

from batonpass.agents.claude import Claude, launch, record, wishes
from batonpass.agents.headless import Command, HeadlessOrder, Told
from batonpass.agents.wishes import Wishes
from batonpass.transcripts.events import Event, Failed, TurnEnded, Used
from batonpass.untrusted import count, decode, identifier


class ClaudeHeadless:
    """Satisfies `Headless`. What it prints of messages has the form of its transcript."""

    name = "claude"

    def __init__(self) -> None:
        self.reads = Claude()
        self.told = Told()

    def command(self, order: HeadlessOrder) -> Command:
        session = ("--resume", order.resume) if order.resume else ("--session-id", str(uuid4()))
        model = ("--model", order.model) if order.model else ()
        argv = (
            launch.program(order.env),
            *("-p", "--output-format", "stream-json", "--verbose"),
            *session,
            *model,
            *wishes.arguments(Wishes(approval=order.approval), {}),
            *order.args,
        )
        return Command(argv, launch.environment(order.env), order.prompt.encode("utf-8", "replace"))

    def hear(self, line: bytes, at: float) -> Iterator[Event]:
        try:
            said = decode(line)
        except ValueError:
            return
        if not isinstance(said, dict) or said.get("parent_tool_use_id") is not None:  # a sub-agent's
            return
        match said.get("type"):
            case "system" if said.get("subtype") == "init":
                self.told.agent_session = identifier(said.get("session_id"))
                model = said.get("model")
                self.told.model = model if isinstance(model, str) else None
            case "assistant" | "user":
                for event in record.parse(line):
                    if not isinstance(event, Used):
                        yield replace(event, at=at)
            case "result":
                self.told.agent_session = identifier(said.get("session_id")) or self.told.agent_session
                self.told.window = _window(said.get("modelUsage"), self.told.model) or self.told.window
                text = said.get("result")
                failed = said.get("is_error") is True
                yield Failed(at, "other", text if isinstance(text, str) else "") if failed else TurnEnded(at)
            case _:
                pass


def _window(usage: object, model: str | None) -> int | None:
    """The window of the model that answered, among those that had a part in the run."""
    listed = usage if isinstance(usage, Mapping) else {}
    mine = listed.get(model) if model in listed or len(listed) != 1 else next(iter(listed.values()))
    return (count(mine.get("contextWindow")) or None) if isinstance(mine, Mapping) else None
