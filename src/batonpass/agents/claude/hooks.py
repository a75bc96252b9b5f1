"""Claude Code's hook payloads, normalised."""

import re
from collections.abc import Mapping
from pathlib import Path

from batonpass.agents.base import BackgroundTask, HookKind, HookReport
from batonpass.agents.hook_wire import text
from batonpass.untrusted import identifier

_KINDS = {
    "SessionStart": HookKind.SESSION_START,
    "SessionEnd": HookKind.SESSION_END,
    "UserPromptSubmit": HookKind.PROMPT,
    "Stop": HookKind.STOP,
    "StopFailure": HookKind.STOP_FAILED,
    "PostToolUse": HookKind.TOOL,
    "PostToolUseFailure": HookKind.TOOL,
    "PermissionRequest": HookKind.PERMISSION,
    "PreCompact": HookKind.COMPACT,
    "PostCompact": HookKind.COMPACT,
    "Notification": HookKind.NOTIFICATION,
    "SubagentStart": HookKind.SUBAGENT_START,
    "SubagentStop": HookKind.SUBAGENT_STOP,
}
_HANDOFF = re.compile(r"/(?:[\w-]+:)?handoff(?:\s+|$)")


def report(payload: Mapping[str, object]) -> HookReport | None:
    """What a payload says; None for one that is not Claude Code's."""
    event, session = text(payload, "hook_event_name"), identifier(payload.get("session_id"))
    if event is None or session is None:
        return None
    transcript = text(payload, "transcript_path")
    source = _source(payload)
    prompt = text(payload, "prompt")
    return HookReport(
        kind=_KINDS.get(event, HookKind.OTHER),
        agent_session=session,
        transcript=Path(transcript) if transcript else None,
        foreign="agent_id" in payload or payload.get("agent_type") == "" or source == "fork",
        source=source,
        prompt=prompt,
        prompt_id=text(payload, "prompt_id"),
        last_message=text(payload, "last_assistant_message"),
        continued=payload.get("stop_hook_active") is True,
        background=_background(payload),
        tool=text(payload, "tool_name"),
        error=text(payload, "error"),
        model=text(payload, "model"),
        permission_mode=text(payload, "permission_mode"),
        handoff_requested=_handoff(prompt) if event == "UserPromptSubmit" else None,
    )


def _source(payload: Mapping[str, object]) -> str | None:
    """Why a conversation began or ended, what set off a compaction, what a notification is about."""
    for key in ("source", "reason", "trigger", "notification_type"):
        if found := text(payload, key):
            return found
    return None


def _handoff(prompt: str | None) -> str | None:
    """The arguments of a typed /handoff (also as /plugin:handoff); None when it is another prompt."""
    match = _HANDOFF.match(prompt or "")
    return None if match is None else (prompt or "")[match.end() :].strip()


def _background(payload: Mapping[str, object]) -> tuple[BackgroundTask, ...] | None:
    """What goes on in the background; None where the payload does not say."""
    if "background_tasks" not in payload and "session_crons" not in payload:
        return None
    return (*_tasks(payload, "background_tasks", "task"), *_tasks(payload, "session_crons", "cron"))


def _tasks(payload: Mapping[str, object], key: str, kind: str) -> list[BackgroundTask]:
    entries = payload.get(key)
    return [
        BackgroundTask(
            id=text(entry, "id") or "",
            kind=text(entry, "type") or kind,
            state=text(entry, "status") or "scheduled",
            description=_describe(entry),
        )
        for entry in (entries if isinstance(entries, list) else [])
        if isinstance(entry, dict)
    ]


def _describe(entry: Mapping[str, object]) -> str:
    parts = [text(entry, key) for key in ("description", "command", "agent_type", "schedule", "cron", "prompt")]
    return ": ".join(dict.fromkeys(part for part in parts if part))
