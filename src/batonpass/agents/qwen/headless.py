"""Qwen Code without a screen: its answer as a stream of JSON, in the form that Claude Code gave it."""

from collections.abc import Iterator
from uuid import uuid4

from batonpass.agents import stream_json
from batonpass.agents.headless import Command, HeadlessOrder, Told
from batonpass.agents.programs import environment, program
from batonpass.agents.qwen import Qwen
from batonpass.agents.wishes import Approval
from batonpass.transcripts.events import Event

_APPROVAL = {
    Approval.PLAN: ("--approval-mode", "plan"),
    Approval.ASK: (),
    Approval.EDITS: ("--approval-mode", "auto-edit"),
    Approval.ALL: ("--approval-mode", "yolo"),
}


class QwenHeadless:
    """Satisfies `Headless`."""

    name = "qwen"
    install = "npm install -g @qwen-code/qwen-code"

    def __init__(self) -> None:
        self.reads = Qwen()
        self.told = Told()

    def command(self, order: HeadlessOrder) -> Command:
        argv = (
            program(self.name, self.install, order.env),
            *("--output-format", "stream-json"),
            *(("--resume", order.resume) if order.resume else ("--session-id", str(uuid4()))),
            *(("--model", order.model) if order.model else ()),
            *_APPROVAL[order.approval],
            *order.args,
        )
        return Command(argv, environment(order.env), order.prompt.encode("utf-8", "replace"))

    def hear(self, line: bytes, at: float) -> Iterator[Event]:
        return stream_json.heard(line, at, self.told)
