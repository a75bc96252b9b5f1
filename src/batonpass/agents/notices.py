"""The form in which Claude Code puts into a conversation that background work has ended; others took it over."""

import re

from batonpass.transcripts.events import Notice

MARK = "<task-notification>"
_FIELD = re.compile(r"<(task-id|tool-use-id|status)>\s*([^<\s]{1,80})\s*</\1>")


def notice_in(text: str) -> Notice | None:
    """What a notification says; None for any other text.

    >>> notice_in("<task-notification><task-id>b5</task-id><status>completed</status></task-notification>")
    Notice(task='b5', call='', state='completed')
    """
    if MARK not in text[:2_000]:
        return None
    found = dict(_FIELD.findall(text[:4_000]))
    if "task-id" not in found and "tool-use-id" not in found:
        return None
    return Notice(found.get("task-id", ""), found.get("tool-use-id", ""), found.get("status", "completed"))
