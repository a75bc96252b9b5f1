"""The scripted agent behind the agent protocol: what users rehearse with, and what the demo shows."""

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from batonpass.agents.base import (
    BackgroundTask,
    Binding,
    Box,
    BoxState,
    Found,
    HookKind,
    HookReport,
    Launch,
    LaunchOrder,
    Past,
    Status,
)
from batonpass.agents.scripted import find, launch, record
from batonpass.agents.scripted.record import object_in, text_of
from batonpass.agents.usual import Usual
from batonpass.agents.wishes import Wishes
from batonpass.disk import read_plain
from batonpass.reading import CONFIDENCE, Reading, Source
from batonpass.session import State
from batonpass.sim import agent_options
from batonpass.sim.agent_options import PREFIX
from batonpass.sim.agent_record import proc_start
from batonpass.terminals.base import Screen
from batonpass.transcripts.events import Event
from batonpass.untrusted import count, identifier, moment

_STATES = {"idle": State.IDLE, "shell": State.IDLE, "busy": State.BUSY, "waiting": State.WAITING}
_LAST_OPTION = re.compile(r"(?:❯ )?\d+\. .*Esc to cancel")
_RULE = re.compile(r"─{10,}\s*")
_USAGE = re.compile(r"context: (\d+(?:\.\d+)?)k tokens \((\d+)%\)")
_HANDOFF = re.compile(r"/handoff\b[ \t]*(.*)", re.DOTALL)


