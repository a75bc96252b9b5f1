"""The scripted agent without a screen: it prints its transcript while it writes it."""

from collections.abc import Iterator
from dataclasses import replace
from uuid import uuid4

from batonpass.agents.headless import Command, HeadlessOrder, Told
from batonpass.agents.scripted import Scripted, launch, record
from batonpass.agents.wishes import Approval
from batonpass.sim import agent_options
from batonpass.transcripts.events import Event, Used
from batonpass.untrusted import identifier

_APPROVAL = {
    Approval.PLAN: "dontAsk",
    Approval.ASK: "dontAsk",
    Approval.EDITS: "acceptEdits",
    Approval.ALL: "bypassPermissions",
}


class ScriptedHeadless:
    """Satisfies `Headless`."""

    name = "scripted"

    def __init__(self) -> None:
        self.reads = Scripted()
        self.told = Told()

    def command(self, order: HeadlessOrder) -> Command:
        home = agent_options.home_of(order.env)
        session = f"--resume={order.resume}" if order.resume else f"--session-id={uuid4()}"
        model = (f"--model={order.model}",) if order.model else ()
        mode = f"--permission-mode={_APPROVAL[order.approval]}"
        argv = (*launch.PROGRAM, "--print", session, f"--home={home}", mode, *model, *order.args)
        return Command(argv, launch.environment(order.env, home), order.prompt.encode("utf-8", "replace"))

    def hear(self, line: bytes, at: float) -> Iterator[Event]:
        said = record.object_in(line) or {}
        if said.get("event") == "session":
            self.told.agent_session = identifier(said.get("session"))
            self.told.model = record.text_of(said, "model")
        for event in record.events(line):
            if not isinstance(event, Used):
                yield replace(event, at=at)
