"""The form of hook answers that several agents share: Claude Code made it, and Codex took it over."""

import json
from collections.abc import Mapping


def ask(text: str) -> str:
    """What a stop hook prints so that the turn goes on with this text."""
    return json.dumps({"decision": "block", "reason": text})


def context(event: str, text: str) -> str:
    """What a hook of this event prints to add text to the context."""
    return json.dumps({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}})


def permit() -> str:
    """What a permission hook prints to allow what was asked for."""
    answer = {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}
    return json.dumps({"hookSpecificOutput": answer})


def text(payload: Mapping[str, object], key: str) -> str | None:
    """A text in a payload; None where it is missing or something else."""
    value = payload.get(key)
    return value if isinstance(value, str) else None
