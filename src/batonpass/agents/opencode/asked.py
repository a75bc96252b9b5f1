"""What a running opencode asks: in words for a person, and whether it is the one thing that Baton allows itself."""

import os
from pathlib import Path

from batonpass.agents.opencode.record import Entry, mapping, text
from batonpass.disk import read_plain
from batonpass.untrusted import decode, identifier


def question(asked: Entry) -> str:
    """What it asks, in words for a person."""
    if "permission" in asked:
        patterns = asked.get("patterns")
        what = ", ".join(str(one) for one in patterns) if isinstance(patterns, list) else ""
        return f"asks for permission: {text(asked, 'permission')} {what}".strip()[:200]
    return "asks a question"


def is_for_draft(asked: Entry, rule: Path) -> bool:
    """Whether it is about one single file, in the folder that the rule names."""
    patterns, path = asked.get("patterns"), text(mapping(asked.get("metadata")), "filepath")
    if text(asked, "permission") != "edit" or not isinstance(patterns, list) or len(patterns) != 1 or not path:
        return False
    if not identifier(asked.get("id")) or not os.path.isabs(path) or not path.endswith(str(patterns[0])):
        return False
    try:
        folder = text(mapping(decode(read_plain(rule))), "folder")
    except (OSError, ValueError):
        return False
    return bool(folder) and os.path.realpath(path).startswith(os.path.join(folder, ""))