class Scripted(Usual):
    """Satisfies `Agent`. It needs nothing but the interpreter that runs Baton."""

    name = "scripted"
    package: str | None = None
    clear_command = "/clear"
    has_hooks = True
    starts_with_prompt = False
    says_waiting = True
    clears_with_prompt = False
    primes_with_prompt = False
    paste_seconds = 0.0
    clear_seconds = 0.0
    memory_file = "AGENTS.md"
    prime_parts = 3
    prime_cap = 9_500
    permit_tools: tuple[str, ...] = ("write",)
    permit_path_at: tuple[str, ...] = ("input", "path")

    def launch(self, order: LaunchOrder) -> Launch:
        return launch.launch(order, self.prime_parts)

    def wishes(self, args: Sequence[str], model: str | None, mode: str | None) -> Wishes:
        return launch.wishes(args, model, mode)

    def arguments(self, wanted: Wishes, models: Mapping[str, str]) -> tuple[str, ...]:
        return launch.arguments(wanted, models)

    def reader(self) -> Callable[[bytes], Iterable[Event]]:
        return record.events

    def report(self, payload: Mapping[str, object]) -> HookReport | None:
        session, hook = identifier(payload.get("session")), payload.get("hook")
        if session is None or not isinstance(hook, str):
            return None
        transcript, prompt = text_of(payload, "transcript"), text_of(payload, "prompt")
        asked = _HANDOFF.fullmatch(prompt) if prompt and payload.get("origin") == "human" else None
        return HookReport(
            kind=HookKind(hook) if hook in set(HookKind) else HookKind.OTHER,
            agent_session=session,
            transcript=Path(transcript) if transcript else None,
            source=text_of(payload, "source") or text_of(payload, "reason") or text_of(payload, "trigger"),
            prompt=prompt,
            prompt_id=text_of(payload, "prompt_id"),
            last_message=text_of(payload, "last_message"),
            continued=payload.get("continued") is True,
            background=_background(payload.get("background")),
            tool=text_of(payload, "tool"),
            error=text_of(payload, "error"),
            model=text_of(payload, "model"),
            permission_mode=text_of(payload, "permission_mode"),
            handoff_requested=asked.group(1).strip() if asked else None,
        )

    def statusline(self, payload: Mapping[str, object], at: float, env: Mapping[str, str]) -> Reading | None:
        session, window = identifier(payload.get("session")), count(payload.get("window"))
        if session is None or not window:
            return None
        return Reading(
            at=at,
            agent_session=session,
            used=count(payload.get("used")),
            window=window,
            usable=self.usable(window, env),
            source=Source.STATUSLINE,
            confidence=CONFIDENCE[Source.STATUSLINE],
            model=text_of(payload, "model"),
        )

    def screen_reading(self, screen: Screen, at: float, agent_session: str) -> Reading | None:
        """From the row under the box. The window is told by the percentage, so only common ones are seen."""
        found = _USAGE.findall(screen.text)
        if not found or found[-1][1] == "0":
            return None
        used = count(round(min(float(found[-1][0]), 1e15) * 1000))
        if used is None:
            return None
        window = 1_000_000 if used / int(found[-1][1]) * 100 > 500_000 else 200_000
        usable = self.usable(window, {})
        confidence = CONFIDENCE[Source.SCREEN]
        return Reading(at, agent_session, used, window, usable, Source.SCREEN, confidence)

    def usable(self, window: int, env: Mapping[str, str], model: str | None = None) -> int:
        return agent_options.limit_of(window, compact=not env.get(PREFIX + "NO_COMPACT"))

    def window(self, model: str | None, env: Mapping[str, str]) -> int:
        return agent_options.window_of(model, env)

    def find(self, pid: int) -> Found | None:
        return find.find(pid)

    def past(self, wanted: str, env: Mapping[str, str]) -> Past | None:
        return find.past(wanted, env)

    def status(self, binding: Binding) -> Status:
        """From its state file; a file that another process of that pid, or none, left behind says DEAD."""
        if binding.pid is None:
            return Status(State.UNKNOWN)
        started = proc_start(binding.pid)
        alive = started is not None or _answers(binding.pid)
        try:
            found = object_in(read_plain(self.state_files(binding)[0]))
        except OSError:
            return Status(State.UNKNOWN if alive else State.DEAD)
        if found is None:
            return Status(State.UNKNOWN)
        session = identifier(found.get("session"))
        if not alive or found.get("proc_start") not in (None, started):
            return Status(State.DEAD, session)
        return Status(
            state=_STATES.get(str(found.get("status")), State.UNKNOWN),
            agent_session=session,
            since=moment(found.get("since")),
            waiting_for=text_of(found, "waiting_for"),
            background=found.get("status") == "shell",
        )

    def state_files(self, binding: Binding) -> Sequence[Path]:
        if binding.pid is None:
            return []
        home = agent_options.home_of(binding.env)
        if not binding.env.get(PREFIX + "HOME") and binding.transcript is not None:
            home = str(binding.transcript.parent.parent)
        return [Path(agent_options.state_path(home, binding.pid))]

    def dialog(self, screen: Screen) -> str | None:
        """It stands in the place of the box, so its last option is the last row that is not blank."""
        rows = [row.strip() for row in screen.text.split("\n") if row.strip()]
        if not rows or not _LAST_OPTION.fullmatch(rows[-1]):
            return None
        return next((row for row in reversed(rows) if row.startswith("Do you want to")), "a dialog")

    def box(self, screen: Screen) -> Box:
        rows = screen.text.split("\n")
        rules = [number for number, row in enumerate(rows) if _RULE.fullmatch(row)]
        if self.dialog(screen) or len(rules) < 2 or not rows[rules[-2] + 1].startswith("❯"):
            return Box(BoxState.UNKNOWN)
        typed = [row[2:].rstrip() for row in rows[rules[-2] + 1 : rules[-1]]]
        # Spaces alone leave no mark on the screen but where the caret is.
        if len(typed) == 1 and not typed[0] and screen.cursor_x <= 2:
            return Box(BoxState.EMPTY)
        return Box(BoxState.TEXT, "\n".join(typed))

    def abridges(self, shown: str, text: str) -> bool | None:
        """None: its box shows every text whole."""
        return None

    def render_ask(self, text: str) -> str:
        return json.dumps({"decision": "block", "reason": text})

    def render_prime(self, part: str) -> str:
        return json.dumps({"context": part})

    def render_note(self, text: str) -> str:
        return json.dumps({"context": text})

    def render_permit(self) -> str:
        return json.dumps({"allow": True})


def _background(listed: object) -> tuple[BackgroundTask, ...] | None:
    if not isinstance(listed, list):
        return None
    return tuple(
        BackgroundTask(*(str(task.get(name, "")) for name in ("id", "kind", "state", "description")))
        for task in listed
        if isinstance(task, dict)
    )


def _answers(pid: int) -> bool:
    """Whether there is such a process, where the kernel has no /proc to look into."""
    if os.path.isdir("/proc/self"):
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


class Understudy(Scripted):
    """The same under another name, so that a switch from one agent to another can be rehearsed."""

    name = "understudy"
