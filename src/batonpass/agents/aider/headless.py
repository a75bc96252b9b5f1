"""Aider without a screen: `aider --message`, its answer in the chat history."""

from collections.abc import Iterator
from pathlib import Path

from batonpass.agents.aider import FILE, Aider
from batonpass.agents.base import LaunchError
from batonpass.agents.headless import Command, HeadlessOrder, Told
from batonpass.agents.programs import environment, program
from batonpass.agents.wishes import Approval
from batonpass.transcripts.events import Event

# Questions that it would ask at its start, and answer itself with yes where nobody is there.
_UNASKED = (
    "--no-gitignore", "--no-show-model-warnings", "--no-show-release-notes", "--no-check-update", "--no-analytics",
    "--no-detect-urls",
)  # fmt: skip
_APPROVAL = {
    # It asks before it touches a file that was not added to the chat, so without approval it can only talk.
    Approval.PLAN: ("--chat-mode", "ask", "--no-suggest-shell-commands"),
    Approval.ASK: ("--chat-mode", "ask", "--no-suggest-shell-commands"),
    Approval.EDITS: ("--yes-always", "--no-suggest-shell-commands"),
    Approval.ALL: ("--yes-always",),
}


class AiderHeadless:
    """Satisfies `Headless`. Nothing that it prints is made for programs, so nothing of it is heard."""

    name = "aider"
    install = "pipx install aider-chat"

    def __init__(self) -> None:
        self.reads = Aider()
        self.told = Told()

    def command(self, order: HeadlessOrder) -> Command:
        if order.resume and not Path(order.resume).is_file():
            raise LaunchError(f"There is no chat history {order.resume} to go on with; nothing was started.")
        history = self.told.agent_session = order.resume or str(order.folder / FILE)
        argv = (
            program(self.name, self.install, order.env),
            *("--no-stream", "--no-pretty"),
            *_UNASKED,
            *("--chat-history-file", history),
            *(("--restore-chat-history",) if order.resume else ()),
            *(("--model", order.model) if order.model else ()),
            *_APPROVAL[order.approval],
            *order.args,
            f"--message={order.prompt}",  # from standard input it would take answers to its questions
        )
        return Command(argv, environment(order.env))

    def hear(self, line: bytes, at: float) -> Iterator[Event]:
        return iter(())
