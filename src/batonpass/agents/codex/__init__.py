"""Codex, as Baton drives it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

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
from batonpass.agents.codex import hooks_off, launch, record, status, wishes
from batonpass.agents.codex import screen as display
from batonpass.agents.codex.shared import Shared
from batonpass.agents.codex.turns import Turns
from batonpass.agents.hook_wire import text
from batonpass.agents.usual import HookAnswers, Usual
from batonpass.agents.wishes import Wishes
from batonpass.terminals.base import Screen
from batonpass.transcripts.events import Event
from batonpass.untrusted import identifier

_KINDS = {
    "SessionStart": HookKind.SESSION_START,
    "SessionEnd": HookKind.SESSION_END,
    "UserPromptSubmit": HookKind.PROMPT,
    "Stop": HookKind.STOP,
    "PostToolUse": HookKind.TOOL,
    "PermissionRequest": HookKind.PERMISSION,
    "PreCompact": HookKind.COMPACT,
    "PostCompact": HookKind.COMPACT,
    "SubagentStart": HookKind.SUBAGENT_START,
    "SubagentStop": HookKind.SUBAGENT_STOP,
}
_WINDOW = 272_000 * 95 // 100  # of every model that its catalogue names; it reports 95 % of the raw window


class Codex(HookAnswers, Usual):
    """The Agent protocol over Codex CLI 0.166; see `batonpass.agents.base` for what each method promises."""

    name = "codex"
    package: str | None = "@openai/codex"
    clear_command = "/clear"
    memory_file = "AGENTS.md"
    has_hooks = True
    starts_with_prompt = True
    says_waiting = False
    clears_with_prompt = False
    primes_with_prompt = False
    paste_seconds = 0.0  # once its box shows the text
    clear_seconds = 0.0
    prime_parts = 3
    prime_cap = 9_500
    permit_tools: tuple[str, ...] = ("apply_patch",)
    permit_path_at: tuple[str, ...] = ("tool_input", "command")
    permit_patches = True  # each of whose files is looked at

    def __init__(self) -> None:
        self._turns = Turns()
        self._shared = Shared()

    def launch(self, order: LaunchOrder) -> Launch:
        return launch.launch(order, self.prime_parts)

    def hooks_off(self, env: Mapping[str, str], project: Path) -> HooksOff | None:
        return hooks_off.hooks_off(env)

    def wishes(self, args: Sequence[str], model: str | None, mode: str | None) -> Wishes:
        return wishes.wishes(args, model, mode)

    def arguments(self, wanted: Wishes, models: Mapping[str, str]) -> tuple[str, ...]:
        return wishes.arguments(wanted, models)

    def reader(self) -> Callable[[bytes], Iterable[Event]]:
        return record.parse

    def report(self, payload: Mapping[str, object]) -> HookReport | None:
        event, session = text(payload, "hook_event_name"), identifier(payload.get("session_id"))
        if event is None or session is None:
            return None
        transcript, prompt = text(payload, "transcript_path"), text(payload, "prompt")
        return HookReport(
            kind=_KINDS.get(event, HookKind.OTHER),
            agent_session=session,
            transcript=Path(transcript) if transcript else None,
            foreign="agent_id" in payload,  # a sub-agent's, under its parent's id
            source=text(payload, "source") or text(payload, "reason") or text(payload, "trigger"),
            prompt=prompt,
            prompt_id=text(payload, "turn_id"),
            last_message=text(payload, "last_assistant_message"),
            continued=payload.get("stop_hook_active") is True,
            tool=text(payload, "tool_name"),
            model=text(payload, "model"),
        )

    def usable(self, window: int, env: Mapping[str, str], model: str | None = None) -> int:
        """Nine tenths of the raw window, of which it reports 95 %; a limit of the user's own can only lower that."""
        raw = -(-window * 100 // 95)
        limit = env.get(launch.COMPACT_LIMIT, "")
        return min(raw * 9 // 10, int(limit) if limit.isdecimal() and int(limit) else raw)

    def window(self, model: str | None, env: Mapping[str, str]) -> int:
        return _WINDOW

    def find(self, pid: int) -> Found | None:
        return status.find(pid, self._turns, self._shared)

    def past(self, wanted: str, env: Mapping[str, str]) -> Past | None:
        return status.past(wanted, env)

    def status(self, binding: Binding) -> Status:
        return status.status(binding, self._turns, self._shared)

    def holds(self, binding: Binding) -> bool:
        return status.holds(binding)

    def state_files(self, binding: Binding) -> Sequence[Path]:
        return (status.lock_folder(binding.env),)

    def dialog(self, screen: Screen) -> str | None:
        return display.dialog(screen)

    def box(self, screen: Screen) -> Box:
        return display.box(screen)

    def abridges(self, shown: str, text: str) -> bool | None:
        return display.abridges(shown, text)
