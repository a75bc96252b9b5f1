"""A brain that plays a corpus on a real agent: it answers as the corpus says, and hands over in its manner."""

import re
import threading
from collections import deque
from enum import StrEnum
from pathlib import Path

from batonpass.sim import corpus_written as written
from batonpass.sim import paperwork
from batonpass.sim.brain import Asked, Reply, ToolUse
from batonpass.sim.corpus import Call, Corpus, Turn
from batonpass.sim.worker import Worker
from batonpass.transcripts.events import Origin

BARE_ASK = "Create handoff document now - context at 87%"  # 001's prompt, word for word
BARE_READ = re.compile(r"^Read handoff from (\S+) and resume work$")
BARE_PATH = ".bmad/handoffs/handoff-2026-01-22-14-30.md"
_NEWS = "<task-notification>"
_START, _STEP = 20_000, 100
FULL = 152_000  # 91 % of what is usable of 200,000: over the handoff rung of every ladder


class Manner(StrEnum):
    """How an agent behaves when it is asked to hand over."""

    COOPERATIVE = "cooperative"  # writes what it remembers, and adds what it is asked for
    CARELESS = "careless"  # leaves half of the sections out, and adds nothing
    SILENT = "silent"  # writes nothing


class Player:
    """A Brain with a memory of its own: one conversation, from the first turn to the hand-over.

    `full` says how many tokens the answer to the last turn brings the context to; None leaves it small.
    """

    def __init__(self, corpus: Corpus, project: Path, manner: Manner, *, full: int | None = FULL) -> None:
        self.corpus, self.manner = corpus, manner
        self.turns = tuple(turn for turn in corpus.turns if turn.origin is Origin.HUMAN)
        self._project, self._full = project, full
        self._known = written.remembered(corpus)
        self._worker = Worker()
        self._parts: deque[str | Call] = deque()
        self._begun = self._answers = 0
        self._changed = threading.Condition()
        self.finished = 0  # turns that were answered to their end

    def reply(self, asked: Asked) -> Reply:
        with self._changed:
            self._answers += 1
            reply = self._reply(asked)
            self._changed.notify_all()
            return reply

    def wait(self, turn: int, seconds: float) -> bool:
        """Whether so many turns have been answered within that time."""
        with self._changed:
            return self._changed.wait_for(lambda: self.finished >= turn, seconds)

    def _reply(self, asked: Asked) -> Reply:
        text = asked.text.strip()
        mark = paperwork.mark_in(text)
        if mark is not None:
            path = paperwork.draft_path(text)
            return self._worker.reply(asked) if path is None else self._hand_over(asked, text, path)
        bare = BARE_READ.match(text)
        if text == BARE_ASK or bare:
            return self._bare(asked, bare[1] if bare else None)
        if not asked.tool_results and self._begun < len(self.turns) and text == self._next.prompt.strip():
            self._parts = deque(self._next.answer)
            self._begun += 1
            return self._on()
        if _NEWS in text or self.finished == self._begun:
            return self._say("Noted.")
        return self._on()

    @property
    def _next(self) -> Turn:
        return self.turns[self._begun]

    def _on(self) -> Reply:
        """The next text and the next call; a turn ends with words."""
        text = ""
        while self._parts:
            part = self._parts.popleft()
            if isinstance(part, Call):
                return self._say(text, self._tool(part))
            text = f"{text}\n\n{part}".strip()
        self.finished = self._begun
        last = self.finished == len(self.turns)
        return self._say(text or "That is done.", used=self._full if last else None)

    def _hand_over(self, asked: Asked, text: str, path: str) -> Reply:
        if self.manner is Manner.SILENT:
            return self._say("I will do that later.", used=asked.used + _STEP)
        if asked.tool_results:
            return self._say("The handoff is written.", used=asked.used + _STEP)
        missing = re.search(r"^Missing:\n((?:- .*\n?)+)", text, re.MULTILINE)
        added = [line[2:] for line in missing[1].splitlines()] if missing else []
        careless = self.manner is Manner.CARELESS
        content = written.document(self._known, added=[] if careless else added, careless=careless)
        return self._say("", ToolUse("write", {"path": path, "content": content}), used=asked.used + _STEP)

    def _bare(self, asked: Asked, path: str | None) -> Reply:
        """001's cycle: the document is written from its prompt alone, and read again when that is asked for."""
        if asked.tool_results:
            return self._say("Resuming work from handoff." if path else "The handoff document is written.")
        if path:
            return self._say("", ToolUse("Read", {"file_path": path}))
        target = str(self._project / BARE_PATH)
        return self._say("", ToolUse("write", {"path": target, "content": written.short_document(self._known, 87)}))

    def _tool(self, call: Call) -> ToolUse:
        given = dict(call.arguments)
        if "file_path" in given:
            given["file_path"] = str(self._project / str(given["file_path"]))
        return ToolUse(call.tool, given)

    def _say(self, text: str, *tools: ToolUse, used: int | None = None) -> Reply:
        tokens = _START + _STEP * self._answers if used is None else used
        return Reply(text=text, tools=tools, used=tokens, output=max(12, len(text) // 4))
