"""Gemini CLI, as Baton drives it."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from batonpass.agents import processes
from batonpass.agents.base import (
    Binding,
    Box,
    Found,
    HookKind,
    HookReport,
    HooksOff,
    Launch,
    LaunchOrder,
    Past,
    Status,
)
from batonpass.agents.gemini import hooks_off, launch, limits, past, resume, running, status, wishes
from batonpass.agents.gemini import screen as display
from batonpass.agents.gemini.overlay import HANDOFF, give_back
from batonpass.agents.gemini.record import Journal
from batonpass.agents.gemini.typed import seconds
from batonpass.agents.hook_wire import text
from batonpass.agents.usual import HookAnswers, Usual
from batonpass.agents.wishes import Wishes
from batonpass.terminals.base import Screen
from batonpass.transcripts.events import Failed
from batonpass.untrusted import identifier

_KINDS = {
    "SessionStart": HookKind.SESSION_START,
    "SessionEnd": HookKind.SESSION_END,
    "BeforeAgent": HookKind.PROMPT,
    "AfterAgent": HookKind.STOP,
    "AfterTool": HookKind.TOOL,
    "Notification": HookKind.NOTIFICATION,
    "PreCompress": HookKind.OTHER,  # it comes before every request, compressing or not
}
_STILL_SECONDS = 3.0  # what the program has just written it may write again


class Gemini(HookAnswers, Usual):
    """The Agent protocol over Gemini CLI 0.61; see `batonpass.agents.base` for what each method promises."""

    name = "gemini"
    prompt_event = "BeforeAgent"
    package: str | None = "@google/gemini-cli"
    clear_command = "/clear"
    memory_file = "GEMINI.md"
    starts_with_prompt = False
    says_waiting = False  # it tells of permissions, and not of the dialogs at its start
    has_hooks = True
    clears_with_prompt = False
    primes_with_prompt = True
    resumes_with_prompt = (
        False  # it may send the prompt before it has loaded the conversation, to a model that knows none
    )
    paste_seconds = 0.4  # an Enter that comes sooner after a paste is taken for a new line
    clear_seconds = 1.0
    prime_parts = 1
    prime_cap = 60_000
    permit_tools: tuple[str, ...] = ()  # it asks no hook for permission; a rule in the overlay allows the draft
    permit_path_at: tuple[str, ...] = ("tool_input", "file_path")

    def __init__(self) -> None:
        self._turns = status.Turns()

    def launch(self, order: LaunchOrder) -> Launch:
        return launch.launch(order)

    def hooks_off(self, env: Mapping[str, str], project: Path) -> HooksOff | None:
        return hooks_off.hooks_off(env, project)

    def wishes(self, args: Sequence[str], model: str | None, mode: str | None) -> Wishes:
        return wishes.wishes(args, model)

    def arguments(self, wanted: Wishes, models: Mapping[str, str]) -> tuple[str, ...]:
        return wishes.arguments(wanted, models)

    def reader(self) -> Journal:
        return Journal()

    def report(self, payload: Mapping[str, object]) -> HookReport | None:
        event, session = text(payload, "hook_event_name"), identifier(payload.get("session_id"))
        if event is None or session is None:
            return None
        kind, transcript, prompt = _KINDS.get(event, HookKind.OTHER), text(payload, "transcript_path"), _prompt(payload)
        self._turns.heard(session, kind, seconds(payload.get("timestamp")))
        return HookReport(
            kind=kind,
            agent_session=session,
            # By its real place: the overlay goes with the session, the record does not.
            transcript=Path(os.path.realpath(transcript)) if transcript else None,
            source=text(payload, "source") or text(payload, "reason") or text(payload, "notification_type"),
            prompt=prompt,
            tool=text(payload, "tool_name"),
            handoff_requested=_handoff(prompt) if kind is HookKind.PROMPT else None,
        )

    def usable(self, window: int, env: Mapping[str, str], model: str | None = None) -> int:
        return limits.usable(window, env)

    def window(self, model: str | None, env: Mapping[str, str]) -> int:
        return limits.window(model)

    def find(self, pid: int) -> Found | None:
        return running.find(pid)

    def past(self, wanted: str, env: Mapping[str, str]) -> Past | None:
        return past.past(wanted, env)

    def status(self, binding: Binding) -> Status:
        return status.status(binding, self._turns)

    def holds(self, binding: Binding) -> bool:
        session = binding.agent_session
        return super().holds(binding) and (session is None or resume.loaded(session, binding.env, binding.folder))

    def state_files(self, binding: Binding) -> Sequence[Path]:
        return ()

    def tend(self, binding: Binding) -> Sequence[str]:
        if binding.agent_session is not None:
            resume.tend(binding.agent_session, binding.env)
        ended = binding.pid is None or not processes.alive(binding.pid)
        return give_back(binding.folder, binding.env, still=0.0 if ended else _STILL_SECONDS)

    def restarts(self, status: int | None, binding: Binding) -> bool:
        return resume.restarts(status, binding)

    def leftovers(self, binding: Binding) -> Sequence[int]:
        return running.leftovers(binding)

    def dialog(self, screen: Screen) -> str | None:
        return display.dialog(screen)

    def box(self, screen: Screen) -> Box:
        return display.box(screen)

    def refused(self, screen: Screen, at: float) -> Failed | None:
        return display.refused(screen, at)

    def abridges(self, shown: str, text: str) -> bool | None:
        return display.abridges(shown, text)

    def render_permit(self) -> str:
        """Nothing: no hook of it could answer a permission request."""
        return ""


def _prompt(payload: Mapping[str, object]) -> str | None:
    return text(payload, "prompt") if payload.get("hook_event_name") == "BeforeAgent" else None


def _handoff(prompt: str | None) -> str | None:
    """The arguments of a typed /handoff, which arrives as the text behind it; None when it is another prompt."""
    if not (prompt or "").strip().startswith(HANDOFF):
        return None
    return (prompt or "").partition("Reason given:")[2].partition("\n")[0].strip()
