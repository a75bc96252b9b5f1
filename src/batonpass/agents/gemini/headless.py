"""Gemini CLI without a screen: its answer as a stream of JSON."""

import re
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from uuid import uuid4

from batonpass.agents.gemini import Gemini, launch, resume, wishes
from batonpass.agents.gemini.record import failure_of
from batonpass.agents.headless import Command, HeadlessOrder, Told
from batonpass.agents.setbacks import TriesAgain
from batonpass.agents.wishes import Wishes
from batonpass.transcripts.events import Event, Failed, Said, ToolCalled, ToolReturned, TurnEnded
from batonpass.untrusted import decode, identifier

_AGAIN = re.compile(r"Attempt \d+ failed\b(.*)\. Retrying (?:after (\d+)ms|with backoff)\.\.\.(.*)")


class GeminiHeadless:
    """Satisfies `Headless` and `Overheard`."""

    name = "gemini"

    def __init__(self) -> None:
        self.reads = Gemini()
        self.told = Told()
        self._saying = ""

    def command(self, order: HeadlessOrder) -> Command:
        argv = (
            launch.program(order.env),
            *("--output-format", "stream-json"),
            *(("--resume", order.resume) if order.resume else ("--session-id", str(uuid4()))),
            *(("--model", order.model) if order.model else ()),
            *wishes.arguments(Wishes(approval=order.approval), {}),
            *order.args,
        )
        around = resume.kept(order.resume, order.env) if order.resume else nullcontext()
        return Command(argv, launch.environment(order.env), order.prompt.encode("utf-8", "replace"), around)

    def hear(self, line: bytes, at: float) -> Iterator[Event]:
        try:
            said = decode(line)
        except ValueError:
            return
        if not isinstance(said, dict):
            return
        match said:
            case {"type": "init"}:
                self.told.agent_session = identifier(said.get("session_id"))
                self.told.model = _string(said.get("model")) or None
            case {"type": "message", "role": "assistant", "content": str(text)}:
                self._saying += text
            case {"type": "tool_use"}:
                yield from self._said(at)
                given = said.get("parameters")
                arguments = given if isinstance(given, Mapping) else {}
                yield ToolCalled(at, _string(said.get("tool_id")), _string(said.get("tool_name")), arguments)
            case {"type": "tool_result"}:
                ok = said.get("status") == "success"
                yield ToolReturned(at, _string(said.get("tool_id")), ok, _string(said.get("output")))
            case {"type": "result", "status": "success"}:
                yield from self._said(at)
                yield TurnEnded(at)
            case {"type": "result", "error": {"message": str(text)}}:
                yield from self._said(at)
                yield Failed(at, failure_of(text), text)
            case _:
                pass

    def overhear(self, line: bytes, at: float) -> TriesAgain | None:
        found = _AGAIN.match(line.decode("utf-8", "replace"))
        if found is None:
            return None
        words = f"{found[1].strip(': ')} {found[3].strip()}".strip()
        return TriesAgain(Failed(at, failure_of(words), words), at + int(found[2]) / 1000 if found[2] else None)

    def _said(self, at: float) -> Iterator[Event]:
        """It prints its words in pieces; what follows them is the end of a message."""
        text, self._saying = self._saying, ""
        if text:
            yield Said(at, text, "")


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""
