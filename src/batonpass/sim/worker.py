"""A co-operative agent that works by itself on a made-up job, fills its context, and obeys Baton.

It keeps nothing in memory: what it does next follows from what it is shown, as with a real model, so one
worker can play any number of conversations at once, across a clear, a respawn and a restart.
"""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import PurePosixPath

from batonpass.sim import paperwork
from batonpass.sim.brain import Asked, Reply, ToolUse
from batonpass.sim.paperwork import Mark, Work

ENV = "BATON_WORKER"  # settings as a JSON object

FAULTS = frozenset(
    {
        "silent",  # never writes the document
        "careless",  # leaves half of its sections out
        "garbage",  # writes something that is no document
        "wrong_path",  # writes it beside the path that was asked for
        "message_instead",  # gives it in its last message, between the markers
        "no_receipt",  # works on without a receipt
        "parrot",  # copies the receipt's template
        "wrong_branch",  # names a branch that is not the handoff's
    }
)

_CHORES = (
    "read the tokenizer and note where it buffers",
    "write a failing test for a torn line",
    "make the reader keep the torn line for the next read",
    "run the tests of the reader",
    "measure a file of a million lines",
    "replace the list by a generator",
    "name the error after what the caller sees",
    "document the cursor",
)
_STEP = re.compile(rf"\bStep (\d+): (?:{'|'.join(_CHORES)})")
_LATEST = re.compile(r"^Step \d+: .* \((\d+) of \d+\)$", re.MULTILINE)
_DENIED = re.compile(r"denied|rejected|permission to use|haven't granted|not been granted", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """How a worker works. Tokens are those of the whole context after a response."""

    task: str = "Make the transcript reader survive torn lines."
    start: int = 20_000  # after the first response of a conversation
    step: int = 5_000  # more for each response of its own work
    handoff_step: int = 1_500  # more for each response to Baton's prompts
    jumps: Mapping[int, int] = field(default_factory=dict)  # user turn of the first conversation -> tokens
    window: int | None = None  # above it the model refuses: the prompt is too long
    steps: int = 1  # steps, each with one tool call, before a turn ends
    tool: str = "shell"  # shell | none | write (a file beside the project's, for which it must ask)
    command: str = 'echo "step {n} is done"'  # what a step runs; {n} is its number
    faults: frozenset[str] = frozenset()
    fault_attempts: int | None = None  # misbehave in the first N attempts of a prompt only; None: in all
    delay: float = 0.0  # seconds before each response, so that a rehearsal can be watched
    chunks: int = 1
    chunk_delay: float = 0.0

    @classmethod
    def from_json(cls, text: str) -> "WorkerSettings":
        """Settings from a JSON object with any of the fields. Raises ValueError, in words, on a wrong one."""
        try:
            given = json.loads(text or "{}")
        except ValueError as error:
            raise ValueError(f"The worker's settings are not JSON ({error}); nothing was started.") from error
        if not isinstance(given, dict):
            raise ValueError("The worker's settings must be a JSON object; nothing was started.")
        names = {entry.name for entry in fields(cls)}
        if unknown := sorted(set(given) - names):
            raise ValueError(f"The worker has no setting {unknown[0]!r}; it has {', '.join(sorted(names))}.")
        given["faults"] = frozenset(given.get("faults", ()))
        if unknown := sorted(given["faults"] - FAULTS):
            raise ValueError(f"The worker has no fault {unknown[0]!r}; it has {', '.join(sorted(FAULTS))}.")
        given["jumps"] = {int(turn): int(used) for turn, used in given.get("jumps", {}).items()}
        return cls(**given)


class Worker:
    """A Brain. Its context must hold its own earlier texts: they tell it how far it is."""

    def __init__(self, settings: WorkerSettings | None = None) -> None:
        self.settings = settings or WorkerSettings()

    @classmethod
    def from_json(cls, text: str) -> "Worker":
        """A worker with the settings of a JSON object; ValueError says what is wrong with them."""
        return cls(WorkerSettings.from_json(text))

    @classmethod
    def from_env(cls, env: Mapping[str, str] = os.environ) -> "Worker":
        """A worker with the settings in BATON_WORKER, or with the defaults."""
        return cls.from_json(env.get(ENV, ""))

    def reply(self, asked: Asked) -> Reply:
        """What it says and does next."""
        if self.settings.window is not None and asked.used > self.settings.window:
            return Reply(error="too_long", used=asked.used)
        mark = paperwork.mark_in(asked.text)
        if mark and (mark.step == "ask" or paperwork.draft_path(asked.text)):
            return self._hand_over(asked, mark)
        wants_receipt = mark and (mark.step == "kick" or "baton_receipt" in asked.text)
        if mark and wants_receipt and str(mark) not in asked.context:
            return self._take_over(asked, mark)
        return self._work(asked)

    def _hand_over(self, asked: Asked, mark: Mark) -> Reply:
        path = paperwork.draft_path(asked.text)
        work = self._work_so_far(asked, mark)
        if path is None or self._at_fault("silent", mark):
            return self._say(asked, "I will do that later.")
        if self._at_fault("message_instead", mark):
            return self._say(asked, _in_message(paperwork.document(work)))
        if str(mark) in asked.context:
            if any(_DENIED.search(result) for result in asked.tool_results):
                return self._say(asked, _in_message(paperwork.document(work)))
            return self._say(asked, "The handoff is written.")
        if self._at_fault("wrong_path", mark):
            path = str(PurePosixPath(path).with_name("elsewhere-" + PurePosixPath(path).name))
        content = paperwork.document(work)
        if self._at_fault("careless", mark):
            content = paperwork.careless_document(work)
        if self._at_fault("garbage", mark):
            content = "%PDF-1.4 \ufffd\ufffd\x01 this is no handoff\n"
        write = ToolUse("write", {"path": path, "content": content})
        return self._say(asked, f"I write the handoff now {mark}.", write)

    def _take_over(self, asked: Asked, mark: Mark) -> Reply:
        known = paperwork.inherited(asked.context)
        branch = "somewhere-else" if self._at_fault("wrong_branch", mark) else known.branch
        opening = paperwork.receipt(mark, known, branch=branch)
        if self._at_fault("parrot", mark):
            opening = paperwork.receipt_template(asked.text)
        if self._at_fault("no_receipt", mark):
            opening = "Good, I have read it."
        following = known.ids("N")
        goal = known.items[following[0]] if following else known.task or self.settings.task
        return self._take_step(asked, 1, f"{opening}\n\nContinuing with {goal} {mark}\n", baton=True)

    def _work(self, asked: Asked) -> Reply:
        if not asked.tool_results:
            return self._take_step(asked, 1, _greeting(asked.text))
        latest = _LATEST.findall(asked.context)
        done = int(latest[-1]) if latest else self.settings.steps
        if done < self.settings.steps:
            return self._take_step(asked, done + 1, "")
        return self._say(asked, f"Done so far: {_steps_done(asked.context)} steps.", baton=False)

    def _take_step(self, asked: Asked, of_turn: int, opening: str, *, baton: bool = False) -> Reply:
        number = _steps_done(asked.context) + 1
        text = f"{opening}Step {number}: {_chore(number)} ({of_turn} of {self.settings.steps})"
        if self.settings.tool == "none":
            return self._say(asked, text, baton=baton)
        if self.settings.tool == "write":
            write = ToolUse("write", {"path": f"step-{number}.txt", "content": text})
            return self._say(asked, text, write, baton=baton)
        command = self.settings.command.replace("{n}", str(number))
        return self._say(asked, text, ToolUse("shell", {"command": command}), baton=baton)

    def _say(self, asked: Asked, text: str, *tools: ToolUse, baton: bool = True) -> Reply:
        settings = self.settings
        return Reply(
            text=text,
            tools=tools,
            used=self._tokens(asked, settings.handoff_step if baton else settings.step),
            output=max(12, len(text) // 4),
            delay=settings.delay,
            chunks=settings.chunks,
            chunk_delay=settings.chunk_delay,
        )

    def _tokens(self, asked: Asked, step: int) -> int:
        used = asked.used + step if asked.used else self.settings.start
        jump = self.settings.jumps.get(asked.turn, 0)
        if jump > used and not re.search(r"\[baton [0-9a-f]{8} kick \d+\]", asked.context):
            return jump
        return used

    def _work_so_far(self, asked: Asked, mark: Mark) -> Work:
        # The ask itself shows a document's outline, which must not be taken for the predecessor's.
        known = paperwork.inherited(asked.context.partition(f"[baton {mark.cycle} ")[0])
        done = _steps_done(asked.context)
        earlier = [known.items[key] for key in known.ids("C")]
        return Work(
            task=known.task or self.settings.task,
            done=[f"Step {number}: {_chore(number)}" for number in range(max(1, done - 11), done + 1)],
            doing=_chore(done + 1).capitalize(),
            pending=[_chore(done + ahead).capitalize() for ahead in (2, 3)],
            files=paperwork.changed_files(asked.text),
            context=earlier or ["The public names must stay as they are.", "Every step ends with its tests."],
        )

    def _at_fault(self, fault: str, mark: Mark) -> bool:
        limit = self.settings.fault_attempts
        return fault in self.settings.faults and (limit is None or mark.attempt <= limit)


def _chore(number: int) -> str:
    return _CHORES[(number - 1) % len(_CHORES)]


def _steps_done(context: str) -> int:
    return max((int(number) for number in _STEP.findall(context)), default=0)


def _greeting(text: str) -> str:
    """A word on what the user said. Baton's tags must not be said again, and news needs no answer."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    if not line or line.startswith("<") or paperwork.mark_in(text):
        return ""
    return f"On it: {line if len(line) <= 100 else line[:99] + '…'}\n"


def _in_message(document: str) -> str:
    return f"{paperwork.BEGIN}\n{document}{paperwork.END}"
