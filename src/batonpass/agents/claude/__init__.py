"""Claude Code, as Baton drives it."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from batonpass.agents.base import Binding, Box, Found, HookReport, HooksOff, Launch, LaunchOrder, Past, Status
from batonpass.agents.claude import hooks, hooks_off, launch, limits, past, record, status, wishes
from batonpass.agents.claude import screen as display
from batonpass.agents.usual import HookAnswers, Usual
from batonpass.agents.wishes import Wishes
from batonpass.reading import CONFIDENCE, Reading, Source
from batonpass.terminals.base import Screen
from batonpass.transcripts.events import Event
from batonpass.untrusted import count, identifier


class Claude(HookAnswers, Usual):
    """The Agent protocol over Claude Code 2.1; see `batonpass.agents.base` for what each method promises."""

    name = "claude"
    package: str | None = "@anthropic-ai/claude-code"
    clear_command = "/clear"
    has_hooks = True
    starts_with_prompt = False
    says_waiting = True
    clears_with_prompt = False
    primes_with_prompt = False
    paste_seconds = 0.0  # once its box shows the text; an Enter that is swallowed all the same is pressed again
    clear_seconds = 0.0
    memory_file = "CLAUDE.md"
    prime_parts = 3
    prime_cap = 9_500  # it cuts what a hook adds at 10 000 characters; the rest is for the frame around it
    permit_tools: tuple[str, ...] = ("Write", "Edit")
    permit_path_at: tuple[str, ...] = ("tool_input", "file_path")

    def launch(self, order: LaunchOrder) -> Launch:
        return launch.launch(order, self.prime_parts)

    def hooks_off(self, env: Mapping[str, str], project: Path) -> HooksOff | None:
        return hooks_off.hooks_off(env, project)

    def wishes(self, args: Sequence[str], model: str | None, mode: str | None) -> Wishes:
        return wishes.wishes(args, model, mode)

    def arguments(self, wanted: Wishes, models: Mapping[str, str]) -> tuple[str, ...]:
        return wishes.arguments(wanted, models)

    def reader(self) -> Callable[[bytes], list[Event]]:
        return record.parse

    def report(self, payload: Mapping[str, object]) -> HookReport | None:
        return hooks.report(payload)

    def statusline(self, payload: Mapping[str, object], at: float, env: Mapping[str, str]) -> Reading | None:
        """A reading; its `used` is unknown before the first response and after a clear or a compaction,
        when the agent shows nothing or zero."""
        session, figures, model = (payload.get(key) for key in ("session_id", "context_window", "model"))
        session = identifier(session)
        if session is None or not isinstance(figures, dict):
            return None
        usage, window = figures.get("current_usage"), count(figures.get("context_window_size"))
        used = record.used_tokens(usage) if isinstance(usage, dict) else None
        name = model.get("id") if isinstance(model, dict) else None
        name = name if isinstance(name, str) else None
        window = window or self.window(name, env)
        return _reading(Source.STATUSLINE, at, session, used or None, window, self.usable(window, env), name)

    def screen_reading(self, screen: Screen, at: float, agent_session: str) -> Reading | None:
        figures = display.figures(screen)
        if figures is None:
            return None
        used, window = figures
        usable = None if window is None else self.usable(window, {})
        return _reading(Source.SCREEN, at, agent_session, used, window, usable, None)

    def usable(self, window: int, env: Mapping[str, str], model: str | None = None) -> int:
        return limits.usable(window, env)

    def window(self, model: str | None, env: Mapping[str, str]) -> int:
        return limits.window(model, env)

    def find(self, pid: int) -> Found | None:
        return status.find(pid)

    def past(self, wanted: str, env: Mapping[str, str]) -> Past | None:
        return past.past(wanted, env)

    def status(self, binding: Binding) -> Status:
        return status.status(binding)

    def state_files(self, binding: Binding) -> Sequence[Path]:
        path = status.state_file(binding)
        return () if path is None else (path,)

    def dialog(self, screen: Screen) -> str | None:
        return display.dialog(screen)

    def box(self, screen: Screen) -> Box:
        return display.box(screen)

    def abridges(self, shown: str, text: str) -> bool | None:
        return display.abridges(shown, text)


def _reading(
    source: Source,
    at: float,
    session: str,
    used: int | None,
    window: int | None,
    usable: int | None,
    model: str | None,
) -> Reading:
    return Reading(at, session, used, window, usable, source, CONFIDENCE[source], model)
