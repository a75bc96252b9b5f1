"""Copilot CLI without a screen: it prints its events as it writes them down, and more."""

from collections.abc import Iterator
from dataclasses import replace
from uuid import uuid4

from batonpass.agents.copilot import Copilot, record
from batonpass.agents.headless import Command, HeadlessOrder, Told
from batonpass.agents.programs import environment, program
from batonpass.agents.wishes import Approval
from batonpass.transcripts.events import Event, TurnEnded, Used

_APPROVAL = {
    Approval.PLAN: ("--deny-tool=write", "--deny-tool=shell"),
    Approval.ASK: (),
    Approval.EDITS: ("--allow-tool=write",),
    Approval.ALL: ("--allow-all-tools",),
}


class CopilotHeadless:
    """Satisfies `Headless`."""

    name = "copilot"
    install = "npm install -g @github/copilot"

    def __init__(self) -> None:
        self.reads = Copilot()
        self.told = Told()

    def command(self, order: HeadlessOrder) -> Command:
        self.told.agent_session = order.resume or str(uuid4())  # it names it only at the end
        chosen = "--resume" if order.resume else "--session-id"
        argv = (
            program(self.name, self.install, order.env),
            *("--output-format", "json"),
            f"{chosen}={self.told.agent_session}",
            *(("--model", order.model) if order.model else ()),
            *_APPROVAL[order.approval],
            *order.args,
        )
        return Command(argv, environment(order.env), order.prompt.encode("utf-8", "replace"))

    def hear(self, line: bytes, at: float) -> Iterator[Event]:
        if record.ended_well(line):
            yield TurnEnded(at)
        for event in record.parse(line):
            if not isinstance(event, Used):
                yield replace(event, at=at)
