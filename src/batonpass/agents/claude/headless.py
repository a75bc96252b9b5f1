"""Claude Code without a screen: `claude -p`, its answer as a stream of JSON."""

from collections.abc import Iterator
from uuid import uuid4

from batonpass.agents import stream_json
from batonpass.agents.claude import Claude, launch, wishes
from batonpass.agents.headless import Command, HeadlessOrder, Told
from batonpass.agents.wishes import Wishes
from batonpass.transcripts.events import Event


class ClaudeHeadless:
    """Satisfies `Headless`."""

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
        return stream_json.heard(line, at, self.told)
